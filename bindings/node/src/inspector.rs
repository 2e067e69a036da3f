//! An inspector of one server's results, and its verdicts.

use std::sync::Arc;

use bytes::Bytes;
use countersign_bindings::{Contract, Engine, Fidelity, Inspected, Reading, clean_text};
use napi::bindgen_prelude::{Buffer, Error, Result, Status};
use napi_derive::napi;

use crate::config_error;

/// A declared tool.
#[napi]
pub struct NativeTool {
    contract: Arc<Contract>,
}

#[napi]
impl NativeTool {
    /// The tool's own name.
    #[napi(getter)]
    pub fn name(&self) -> String {
        self.contract.tool().tool().to_owned()
    }

    /// Why a declared schema cannot be enforced as written.
    #[napi(getter)]
    pub fn diagnostics(&self) -> Vec<String> {
        let remarks = self.contract.diagnostics().iter();
        remarks
            .map(|remark| format!("{}: {}: {}", remark.member, remark.rule, remark.detail))
            .collect()
    }
}

/// What was decided about one result.
#[napi]
pub struct NativeVerdict {
    inspected: Inspected,
    contract: Arc<Contract>,
    fidelity: Fidelity,
}

#[napi]
impl NativeVerdict {
    /// The decision's word.
    #[napi(getter)]
    pub fn decision(&self) -> String {
        self.inspected.decision().as_str().to_owned()
    }

    /// One sentence.
    #[napi(getter)]
    pub fn reason(&self) -> Option<String> {
        self.inspected.reason().map(str::to_owned)
    }

    /// The mode in force.
    #[napi(getter)]
    pub fn mode(&self) -> String {
        self.inspected.mode().as_str().to_owned()
    }

    /// The tool's full name.
    #[napi(getter)]
    pub fn tool(&self) -> String {
        self.contract.tool().to_string()
    }

    /// What was judged.
    #[napi(getter)]
    pub fn fidelity(&self) -> String {
        self.fidelity.as_str().to_owned()
    }

    /// The findings as JSON text.
    #[napi]
    pub fn findings_json(&self) -> String {
        serde_json::to_string(self.inspected.findings()).unwrap_or_else(|_| "[]".to_owned())
    }

    /// The bytes that may be passed on.
    #[napi]
    pub fn emitted(&self) -> Buffer {
        self.inspected.emitted().into_bytes().to_vec().into()
    }

    /// The structured content as JSON text.
    #[napi]
    pub fn structured_text(&self) -> Option<String> {
        self.inspected.structured_text().map(str::to_owned)
    }
}

/// How a result is read.
#[napi(object)]
#[derive(Default)]
pub struct NativeReading {
    /// A value was judged.
    pub is_value: Option<bool>,
    /// The server negotiated a version up to 2025-11-25.
    pub is_legacy_server: Option<bool>,
    /// The client did; absent: it negotiated nothing.
    pub is_legacy_client: Option<bool>,
    /// The id token that a response must carry.
    pub id: Option<String>,
}

/// What was decided about arguments.
#[napi(object)]
pub struct NativeInput {
    /// The decision's word.
    pub decision: String,
    /// One sentence.
    pub reason: Option<String>,
    /// The findings as JSON text.
    pub findings: String,
}

/// Contracts of one server's tools, and the settings they are held to.
#[napi]
pub struct NativeInspector {
    pub(crate) engine: Engine,
}

#[napi]
impl NativeInspector {
    /// Reads the settings, JSON text.
    #[napi(constructor)]
    pub fn new(settings: String, server: Option<String>) -> Result<Self> {
        let engine = Engine::new(&settings, server.as_deref()).map_err(config_error)?;
        Ok(Self { engine })
    }

    /// Adds a tool.
    #[napi]
    pub fn declare(&self, tool: &[u8]) -> Result<NativeTool> {
        let captured = self.engine.declare(tool);
        let contract = captured.map_err(|why| Error::new(Status::InvalidArg, why))?;
        Ok(NativeTool { contract })
    }

    /// The tool of this name.
    #[napi]
    pub fn tool(&self, name: String) -> NativeTool {
        let contract = self.engine.contract(&name);
        NativeTool { contract }
    }

    /// Judges a result.
    #[napi]
    pub fn result(&self, tool: &NativeTool, reply: &[u8], reading: NativeReading) -> NativeVerdict {
        let is_value = reading.is_value == Some(true);
        let reading = Reading {
            is_legacy_server: reading.is_legacy_server == Some(true),
            client: reading.is_legacy_client,
            id: reading.id.map(Bytes::from),
            fidelity: if is_value {
                Fidelity::Value
            } else {
                Fidelity::Bytes
            },
        };
        let reply = Bytes::copy_from_slice(reply);
        NativeVerdict {
            inspected: self.engine.result(&tool.contract, reply, &reading),
            contract: Arc::clone(&tool.contract),
            fidelity: reading.fidelity,
        }
    }

    /// The records of a verdict.
    #[napi]
    pub fn records(&self, verdict: &NativeVerdict) -> Vec<String> {
        self.engine
            .records(&verdict.contract, &verdict.inspected, verdict.fidelity)
    }

    /// Whether a result whose record could not be handed over is refused.
    #[napi]
    pub fn refuses_unrecorded(&self, verdict: &NativeVerdict) -> bool {
        self.engine.refuses_unrecorded(&verdict.inspected)
    }

    /// The error result that takes its place.
    #[napi]
    pub fn unrecorded(&self) -> Buffer {
        self.engine.unrecorded().to_vec().into()
    }

    /// Judges arguments.
    #[napi]
    pub fn arguments(&self, tool: &NativeTool, arguments: Option<&[u8]>) -> NativeInput {
        let verdict = self.engine.arguments(&tool.contract, arguments);
        NativeInput {
            decision: verdict.decision.as_str().to_owned(),
            findings: serde_json::to_string(&verdict.findings).unwrap_or_else(|_| "[]".to_owned()),
            reason: verdict.reason,
        }
    }

    /// Whether arguments are to be blocked, which a hook around a connection cannot do.
    #[napi(getter)]
    pub fn is_input_strict(&self) -> bool {
        self.engine.is_input_strict()
    }
}

/// A text after cleaning.
#[napi(object)]
pub struct NativeCleaned {
    /// The clean text.
    pub text: String,
    /// The findings as JSON text.
    pub findings: String,
    /// Whether the text must not be passed on.
    pub blocked: bool,
}

/// Cleans a text.
#[napi]
pub fn native_sanitise(text: String, settings: String) -> Result<NativeCleaned> {
    let (text, findings, blocked) = clean_text(&text, &settings).map_err(config_error)?;
    Ok(NativeCleaned {
        text,
        findings,
        blocked,
    })
}
