//! An inspector of one server's results, and its verdicts.

use bytes::Bytes;
use countersign_bindings::{Engine, Fidelity, Reading, Tool, Verdict, clean_text};
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error;

/// A declared tool.
#[wasm_bindgen]
pub struct NativeTool {
    tool: Tool,
}

#[wasm_bindgen]
impl NativeTool {
    /// The tool's own name.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.tool.name().to_owned()
    }

    /// Why a declared schema cannot be enforced as written.
    #[wasm_bindgen(getter)]
    pub fn diagnostics(&self) -> Vec<String> {
        self.tool.diagnostics()
    }
}

/// What was decided about one result.
#[wasm_bindgen]
pub struct NativeVerdict {
    verdict: Verdict,
}

#[wasm_bindgen]
impl NativeVerdict {
    /// The decision's word.
    #[wasm_bindgen(getter)]
    pub fn decision(&self) -> String {
        self.verdict.decision().to_owned()
    }

    /// One sentence.
    #[wasm_bindgen(getter)]
    pub fn reason(&self) -> Option<String> {
        self.verdict.reason().map(str::to_owned)
    }

    /// The mode in force.
    #[wasm_bindgen(getter)]
    pub fn mode(&self) -> String {
        self.verdict.mode().to_owned()
    }

    /// The tool's full name.
    #[wasm_bindgen(getter)]
    pub fn tool(&self) -> String {
        self.verdict.tool()
    }

    /// What was judged.
    #[wasm_bindgen(getter)]
    pub fn fidelity(&self) -> String {
        self.verdict.fidelity().to_owned()
    }

    /// The findings as JSON text.
    #[wasm_bindgen(js_name = findingsJson)]
    pub fn findings_json(&self) -> String {
        self.verdict.findings_json()
    }

    /// The bytes that may be passed on.
    pub fn emitted(&self) -> Vec<u8> {
        self.verdict.emitted().to_vec()
    }

    /// The structured content as JSON text.
    #[wasm_bindgen(js_name = structuredText)]
    pub fn structured_text(&self) -> Option<String> {
        self.verdict.structured_text().map(str::to_owned)
    }
}

/// What was decided about arguments.
#[wasm_bindgen(getter_with_clone)]
pub struct NativeInput {
    /// The decision's word.
    pub decision: String,
    /// One sentence.
    pub reason: Option<String>,
    /// The findings as JSON text.
    pub findings: String,
}

/// Contracts of one server's tools, and the settings they are held to.
#[wasm_bindgen]
pub struct NativeInspector {
    pub(crate) engine: Engine,
}

#[wasm_bindgen]
impl NativeInspector {
    /// Reads the settings, JSON text.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str, server: Option<String>) -> Result<Self, JsError> {
        let engine = Engine::new(settings, server.as_deref());
        let engine = engine.map_err(|mistake| error(mistake.to_json()))?;
        Ok(Self { engine })
    }

    /// Adds a tool.
    pub fn declare(&self, tool: &[u8]) -> Result<NativeTool, JsError> {
        let tool = self.engine.declare(tool).map_err(error)?;
        Ok(NativeTool { tool })
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> NativeTool {
        let tool = self.engine.tool(name);
        NativeTool { tool }
    }

    /// Judges a result.
    pub fn result(
        &self,
        tool: &NativeTool,
        reply: Vec<u8>,
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
        let verdict = self.engine.result(&tool.tool, reply.into(), reading);
        NativeVerdict { verdict }
    }

    /// The records of a verdict.
    pub fn records(&self, verdict: &NativeVerdict) -> Vec<String> {
        self.engine.records(&verdict.verdict)
    }

    /// Whether a result whose record could not be handed over is refused.
    #[wasm_bindgen(js_name = refusesUnrecorded)]
    pub fn refuses_unrecorded(&self, verdict: &NativeVerdict) -> bool {
        self.engine.refuses_unrecorded(&verdict.verdict)
    }

    /// The error result that takes its place.
    pub fn unrecorded(&self) -> Vec<u8> {
        self.engine.unrecorded().to_vec()
    }

    /// Judges arguments.
    pub fn arguments(&self, tool: &NativeTool, arguments: Option<Vec<u8>>) -> NativeInput {
        let verdict = self.engine.arguments(&tool.tool, arguments.as_deref());
        NativeInput {
            decision: verdict.decision.to_owned(),
            reason: verdict.reason,
            findings: verdict.findings_json,
        }
    }

    /// Whether arguments are to be blocked, which a hook around a connection cannot do.
    #[wasm_bindgen(getter, js_name = isInputStrict)]
    pub fn is_input_strict(&self) -> bool {
        self.engine.is_input_strict()
    }
}

/// A text after cleaning.
#[wasm_bindgen(getter_with_clone)]
pub struct NativeCleaned {
    /// The clean text.
    pub text: String,
    /// The findings as JSON text.
    pub findings: String,
    /// Whether the text must not be passed on.
    pub blocked: bool,
}

/// Cleans a text.
#[wasm_bindgen(js_name = nativeSanitise)]
pub fn native_sanitise(text: &str, settings: &str) -> Result<NativeCleaned, JsError> {
    let cleaned = clean_text(text, settings).map_err(|mistake| error(mistake.to_json()))?;
    let (text, findings, blocked) = cleaned;
    Ok(NativeCleaned {
        text,
        findings,
        blocked,
    })
}
