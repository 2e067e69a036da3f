//! An inspector of one server's results, and its verdicts.

use bytes::Bytes;
use countersign_bindings::{Engine, Fidelity, Reading, Tool, Verdict, clean_text};
use napi::bindgen_prelude::{Buffer, Result};
use napi_derive::napi;

use crate::error;

/// A declared tool.
#[napi]
pub struct NativeTool {
    tool: Tool,
}

#[napi]
impl NativeTool {
    /// The tool's own name.
    #[napi(getter)]
    pub fn name(&self) -> String {
        self.tool.name().to_owned()
    }

    /// Why a declared schema cannot be enforced as written.
    #[napi(getter)]
    pub fn diagnostics(&self) -> Vec<String> {
        self.tool.diagnostics()
    }
}

/// What was decided about one result.
#[napi]
pub struct NativeVerdict {
    verdict: Verdict,
}

#[napi]
impl NativeVerdict {
    /// The decision's word.
    #[napi(getter)]
    pub fn decision(&self) -> String {
        self.verdict.decision().to_owned()
    }

    /// One sentence.
    #[napi(getter)]
    pub fn reason(&self) -> Option<String> {
        self.verdict.reason().map(str::to_owned)
    }

    /// The mode in force.
    #[napi(getter)]
    pub fn mode(&self) -> String {
        self.verdict.mode().to_owned()
    }

    /// The tool's full name.
    #[napi(getter)]
    pub fn tool(&self) -> String {
        self.verdict.tool()
    }

    /// What was judged.
    #[napi(getter)]
    pub fn fidelity(&self) -> String {
        self.verdict.fidelity().to_owned()
    }

    /// The findings as JSON text.
    #[napi]
    pub fn findings_json(&self) -> String {
        self.verdict.findings_json()
    }

    /// The bytes that may be passed on.
    #[napi]
    pub fn emitted(&self) -> Buffer {
        self.verdict.emitted().to_vec().into()
    }

    /// The structured content as JSON text.
    #[napi]
    pub fn structured_text(&self) -> Option<String> {
        self.verdict.structured_text().map(str::to_owned)
    }
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
        let engine = Engine::new(&settings, server.as_deref());
        let engine = engine.map_err(|mistake| error(mistake.to_json()))?;
        Ok(Self { engine })
    }

    /// Adds a tool.
    #[napi]
    pub fn declare(&self, tool: &[u8]) -> Result<NativeTool> {
        let tool = self.engine.declare(tool).map_err(error)?;
        Ok(NativeTool { tool })
    }

    /// The tool of this name.
    #[napi]
    pub fn tool(&self, name: String) -> NativeTool {
        let tool = self.engine.tool(&name);
        NativeTool { tool }
    }

    /// Judges a result.
    #[napi]
    pub fn result(
        &self,
        tool: &NativeTool,
        reply: &[u8],
        is_value: bool,
        is_legacy_server: bool,
        is_legacy_client: Option<bool>,
        id: Option<String>,
    ) -> NativeVerdict {
        let reading = Reading {
            is_legacy_server,
            client: is_legacy_client,
            id: id.map(Bytes::from),
            fidelity: Fidelity::new(is_value),
        };
        let reply = Bytes::copy_from_slice(reply);
        let verdict = self.engine.result(&tool.tool, reply, reading);
        NativeVerdict { verdict }
    }

    /// The records of a verdict.
    #[napi]
    pub fn records(&self, verdict: &NativeVerdict) -> Vec<String> {
        self.engine.records(&verdict.verdict)
    }

    /// Whether a result whose record could not be handed over is refused.
    #[napi]
    pub fn refuses_unrecorded(&self, verdict: &NativeVerdict) -> bool {
        self.engine.refuses_unrecorded(&verdict.verdict)
    }

    /// The error result that takes its place.
    #[napi]
    pub fn unrecorded(&self) -> Buffer {
        self.engine.unrecorded().to_vec().into()
    }

    /// Judges arguments.
    #[napi]
    pub fn arguments(&self, tool: &NativeTool, arguments: Option<&[u8]>) -> NativeInput {
        let verdict = self.engine.arguments(&tool.tool, arguments);
        NativeInput {
            decision: verdict.decision.to_owned(),
            reason: verdict.reason,
            findings: verdict.findings_json,
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
    let cleaned = clean_text(&text, &settings).map_err(|mistake| error(mistake.to_json()))?;
    let (text, findings, blocked) = cleaned;
    Ok(NativeCleaned {
        text,
        findings,
        blocked,
    })
}
