use bytes::Bytes;

use crate::config::{OutputValidation, Posture};
use crate::{
    ClassifierFinding, ClientEra, Contract, Decision, Declaration, Finding, Inspected, Mode,
    Policy, RawReply, Screening, Severity, SkipReason, Source, Stage, ToolName, examine,
    examine_arguments,
};

const ID: &str = r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}"#;
const OK: &str = r#"{"content":[],"structuredContent":{"id":7}}"#;

fn strict() -> OutputValidation {
    OutputValidation {
        mode: Mode::Strict,
        missing_structured_content: Posture::Block,
        uncompilable_schema: Posture::Block,
        ..OutputValidation::default()
    }
}

fn contract(schema: &str) -> Contract {
    Declaration::new(ToolName::on_server("stub", "bad_output"))
        .output_schema(schema.to_owned())
        .capture(&strict())
}

fn inspect_with(output: OutputValidation, schema: &str, result: &str) -> Inspected {
    let policy = Policy {
        output,
        ..Policy::default()
    };
    let raw = RawReply::new(result.to_owned(), Source::default());
    examine(raw, &contract(schema), &policy).conclude(Screening::skipped(SkipReason::NotConfigured))
}

fn reason(schema: &str, result: &str) -> String {
    reason_with(strict(), schema, result)
}

fn reason_with(output: OutputValidation, schema: &str, result: &str) -> String {
    let inspected = inspect_with(output, schema, result);
    assert_eq!(inspected.decision(), Decision::Blocked);
    inspected.reason().unwrap_or_default().to_owned()
}

#[test]
fn what_an_agent_reads_about_the_contract() {
    insta::assert_snapshot!(reason(ID, r#"{"structuredContent":{"id":"x"}}"#), @"output schema validation failed: type at /id: expected integer, got string (tool stub:bad_output)");
    insta::assert_snapshot!(reason(ID, r#"{"structuredContent":{}}"#), @"output schema validation failed: required at the root: expected property id, got object (tool stub:bad_output)");
    insta::assert_snapshot!(reason(ID, r#"{"structuredContent":[]}"#), @"output schema validation failed: type at the root: expected object, got array (tool stub:bad_output)");
    insta::assert_snapshot!(reason(r#"{"additionalProperties":false}"#, r#"{"structuredContent":{"a b":1}}"#), @"output schema validation failed: additionalProperties at /<property #0>: expected no such property, got number (tool stub:bad_output)");
    insta::assert_snapshot!(reason(ID, r#"{"content":[]}"#), @"output schema validation failed: structuredContent missing");
    insta::assert_snapshot!(reason(r#"{"$ref":"https://x.example/y"}"#, OK), @"output schema validation failed: the declared schema has an external reference");
    insta::assert_snapshot!(reason(r#"{"type":"nothing"}"#, OK), @"output schema validation failed: the declared schema cannot be enforced");
    insta::assert_snapshot!(reason(ID, r#"{"structuredContent":{"id":1,"id":2}}"#), @"output schema validation failed: an object has a repeated key");
    let little_fuel = OutputValidation {
        fuel_factor: 1e-9,
        ..strict()
    };
    insta::assert_snapshot!(reason_with(little_fuel, ID, OK), @"output schema validation failed: validating the value costs more than it may");
}

#[test]
fn what_an_agent_reads_about_guards() {
    let big = format!(r#"{{"structuredContent":"{}"}}"#, "x".repeat(7_340_030));
    insta::assert_snapshot!(reason(r#"{"type":"string"}"#, &big), @"output schema validation failed: structured output exceeds max_bytes (7340032 > 5242880)");
    let deep = format!(
        r#"{{"structuredContent":{}{}}}"#,
        "[".repeat(65),
        "]".repeat(65)
    );
    insta::assert_snapshot!(reason(r#"{"type":"array"}"#, &deep), @"output schema validation failed: structured output exceeds max_depth (65 > 64)");
}

#[test]
fn what_an_agent_reads_about_other_stages() {
    insta::assert_snapshot!(reason(ID, "{"), @"blocked by policy: transport transport.not_json");
    insta::assert_snapshot!(reason(ID, r#"{"jsonrpc":"2.0","result":{}}"#), @"blocked by policy: transport transport.bad_id");
    insta::assert_snapshot!(reason(ID, r#"{"content":7,"structuredContent":{"id":7}}"#), @"blocked by policy: shape shape.content");
    insta::assert_snapshot!(reason(ID, r#"{"content":[{"type":"text"}],"structuredContent":{"id":7}}"#), @"blocked by policy: shape shape.block");
    insta::assert_snapshot!(reason(ID, r#"{"content":[{"type":"image","mimeType":"a/b","data":"?"}],"structuredContent":{"id":7}}"#), @"blocked by policy: shape shape.base64");
    insta::assert_snapshot!(reason(ID, r#"{"content":[{"type":"text","text":"\udead"}],"structuredContent":{"id":7}}"#), @"blocked by policy: shape shape.surrogate");
    insta::assert_snapshot!(reason(ID, r#"{"isError":1,"structuredContent":{"id":7}}"#), @"blocked by policy: shape shape.is_error");
}

/// What an agent reads in place of a blocked result.
fn agent_text(schema: &str, result: &str) -> String {
    let inspected = inspect_with(strict(), schema, result);
    let emitted: serde_json::Value =
        serde_json::from_slice(&inspected.emitted().into_bytes()).expect("JSON");
    let text = emitted["content"][0]["text"].as_str().expect("a text");
    assert_eq!(inspected.answer(), Some(text));
    text.to_owned()
}

#[test]
fn a_blocked_result_names_its_tool_what_was_found_and_that_a_retry_is_no_use() {
    insta::assert_snapshot!(agent_text(ID, r#"{"structuredContent":{"id":"x"}}"#), @"output schema validation failed: type at /id: expected integer, got string (tool stub:bad_output); retrying will not help");
    insta::assert_snapshot!(agent_text(ID, r#"{"content":7,"structuredContent":{"id":7}}"#), @"blocked by policy: shape shape.content (tool stub:bad_output): the content is not what MCP allows in a result; retrying will not help");
    let deep = format!(
        r#"{{"structuredContent":{}{}}}"#,
        "[".repeat(65),
        "]".repeat(65)
    );
    insta::assert_snapshot!(agent_text(r#"{"type":"array"}"#, &deep), @"output schema validation failed: structured output exceeds max_depth (65 > 64) (tool stub:bad_output); retrying will not help");
    let passed = inspect_with(strict(), ID, r#"{"structuredContent":{"id":7}}"#);
    assert_eq!(passed.answer(), None);
}

#[test]
fn the_name_of_an_unknown_tool_is_said_and_not_recorded_as_a_reason() {
    let unknown = Inspected::unknown_tool("files:<|im_start|>", ClientEra::Modern);
    assert_eq!(
        unknown.answer(),
        Some("there is no such tool: files:??im_start??")
    );
    assert_eq!(unknown.reason(), Some("there is no such tool"));
}

#[test]
fn what_an_agent_reads_about_its_own_arguments() {
    let declaration = Declaration::new(ToolName::on_server("stub", "send"));
    let contract = declaration.input_schema(ID.to_owned()).capture(&strict());
    let policy = Policy {
        input: crate::config::InputValidation { mode: Mode::Strict },
        ..Policy::default()
    };
    let verdict = examine_arguments(Some(br#"{"id":"x"}"#), &contract, &policy);
    insta::assert_snapshot!(verdict.reason.unwrap_or_default(), @"input schema validation failed: type at /id: expected integer, got string (tool stub:send)");
    // Absent arguments are an empty object.
    let verdict = examine_arguments(None, &contract, &policy);
    insta::assert_snapshot!(verdict.reason.clone().unwrap_or_default(), @"input schema validation failed: required at the root: expected property id, got object (tool stub:send)");
    let refusal = verdict.refusal().expect("it is blocked");
    let emitted = refusal.emitted().into_bytes();
    insta::assert_snapshot!(String::from_utf8_lossy(&emitted), @r#"{"content":[{"type":"text","text":"input schema validation failed: required at the root: expected property id, got object (tool stub:send)"}],"isError":true}"#);
}

#[test]
fn a_classifier_reports_or_blocks_as_its_operator_says() {
    let screened = |action| {
        let finding = Finding::new(Stage::Classify, "classifier.local", Severity::Attack);
        Screening::with_findings(vec![ClassifierFinding { finding, action }])
    };
    let conclude = |action| {
        let policy = Policy::default();
        let raw = RawReply::new(OK, Source::default());
        examine(raw, &contract(ID), &policy).conclude(screened(action))
    };
    let reported = conclude(Posture::Allow);
    assert_eq!(reported.decision(), Decision::Flagged);
    assert_eq!(reported.emitted().into_bytes(), OK);
    let blocked = conclude(Posture::Block);
    assert_eq!(blocked.decision(), Decision::Blocked);
    insta::assert_snapshot!(blocked.reason().unwrap_or_default(), @"blocked by policy: classify classifier.local");
}

#[test]
fn structured_content_is_any_json_as_any_type() {
    let any = r#"{"$comment":"anything"}"#;
    let typed = |result: &str| inspect_with(strict(), any, result);
    let array = typed(r#"{"structuredContent":[1,2]}"#);
    assert_eq!(array.structured::<Vec<u8>>().unwrap(), Some(vec![1, 2]));
    let number = typed(r#"{"structuredContent":42}"#);
    assert_eq!(number.structured::<u64>().unwrap(), Some(42));
    let null = typed(r#"{"structuredContent":null}"#);
    assert_eq!(null.structured::<Option<u64>>().unwrap(), Some(None));
    let wrong = number.structured::<String>().unwrap_err();
    assert!(wrong.is_typed() && !wrong.is_declaration());
    let absent = inspect_with(OutputValidation::default(), any, r#"{"content":[]}"#);
    assert_eq!(absent.structured::<u64>().unwrap(), None);
}

#[test]
fn what_was_blocked_cannot_be_read() {
    let secret = r#"{"content":[],"structuredContent":{"id":"s3cret"}}"#;
    let blocked = inspect_with(strict(), ID, secret);
    assert_eq!(blocked.structured::<serde_json::Value>().unwrap(), None);
    assert_eq!(blocked.structured_text(), None);
    assert_eq!(blocked.received_bytes(), secret.len());
    assert_eq!(
        blocked.structured_digest().map(|(bytes, _)| bytes),
        Some(15)
    );
    assert!(!format!("{blocked:?}").contains("s3cret"));
}

#[test]
fn an_answer_of_our_own_is_one_error_text() {
    let refusal = crate::Refusal::TimedOut { after_ms: 1500 };
    let legacy = Inspected::from_refusal(refusal, ClientEra::Legacy);
    insta::assert_snapshot!(String::from_utf8_lossy(&legacy.message(&Bytes::from_static(b"7")).into_bytes()), @r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"the tool's server did not answer within 1500 ms; the call may have run, so check before you repeat it"}],"isError":true}}"#);
    let modern = Inspected::from_refusal(refusal, ClientEra::Modern);
    insta::assert_snapshot!(String::from_utf8_lossy(&modern.emitted().into_bytes()), @r#"{"resultType":"complete","content":[{"type":"text","text":"the tool's server did not answer within 1500 ms; the call may have run, so check before you repeat it"}],"isError":true}"#);
}
