use super::*;
use crate::policy::{CallOutcome, Date, ProtocolError, SchemaPolicy, Validation};

const COUNT: &str = r#"{"name":"count","inputSchema":{"type":"object","properties":{"by":{"type":"integer"}}},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"},"day":{"type":"string","format":"date"}},"required":["n"],"additionalProperties":false}}"#;

fn judge(era: Era) -> Judge {
    let mut judge = Judge::new(era);
    assert_eq!(judge.declare(COUNT.as_bytes()).unwrap(), []);
    judge
        .declare(br#"{"name":"free","inputSchema":{"type":"object"}}"#)
        .unwrap();
    judge
        .declare(
            br#"{"name":"list","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}"#,
        )
        .unwrap();
    judge
}

/// The sites a result violates; both as a bare result and in a response.
fn sites_of(tool: &str, result: &str, era: Era) -> Vec<Site> {
    let judge = judge(era);
    let sites = |reply: String| -> Vec<Site> {
        let judgement = judge.reply(tool, reply);
        judgement.violations.iter().map(|one| one.site).collect()
    };
    let bare = sites(result.to_owned());
    let framed = sites(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    assert_eq!(bare, framed);
    bare
}

fn sites(tool: &str, result: &str) -> Vec<Site> {
    sites_of(tool, result, Era::Modern)
}

/// A modern result with structured content and the text block that repeats it.
fn mirrored(value: &str) -> String {
    let text = serde_json::Value::from(value);
    format!(
        r#"{{"resultType":"complete","content":[{{"type":"text","text":{text}}}],"structuredContent":{value}}}"#
    )
}

#[test]
fn a_conforming_result_violates_nothing() {
    assert_eq!(
        sites(
            "count",
            &mirrored(r#"{"n":12345678901234567890,"day":"2026-01-31"}"#)
        ),
        []
    );
}

#[test]
fn row_5_a_result_that_does_not_fit() {
    assert_eq!(sites("count", &mirrored(r#"{"n":"one"}"#)), [Site::Result]);
    assert_eq!(
        sites("count", &mirrored(r#"{"n":"one","x":1}"#)),
        [Site::Result]
    );
    assert_eq!(
        sites("count", &mirrored(r#"{"n":"one","day":"soon"}"#)),
        [Site::Result]
    );
    assert_eq!(
        sites("count", &mirrored(r#"{"n":1,"n":1}"#)),
        [Site::Differs, Site::Result]
    );
}

#[test]
fn row_6_structured_content_is_missing() {
    let missing = r#"{"resultType":"complete","content":[{"type":"text","text":"1"}]}"#;
    assert_eq!(sites("count", missing), [Site::Missing]);
    let null = r#"{"content":[],"structuredContent":null}"#;
    assert_eq!(sites_of("count", null, Era::Legacy), [Site::Missing]);
}

#[test]
fn row_7_only_the_format_is_wrong() {
    assert_eq!(
        sites("count", &mirrored(r#"{"n":1,"day":"soon"}"#)),
        [Site::Format]
    );
}

#[test]
fn row_7_is_found_behind_alternatives() {
    let mut judge = Judge::new(Era::Modern);
    judge
        .declare(br#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"anyOf":[{"type":"object","properties":{"d":{"type":"string","format":"date"}}},{"type":"null"}]}}"#)
        .unwrap();
    let judgement = judge.reply("t", mirrored(r#"{"d":"soon"}"#));
    let sites: Vec<Site> = judgement.violations.iter().map(|one| one.site).collect();
    assert_eq!(sites, [Site::Format]);
}

#[test]
fn row_8_only_members_too_many() {
    assert_eq!(
        sites("count", &mirrored(r#"{"n":1,"x":1,"y":2}"#)),
        [Site::Extra]
    );
    assert_eq!(
        sites("count", &mirrored(r#"{"n":1,"x":1,"day":"soon"}"#)),
        [Site::Extra]
    );
}

#[test]
fn row_9_an_error_result_is_only_counted() {
    for result in [
        r#"{"resultType":"complete","isError":true,"content":[]}"#,
        r#"{"resultType":"complete","isError":true,"content":[],"structuredContent":{"n":"x"}}"#,
    ] {
        assert_eq!(sites("count", result), [Site::ErrorResult]);
        let judgement = judge(Era::Modern).reply("count", result.to_owned());
        let validation = Validation {
            strict: true,
            ..Validation::default()
        };
        let (outcome, applied) = judgement.outcome("count", &validation, today());
        assert_eq!(outcome, CallOutcome::ToolError);
        assert_eq!(applied[0].policy, SchemaPolicy::Ignore);
    }
    let fits =
        r#"{"resultType":"complete","isError":true,"content":[],"structuredContent":{"n":1}}"#;
    assert_eq!(sites("count", fits), []);
}

#[test]
fn row_10_a_result_that_is_not_final() {
    let asks = r#"{"resultType":"input_required","inputRequests":{}}"#;
    assert_eq!(sites("count", asks), [Site::Unfinished]);
}

#[test]
fn row_11_structured_content_nobody_declared() {
    assert_eq!(sites("free", &mirrored("{}")), [Site::Undeclared]);
    assert_eq!(
        sites("free", r#"{"resultType":"complete","content":[]}"#),
        []
    );
}

#[test]
fn row_12_the_text_beside_the_value() {
    let silent = r#"{"resultType":"complete","content":[],"structuredContent":[1]}"#;
    assert_eq!(sites("list", silent), [Site::Unmirrored]);
    let other = r#"{"resultType":"complete","content":[{"type":"text","text":"one"}],"structuredContent":[1]}"#;
    assert_eq!(sites("list", other), [Site::Differs]);
    let object = r#"{"resultType":"complete","content":[],"structuredContent":{"n":1}}"#;
    assert_eq!(sites("count", object), [Site::Differs]);
    assert_eq!(sites("list", &mirrored("[1]")), []);
}

#[test]
fn rows_13_to_15_are_said_once_by_the_declaration() {
    let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(100), "}".repeat(100));
    let cases: [(&str, &[Site]); 8] = [
        (
            r#""inputSchema":{"type":"object"},"outputSchema":true"#,
            &[Site::Schema],
        ),
        (
            r#""inputSchema":{"type":"object"},"outputSchema":{"type":"strng"}"#,
            &[Site::Schema],
        ),
        (
            r#""inputSchema":{"type":"object"},"outputSchema":{"$schema":"urn:other"}"#,
            &[Site::Schema],
        ),
        (r#""inputSchema":{"type":"array"}"#, &[Site::Schema]),
        (r#""title":"no input schema""#, &[Site::Schema]),
        (
            r#""inputSchema":{"type":"object"},"outputSchema":{"$ref":"https://elsewhere.example/s"}"#,
            &[Site::ExternalRef],
        ),
        (
            &format!(r#""inputSchema":{{"type":"object"}},"outputSchema":{deep}"#),
            &[Site::Guard],
        ),
        (
            r#""inputSchema":{"type":"object"},"outputSchema":{"type":"object"}"#,
            &[],
        ),
    ];
    for (members, expected) in cases {
        let mut judge = Judge::new(Era::Modern);
        let violations = judge
            .declare(format!(r#"{{"name":"t",{members}}}"#).as_bytes())
            .unwrap();
        let sites: Vec<Site> = violations.iter().map(|one| one.site).collect();
        assert_eq!(sites, expected, "{members}");
        // And not again with every result.
        let judgement = judge.reply("t", mirrored("{}"));
        assert!(
            !judgement
                .violations
                .iter()
                .any(|one| one.site.name() == "schema"),
            "{members}"
        );
    }
}

#[test]
fn row_15_a_guard_trips_on_a_value() {
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let sites = sites("list", &mirrored(&deep));
    assert!(sites.contains(&Site::Guard), "{sites:?}");
}

#[test]
fn row_19_a_tool_that_is_not_listed() {
    assert_eq!(
        sites("nobody", r#"{"resultType":"complete","content":[]}"#),
        [Site::Unlisted]
    );
}

fn today() -> Date {
    "2026-06-01".parse().unwrap()
}

#[test]
fn strict_gates_at_the_right_site_and_lenient_does_not() {
    let judgement = judge(Era::Modern).reply("count", mirrored(r#"{"n":1,"x":1}"#));
    let outcome = |strict| {
        let validation = Validation {
            strict,
            ..Validation::default()
        };
        judgement.outcome("count", &validation, today()).0
    };
    assert_eq!(outcome(true), CallOutcome::violation(Site::Extra));
    assert_eq!(outcome(false), CallOutcome::Success);
}

#[test]
fn what_is_no_result_is_told_apart() {
    let judge = judge(Era::Modern);
    let outcome = |reply: &'static str| {
        judge
            .reply("count", reply)
            .outcome("count", &Validation::default(), today())
            .0
    };
    let rpc = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;
    assert_eq!(
        outcome(rpc),
        CallOutcome::ProtocolError(ProtocolError::Rpc { code: -32602 })
    );
    for malformed in [
        "nonsense",
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":"text"}}"#,
    ] {
        assert_eq!(
            outcome(malformed),
            CallOutcome::ProtocolError(ProtocolError::Malformed)
        );
    }
}

#[test]
fn arguments_are_held_to_the_input_schema() {
    let judge = judge(Era::Modern);
    assert_eq!(judge.arguments("count", b"{\"by\":1}"), []);
    let findings = judge.arguments("count", b"{\"by\":\"one\"}");
    assert_eq!(findings[0].rule, "input.schema.type");
    assert_eq!(findings[0].instance_pointer.as_deref(), Some("/by"));
}
