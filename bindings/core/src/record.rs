//! Records in the form of the gateway's activity log, without id, time and chain: the program that embeds the
//! inspection keeps them.

use countersign_inspect::{
    Contract, Decision, Finding, InputVerdict, Inspected, JudgedCall, Mode, Stage, ToolName,
};
use serde::Serialize;

use crate::fidelity::Fidelity;

/// The most findings that one record has.
const MOST_FINDINGS: usize = 64;

#[derive(Serialize)]
struct Record<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    mode: Mode,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<&'a Finding>,
    #[serde(skip_serializing_if = "is_zero")]
    findings_left_out: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    validated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_generation: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_bytes: Option<u64>,
    fidelity: &'static str,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The records of a call: the call itself, and each decision about it that is not an allowance.
pub(crate) fn for_call(call: &JudgedCall, fidelity: Fidelity) -> Vec<String> {
    let id = String::from_utf8_lossy(call.client_id());
    let id = id.trim_matches('"');
    for_result(
        call.tool(),
        Some(id),
        call.input(),
        call.inspected(),
        fidelity,
    )
}

/// The records of a result that the program inspected by itself.
pub(crate) fn for_inspected(
    contract: &Contract,
    inspected: &Inspected,
    fidelity: Fidelity,
) -> Vec<String> {
    for_result(contract.tool(), None, None, inspected, fidelity)
}

fn for_result(
    tool: &ToolName,
    request_id: Option<&str>,
    input: Option<&InputVerdict>,
    inspected: &Inspected,
    fidelity: Fidelity,
) -> Vec<String> {
    let blank = |kind, status, findings: usize| Record {
        kind,
        source: "mcp",
        server: tool.server(),
        tool: tool.tool(),
        request_id,
        status,
        decision: None,
        reason: None,
        mode: inspected.mode(),
        findings: Vec::new(),
        findings_left_out: findings.saturating_sub(MOST_FINDINGS),
        validated: false,
        schema_digest: None,
        schema_generation: None,
        payload_digest: None,
        response_bytes: None,
        fidelity: fidelity.as_str(),
    };
    let failed = inspected.decision() == Decision::Blocked || inspected.is_error();
    let mut records = vec![Record {
        findings: texts_of_allowed(inspected),
        validated: is_validated(inspected),
        payload_digest: digest(inspected, fidelity),
        ..judged(
            blank("tool_call", if failed { "error" } else { "success" }, 0),
            inspected,
        )
    }];
    if let Some(input) = input.filter(|input| input.decision != Decision::Allowed) {
        records.push(Record {
            decision: Some(input.decision),
            reason: input.reason.as_deref(),
            mode: input.mode,
            findings: input.findings.iter().take(MOST_FINDINGS).collect(),
            ..blank(
                "policy_decision",
                input.decision.as_str(),
                input.findings.len(),
            )
        });
    }
    if inspected.decision() != Decision::Allowed {
        let decision = inspected.decision();
        let record = blank(
            "policy_decision",
            decision.as_str(),
            inspected.findings().len(),
        );
        records.push(Record {
            decision: Some(decision),
            reason: inspected.reason(),
            findings: inspected.findings().iter().take(MOST_FINDINGS).collect(),
            ..judged(record, inspected)
        });
    }
    // Words, numbers and texts always have a JSON form.
    let written = records.iter().map(serde_json::to_string);
    written.filter_map(Result::ok).collect()
}

fn judged<'a>(record: Record<'a>, inspected: &Inspected) -> Record<'a> {
    let version = inspected.schema_version();
    Record {
        schema_digest: version.map(|version| version.digest.to_string()),
        schema_generation: version.map(|version| version.generation),
        response_bytes: Some(inspected.received_bytes() as u64),
        ..record
    }
}

/// What is worth knowing about the texts of a result about which nothing was decided.
fn texts_of_allowed(inspected: &Inspected) -> Vec<&Finding> {
    let findings = inspected.findings().iter();
    let about_text = findings.filter(|finding| finding.stage == Stage::Sanitise);
    let most = if inspected.decision() == Decision::Allowed {
        MOST_FINDINGS
    } else {
        0
    };
    about_text.take(most).collect()
}

fn is_validated(inspected: &Inspected) -> bool {
    inspected.fuel_used() > 0 || inspected.findings().iter().any(Finding::breaks_contract)
}

/// The digest of what was judged. A value has none: its bytes are not those that arrived.
fn digest(inspected: &Inspected, fidelity: Fidelity) -> Option<String> {
    if fidelity == Fidelity::Value {
        return None;
    }
    let structured = inspected.structured_digest().map(|(_, digest)| digest);
    Some(
        structured
            .unwrap_or_else(|| inspected.received_digest())
            .to_string(),
    )
}
