//! An inspector with its settings, as both languages hold it.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::{
    Boundary, ClientEra, Declaration, Era, Inspected, Inspector, RawReply, Refusal, Screening,
    SkipReason, Source, examine,
};

use crate::config::{self, ConfigError, OnStoreError};
use crate::fidelity::Fidelity;
use crate::randomness::SystemRandomness;
use crate::record;
use crate::tool::Tool;
use crate::verdict::Verdict;

/// How a result that the program inspects by itself is read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The server negotiated a version up to 2025-11-25.
    pub is_legacy_server: bool,
    /// The client's era; `None`: it negotiated nothing.
    pub client: Option<bool>,
    /// The id token that a response must carry.
    pub id: Option<Bytes>,
    /// What is judged.
    pub fidelity: Fidelity,
}

/// What was decided about a call's arguments.
pub struct ArgumentsVerdict {
    /// The decision's word.
    pub decision: &'static str,
    /// One sentence: why the decision is not an allowance.
    pub reason: Option<String>,
    /// The findings as JSON text.
    pub findings_json: String,
}

/// An inspector for one server.
#[derive(Clone)]
pub struct Engine {
    inspector: Arc<Inspector>,
    on_store_error: OnStoreError,
    is_input_strict: bool,
}

impl Engine {
    /// Reads the settings, a JSON object.
    pub fn new(settings: &str, server: Option<&str>) -> Result<Self, ConfigError> {
        let resolved = config::resolve(settings, server)?;
        Ok(Self {
            inspector: Arc::new(resolved.inspector),
            on_store_error: resolved.on_store_error,
            is_input_strict: resolved.is_input_strict,
        })
    }

    /// Adds a tool, an element of a tool list as JSON text.
    pub fn declare(&self, tool: &[u8]) -> Result<Tool, String> {
        let declaration = Declaration::read(tool).map_err(|error| error.to_string())?;
        let contract = self.inspector.declare(declaration);
        Ok(Tool { contract })
    }

    /// The tool of this name; it declares nothing if it is not known.
    pub fn tool(&self, name: &str) -> Tool {
        let contract = self.inspector.contract(&self.inspector.tool_name(name));
        Tool { contract }
    }

    /// Inspects a result.
    pub fn result(&self, tool: &Tool, reply: Bytes, reading: Reading) -> Verdict {
        let contract = &tool.contract;
        let mut policy = self.inspector.policy(contract.tool()).clone();
        policy.client = match reading.client {
            None => ClientEra::Unnegotiated,
            Some(true) => ClientEra::Legacy,
            Some(false) => ClientEra::Modern,
        };
        let era = if reading.is_legacy_server {
            Era::Legacy
        } else {
            Era::Modern
        };
        let mut source = Source::new(era);
        if let Some(id) = reading.id {
            source = source.with_request_id(id);
        }
        let skipped = Screening::skipped(SkipReason::NotConfigured);
        let inspected = examine(RawReply::new(reply, source), contract, &policy)
            .conclude_with(skipped, &SystemRandomness);
        Verdict {
            inspected,
            contract: Arc::clone(contract),
            fidelity: reading.fidelity,
        }
    }

    /// Judges a call's arguments, JSON text, before it is sent.
    pub fn arguments(&self, tool: &Tool, arguments: Option<&[u8]>) -> ArgumentsVerdict {
        let contract = &tool.contract;
        let policy = self.inspector.policy(contract.tool());
        let verdict = countersign_inspect::examine_arguments(arguments, contract, policy);
        ArgumentsVerdict {
            decision: verdict.decision.as_str(),
            findings_json: crate::json_array(&verdict.findings),
            reason: verdict.reason,
        }
    }

    /// The records of a result.
    pub fn records(&self, verdict: &Verdict) -> Vec<String> {
        record::for_inspected(&verdict.contract, &verdict.inspected, verdict.fidelity)
    }

    /// Whether a result whose record could not be handed over is refused.
    pub fn refuses_unrecorded(&self, verdict: &Verdict) -> bool {
        self.on_store_error.refuses(verdict.inspected.mode())
    }

    /// The error result that takes the place of one whose record could not be handed over.
    pub fn unrecorded(&self) -> Bytes {
        let refused = Inspected::from_refusal(Refusal::Unrecorded, ClientEra::Unnegotiated);
        refused.emitted().into_bytes()
    }

    /// Whether some tool's arguments are to be blocked before they are sent, which a hook around a connection cannot do.
    pub fn is_input_strict(&self) -> bool {
        self.is_input_strict
    }

    /// A boundary for connections to the server. All of them share the tools that are known.
    pub(crate) fn boundary(&self) -> Arc<Boundary> {
        Arc::new(Boundary::with_randomness(
            Arc::clone(&self.inspector),
            SystemRandomness,
        ))
    }

    pub(crate) fn on_store_error(&self) -> OnStoreError {
        self.on_store_error
    }

    pub(crate) fn inspector(&self) -> &Inspector {
        &self.inspector
    }
}
