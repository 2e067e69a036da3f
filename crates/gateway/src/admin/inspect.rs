//! A result that is inspected on request, as `countersign inspect` does: for `POST /api/v1/inspect` and for the console.
//! Nothing is called, recorded or kept.

use countersign_inspect::{
    Contract, Declaration, Era, Error, Inspected, Mode, Policy, RawReply, Report, Screening,
    SkipReason, Source, ToolName, corpus_case, examine,
};
use countersign_tape::{Kind, Limits, Tape};
use hyper::body::Incoming;
use serde_json::json;

use super::config::read_text;
use super::{ApiError, ApiResult, ok};
use crate::random::ProcessRandomness;
use crate::services::Services;
use crate::state::Snapshot;

/// A tool and a result, and what the result is held to.
pub(super) struct InspectionRequest {
    /// An element of a tool list; empty if the tool declares nothing.
    pub(super) tool: String,
    /// A result, or a whole JSON-RPC response.
    pub(super) result: String,
    pub(super) policy: Policy,
}

impl InspectionRequest {
    /// Under the settings for all servers, with this mode in place of theirs if one is given.
    pub(super) fn new(
        snapshot: &Snapshot,
        (tool, result): (&str, &str),
        mode: Option<Mode>,
    ) -> Self {
        let mut policy = snapshot.settings.config.policy("", "");
        policy.client = Era::Modern.into();
        policy.output.mode = mode.unwrap_or(policy.output.mode);
        Self {
            tool: tool.trim().to_owned(),
            result: result.to_owned(),
            policy,
        }
    }

    fn declared(&self) -> Option<&[u8]> {
        (!self.tool.is_empty()).then_some(self.tool.as_bytes())
    }

    /// The verdict. The error says why the tool cannot be read.
    pub(super) fn inspect(&self) -> Result<Inspected, String> {
        let contract = match self.declared() {
            None => Contract::undeclared(ToolName::new("tool")),
            Some(tool) => {
                let declared = Declaration::read(tool).map_err(|error| not_a_tool(&error))?;
                declared.capture(&self.policy.output)
            }
        };
        let raw = RawReply::new(self.result.clone().into_bytes(), Source::new(Era::Modern));
        let skipped = Screening::skipped(SkipReason::NotConfigured);
        let examined = examine(raw, &contract, &self.policy);
        Ok(examined.conclude_with(skipped, &ProcessRandomness))
    }

    /// A file of `corpus/inspection` with the verdict of every mode.
    pub(super) fn corpus_file(&self) -> Result<String, String> {
        let result = self.result.as_bytes();
        let case = corpus_case("tried", self.declared(), result, &self.policy);
        case.map_err(|error| not_a_tool(&error))
    }
}

fn not_a_tool(error: &Error) -> String {
    format!("This is not a tool: {error}. Give one element of a tools/list result.")
}

/// The request of a body. The tool and the result are taken as they are written: their bytes count.
fn read(snapshot: &Snapshot, body: &str) -> Result<InspectionRequest, String> {
    let tape = Tape::parse(body.as_bytes(), &Limits::default());
    let tape = tape.map_err(|error| format!("the request is not JSON: {error}"))?;
    if tape.node(0).kind() != Kind::Object {
        return Err("the request is not an object".to_owned());
    }
    let (mut tool, mut result, mut mode) = ("", None, None);
    for (key, value) in tape.members(0) {
        match &*tape.string(key) {
            "tool" => tool = tape.raw(value),
            "result" => result = Some(tape.raw(value)),
            "mode" => {
                let word = tape.string(value).parse::<Mode>();
                mode = Some(word.map_err(|why| why.to_string())?);
            }
            _ => return Err("unknown member; allowed: tool, result, mode".to_owned()),
        }
    }
    let result = result.ok_or("a \"result\" is missing")?;
    Ok(InspectionRequest::new(snapshot, (tool, result), mode))
}

/// Inspects the result in the body.
pub(super) async fn respond(services: &Services, snapshot: &Snapshot, body: Incoming) -> ApiResult {
    let text = read_text(services, body, "the request").await?;
    let request = read(snapshot, &text).map_err(ApiError::bad_request)?;
    // A large result takes a while, and must not hold up calls.
    let answer = tokio::task::spawn_blocking(move || answer(&request)).await;
    let answer = answer.map_err(|_| ApiError::internal("the inspection broke off"))?;
    ok(&answer.map_err(ApiError::bad_request)?)
}

fn answer(request: &InspectionRequest) -> Result<serde_json::Value, String> {
    let inspected = request.inspect()?;
    let emitted = inspected.emitted().into_bytes();
    Ok(json!({
        "verdict": Report::from(&inspected),
        "reason": inspected.reason(),
        "emitted": String::from_utf8_lossy(&emitted),
        "corpus_file": request.corpus_file()?,
    }))
}
