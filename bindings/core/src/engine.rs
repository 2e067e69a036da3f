//! An inspector with its settings, as both languages hold it.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::{
    Boundary, ClientEra, Contract, Declaration, Era, InputVerdict, Inspected, Inspector, RawReply,
    Refusal, Screening, SkipReason, Source, examine,
};

use crate::config::{self, ConfigError, OnStoreError};
use crate::fidelity::Fidelity;
use crate::randomness::SystemRandomness;
use crate::record;

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
    pub fn declare(&self, tool: &[u8]) -> Result<Arc<Contract>, String> {
        let declaration = Declaration::read(tool).map_err(|error| error.to_string())?;
        Ok(self.inspector.declare(declaration))
    }

    /// The contract of a tool by its name.
    pub fn contract(&self, tool: &str) -> Arc<Contract> {
        self.inspector.contract(&self.inspector.tool_name(tool))
    }

    /// Inspects a result.
    pub fn result(&self, contract: &Contract, reply: Bytes, reading: &Reading) -> Inspected {
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
        if let Some(id) = &reading.id {
            source = source.with_request_id(id.clone());
        }
        let skipped = Screening::skipped(SkipReason::NotConfigured);
        examine(RawReply::new(reply, source), contract, &policy)
            .conclude_with(skipped, &SystemRandomness)
    }

    /// Judges a call's arguments, JSON text, before it is sent.
    pub fn arguments(&self, contract: &Contract, arguments: Option<&[u8]>) -> InputVerdict {
        let policy = self.inspector.policy(contract.tool());
        countersign_inspect::examine_arguments(arguments, contract, policy)
    }

    /// The records of a result.
    pub fn records(
        &self,
        contract: &Contract,
        inspected: &Inspected,
        fidelity: Fidelity,
    ) -> Vec<String> {
        record::for_inspected(contract, inspected, fidelity)
    }

    /// Whether a result whose record could not be handed over is refused.
    pub fn refuses_unrecorded(&self, inspected: &Inspected) -> bool {
        self.on_store_error.refuses(inspected.mode())
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
    pub fn boundary(&self) -> Arc<Boundary> {
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
