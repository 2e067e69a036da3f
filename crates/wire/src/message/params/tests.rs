//! What happens to `params` on the way to a server.

use super::*;

fn hop(era: Era) -> Hop<'static> {
    Hop {
        era,
        id: 7,
        log_level: None,
        trace: None,
    }
}

fn params(params: &str, era: Era) -> String {
    let params = call_params(params.as_bytes(), Some("tool"), hop(era));
    let params = params.expect("usable");
    String::from_utf8(params).expect("UTF-8")
}

#[test]
fn only_the_name_changes_on_the_way_to_a_legacy_upstream() {
    let given = r#"{ "x": 1.0, "arguments": {"n":12345678901234567890},"name" : "s__tool" }"#;
    let expected = r#"{ "x": 1.0, "arguments": {"n":12345678901234567890},"name" : "tool" }"#;
    assert_eq!(params(given, Era::Legacy), expected);
    let same = r#"{"name":"tool","_meta":{"a":1}}"#;
    assert_eq!(params(same, Era::Legacy), same);
}

#[test]
fn a_hop_says_what_it_is_and_nothing_of_the_one_before() {
    let given = r#"{"name":"t","_meta":{"io.modelcontextprotocol/clientInfo":{"name":"x"},"a":1,"progressToken":"p","io.modelcontextprotocol/logLevel":"debug"}}"#;
    assert_eq!(
        params(given, Era::Legacy),
        r#"{"name":"tool","_meta":{"a":1,"progressToken":7}}"#
    );
    let modern = params(given, Era::Modern);
    assert!(modern.starts_with(r#"{"name":"tool","_meta":{"a":1,"progressToken":7,"io.model"#));
    assert!(
        modern.contains(r#"clientInfo":{"name":"countersign","#),
        "{modern}"
    );
    assert!(
        modern.contains(r#"protocolVersion":"2026-07-28""#),
        "{modern}"
    );
    let added = params(r#"{"name":"t"}"#, Era::Modern);
    assert!(
        added.starts_with(r#"{"name":"tool","_meta":{"io.model"#),
        "{added}"
    );
    assert!(call_params(br#"{"name":"t","_meta":5}"#, None, hop(Era::Legacy)).is_err());
    let kept = br#"{"name":"t","uri":"u"}"#;
    assert_eq!(
        call_params(kept, None, hop(Era::Legacy)).as_deref(),
        Ok(&kept[..])
    );
}

#[test]
fn a_client_that_says_only_what_every_hop_says_is_replaced_by_the_gateway() {
    let given = |capabilities: &str, more: &str| {
        let meta = format!(
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"x"}},"io.modelcontextprotocol/clientCapabilities":{capabilities}{more}"#
        );
        params(
            &format!(r#"{{"_meta":{{{meta}}},"name":"t"}}"#),
            Era::Modern,
        )
    };
    let none = given("{}", "");
    let expected = format!(r#"{{"_meta":{},"name":"tool"}}"#, hop_meta(None));
    assert_eq!(
        (none.as_str(), given("[]", "")),
        (expected.as_str(), expected.clone())
    );
    let roots = given(r#"{"roots":{}}"#, "");
    assert!(
        roots.contains(r#"clientCapabilities":{"roots":{}}"#),
        "{roots}"
    );
    let other = given("{}", r#","a":1"#);
    assert!(other.starts_with(r#"{"_meta":{"a":1,"io.model"#), "{other}");
}

#[test]
fn a_modern_server_is_asked_for_the_logs_of_a_legacy_session() {
    let ask = |params: &str, era| {
        let log_level = Some("info");
        let hop = Hop {
            log_level,
            ..hop(era)
        };
        let params = call_params(params.as_bytes(), None, hop);
        String::from_utf8(params.expect("usable")).expect("UTF-8")
    };
    let asked = r#","io.modelcontextprotocol/logLevel":"info"}}"#;
    let bare = r#"{"name":"t"}"#;
    assert!(ask(bare, Era::Modern).ends_with(asked));
    assert!(ask(r#"{"name":"t","_meta":{}}"#, Era::Modern).ends_with(asked));
    assert_eq!(ask(bare, Era::Legacy), bare);
    let own = r#"{"name":"t","_meta":{"io.modelcontextprotocol/logLevel":"error"}}"#;
    assert!(!ask(own, Era::Modern).contains("info"));
}

#[test]
fn a_modern_server_may_ask_what_the_client_can_answer() {
    let given = r#"{"name":"t","_meta":{"io.modelcontextprotocol/clientCapabilities":{"x":1,"sampling":{},"extensions":{"t":{}},"elicitation":{"url":{ }}}}}"#;
    let modern = params(given, Era::Modern);
    assert!(
        modern.contains(r#"clientCapabilities":{"elicitation":{"url":{ }},"sampling":{}}"#),
        "{modern}"
    );
    assert!(!params(given, Era::Legacy).contains("sampling"));
}

#[test]
fn a_server_is_told_the_span_of_its_request_and_nothing_else_changes() {
    let ask = |params: &str, era, keeps_state| {
        let trace = Some(HopTrace {
            traceparent: "00-ours-01",
            keeps_state,
        });
        let params = call_params(params.as_bytes(), None, Hop { trace, ..hop(era) });
        String::from_utf8(params.expect("usable")).expect("UTF-8")
    };
    let legacy = |params, keeps_state| ask(params, Era::Legacy, keeps_state);
    let given = r#"{ "x":1.0,"_meta":{"traceparent" : "00-theirs-01","tracestate":"a=b","baggage":"k=v", "y":[ ]},"name":"t"}"#;
    assert_eq!(
        legacy(given, true),
        given.replace("00-theirs-01", "00-ours-01")
    );
    assert_eq!(
        legacy(given, false),
        r#"{ "x":1.0,"_meta":{"traceparent" : "00-ours-01","baggage":"k=v", "y":[ ]},"name":"t"}"#
    );
    assert_eq!(
        legacy(r#"{"name":"t"}"#, false),
        r#"{"name":"t","_meta":{"traceparent":"00-ours-01"}}"#
    );
    assert_eq!(
        legacy(r#"{"_meta":{}}"#, false),
        r#"{"_meta":{"traceparent":"00-ours-01"}}"#
    );
    // Two readers would see two spans.
    let twice = r#"{"_meta":{"traceparent":"a","traceparent":5,"z":1}}"#;
    assert_eq!(
        legacy(twice, true),
        r#"{"_meta":{"traceparent":"00-ours-01","z":1}}"#
    );
    let modern = ask(r#"{"name":"t"}"#, Era::Modern, false);
    assert!(
        modern.starts_with(r#"{"name":"t","_meta":{"traceparent":"00-ours-01","io.modelcontext"#),
        "{modern}"
    );
    let modern = ask(given, Era::Modern, true);
    assert!(modern.contains(r#""traceparent" : "00-ours-01","tracestate":"a=b""#));
}

#[test]
fn params_of_our_own_say_what_the_era_needs() {
    assert_eq!(own_params(Era::Legacy, b""), b"{}");
    let modern = own_params(Era::Modern, br#""cursor":"a""#);
    assert!(modern.starts_with(br#"{"cursor":"a","_meta":{"#));
}
