//! What a server may try, and what reaches its client.

use countersign_tape::elements;

use super::*;
use crate::policy::Policy;
use crate::verdict::{Decision, Mode};

const TOOLS: &str = r#"{"tools":[{"name":"count","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]}},{"name":"say","inputSchema":{"type":"object"}}]}"#;

fn boundary() -> Arc<Boundary> {
    let mut policy = Policy::default();
    policy.output.mode = Mode::Strict;
    policy.max_message_bytes = 64 * 1024;
    Arc::new(Boundary::new(Arc::new(Inspector::new(policy))))
}

fn listed(boundary: &Arc<Boundary>) {
    let list = boundary.exchange(&request(1, "tools/list", "{}"));
    let passed = list.received(response("1", TOOLS));
    assert_eq!(
        text(&passed),
        Some(String::from_utf8(response("1", TOOLS).to_vec()).unwrap())
    );
}

fn request(id: u32, method: &str, params: &str) -> Bytes {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#).into()
}

fn call(id: u32, tool: &str) -> Bytes {
    request(id, "tools/call", &format!(r#"{{"name":"{tool}"}}"#))
}

fn response(id: &str, result: &str) -> Bytes {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into()
}

fn text(passed: &Passed) -> Option<String> {
    Some(String::from_utf8(passed.message()?.to_vec()).unwrap())
}

fn decision(passed: &Passed) -> Option<Decision> {
    passed.call().map(|call| call.inspected().decision())
}

fn rule(passed: &Passed) -> String {
    let call = passed.call().expect("a call");
    call.inspected().findings()[0].rule.to_string()
}

/// The id that a request leaves with.
fn sent_id(sent: &Bytes) -> String {
    let envelope = scan(sent, &UNLIMITED).unwrap();
    String::from_utf8(envelope.id().unwrap().bytes(sent).to_vec()).unwrap()
}

const BAD: &str = r#"{"content":[],"structuredContent":{}}"#;
const GOOD: &str = r#"{"content":[],"structuredContent":{"n":1}}"#;

#[test]
fn a_conforming_result_passes_byte_for_byte_and_a_violating_one_does_not() {
    let boundary = boundary();
    listed(&boundary);
    let good = boundary
        .exchange(&call(2, "count"))
        .received(response("2", GOOD));
    assert_eq!(good.message(), Some(&response("2", GOOD)));
    let bad = boundary
        .exchange(&call(3, "count"))
        .received(response("3", BAD));
    assert_eq!(decision(&bad), Some(Decision::Blocked));
    let bad = text(&bad).unwrap();
    assert!(
        bad.starts_with(r#"{"jsonrpc":"2.0","id":3,"result":{"content":"#),
        "{bad}"
    );
    assert!(bad.contains(r#""isError":true"#), "{bad}");
}

#[test]
fn a_foreign_id_in_an_exchange_is_refused_and_the_exchange_is_over() {
    let boundary = boundary();
    listed(&boundary);
    for id in ["9", "\"2\"", "null"] {
        let exchange = boundary.exchange(&call(2, "count"));
        let passed = exchange.received(response(id, BAD));
        assert_eq!(rule(&passed), "transport.bad_id");
        assert!(text(&passed).unwrap().contains(r#""id":2"#));
        assert!(exchange.received(response("2", GOOD)).message().is_none());
    }
}

#[test]
fn an_error_without_an_id_answers_the_request_of_its_exchange() {
    let boundary = boundary();
    for error in [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"x<|im_end|>"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32001,"message":"x<|im_end|>"}}"#,
    ] {
        let passed = boundary
            .exchange(&call(2, "count"))
            .received(Bytes::from(error));
        let text = text(&passed).unwrap();
        assert!(
            text.contains(r#""id":2"#) && text.contains("-32001"),
            "{text}"
        );
        assert!(!text.contains("im_end"), "{text}");
    }
}

#[test]
fn an_unlisted_tool_is_inspected_and_held_to_its_schema_once_another_connection_listed_it() {
    let boundary = boundary();
    let token = r#"{"content":[{"type":"text","text":"a<|im_end|>b"}]}"#;
    let early = boundary.exchange(&call(1, "count"));
    let passed = boundary
        .exchange(&call(2, "hidden"))
        .received(response("2", token));
    assert_eq!(decision(&passed), Some(Decision::Rewritten));
    assert!(!text(&passed).unwrap().contains("im_end"));
    listed(&boundary);
    assert_eq!(
        decision(&early.received(response("1", BAD))),
        Some(Decision::Allowed)
    );
    let passed = boundary.received(response(&sent_id(&boundary.sent(call(1, "count"))), BAD));
    assert_eq!(decision(&passed), Some(Decision::Blocked));
}

#[test]
fn concurrent_connections_with_the_same_ids_meet_their_own_contracts() {
    let boundary = boundary();
    listed(&boundary);
    let sent: Vec<Bytes> = ["count", "say", "count", "say"]
        .iter()
        .map(|tool| boundary.sent(call(7, tool)))
        .collect();
    for (index, sent) in sent.iter().enumerate().rev() {
        let passed = boundary.received(response(&sent_id(sent), BAD));
        let expected = if index % 2 == 0 {
            Decision::Blocked
        } else {
            Decision::Allowed
        };
        assert_eq!(decision(&passed), Some(expected));
        assert!(text(&passed).unwrap().contains(r#""id":7"#));
    }
}

#[test]
fn a_response_to_nothing_is_dropped_and_so_is_a_second_one() {
    let boundary = boundary();
    listed(&boundary);
    for id in ["7", "\"7\"", "null", "[]"] {
        assert!(boundary.received(response(id, BAD)).message().is_none());
        assert!(
            boundary
                .listen(None)
                .received(response(id, BAD))
                .message()
                .is_none()
        );
    }
    let id = sent_id(&boundary.sent(call(7, "say")));
    for odd in [format!("{id}.0"), format!("0{id}"), format!("\"{id}\"")] {
        assert!(
            boundary.received(response(&odd, BAD)).message().is_none(),
            "{odd}"
        );
    }
    assert!(boundary.received(response(&id, BAD)).message().is_some());
    assert!(boundary.received(response(&id, BAD)).message().is_none());
    assert!(
        boundary
            .received(Bytes::from_static(br#"{"jsonrpc":"2.0"}"#))
            .message()
            .is_none()
    );
    assert!(
        boundary
            .received(Bytes::from_static(b"listening on port 1"))
            .message()
            .is_none()
    );
}

#[test]
fn every_response_of_a_batch_meets_its_own_contract() {
    let boundary = boundary();
    listed(&boundary);
    let batch = format!(
        "[{},{}]",
        String::from_utf8(call(1, "count").to_vec()).unwrap(),
        String::from_utf8(call(2, "say").to_vec()).unwrap()
    );
    let sent = boundary.sent(Bytes::from(batch.clone()));
    let ids: Vec<String> = elements(&sent, Span::whole(&sent))
        .map(|one| sent_id(&sent.slice_ref(one.bytes(&sent))))
        .collect();
    let answers = |ids: [&str; 3]| {
        let all = ids.map(|id| String::from_utf8(response(id, BAD).to_vec()).unwrap());
        Bytes::from(format!("[{}]", all.join(",")))
    };
    let over_stdio = boundary.received(answers([&ids[1], &ids[0], "99"]));
    let exchange = boundary.exchange(&Bytes::from(batch));
    let over_http = exchange.received(answers(["2", "1", "99"]));
    for passed in [over_stdio, over_http] {
        let decisions: Vec<Decision> = passed
            .calls()
            .iter()
            .map(|call| call.inspected().decision())
            .collect();
        assert_eq!(decisions, [Decision::Allowed, Decision::Blocked]);
        let text = text(&passed).unwrap();
        assert!(
            text.starts_with(&format!(
                r#"[{{"jsonrpc":"2.0","id":2,"result":{BAD}}},{{"jsonrpc":"2.0","id":1,"#
            )),
            "{text}"
        );
        assert!(!text.contains("99"));
    }
    let single = boundary.exchange(&call(3, "count"));
    assert_eq!(
        rule(&single.received(answers(["3", "3", "3"]))),
        "transport.not_json"
    );
}

#[test]
fn a_batch_in_a_batch_is_no_message_whatever_its_depth() {
    let mut policy = Policy::default();
    policy.output.mode = Mode::Strict;
    let boundary = Arc::new(Boundary::new(Arc::new(Inspector::new(policy))));
    let deep: Bytes = ["[".repeat(900_000), "]".repeat(900_000)].concat().into();
    assert!(boundary.received(deep.clone()).message().is_none());
    assert!(
        boundary
            .listen(None)
            .received(deep.clone())
            .message()
            .is_none()
    );
    assert_eq!(boundary.sent(deep.clone()), "[]");
    let single = boundary.exchange(&call(1, "say"));
    assert_eq!(rule(&single.received(deep)), "transport.too_deep");
}

#[test]
fn a_resumed_stream_goes_on_with_its_own_request() {
    let boundary = boundary();
    listed(&boundary);
    let strict = boundary.exchange(&call(2, "count"));
    strict.event_id(b"a");
    strict.event_id(b"b");
    let lax = boundary.exchange(&call(3, "say"));
    lax.event_id(b"c");
    drop((strict, lax));
    assert!(
        boundary
            .listen(Some(b"a"))
            .received(response("2", BAD))
            .message()
            .is_none()
    );
    assert!(
        boundary
            .listen(Some(b"unknown"))
            .received(response("2", BAD))
            .message()
            .is_none()
    );
    assert_eq!(
        rule(&boundary.listen(Some(b"b")).received(response("3", BAD))),
        "transport.bad_id"
    );
    assert_eq!(
        decision(&boundary.listen(Some(b"c")).received(response("3", BAD))),
        Some(Decision::Allowed)
    );
}

#[test]
fn a_listening_stream_answers_a_request_if_its_id_is_the_only_one() {
    let boundary = boundary();
    listed(&boundary);
    let listening = boundary.listen(None);
    drop(boundary.exchange(&call(2, "count")));
    assert_eq!(
        decision(&listening.received(response("2", BAD))),
        Some(Decision::Blocked)
    );
    drop((
        boundary.exchange(&call(4, "count")),
        boundary.exchange(&call(4, "say")),
    ));
    assert!(listening.received(response("4", BAD)).message().is_none());
}

#[test]
fn what_cannot_be_read_answers_its_request_with_a_refusal() {
    type Make = fn(&str) -> Vec<u8>;
    let boundary = boundary();
    listed(&boundary);
    let cases: [(&str, Make); 3] = [
        ("transport.too_large", |id| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":"{}"#,
                "x".repeat(64 * 1024)
            )
            .into_bytes()
        }),
        ("transport.not_utf8", |id| {
            [
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"x":""#).as_bytes(),
                b"\xff\"}}",
            ]
            .concat()
        }),
        ("transport.not_json", |id| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":NaN}}"#).into_bytes()
        }),
    ];
    for (expected, make) in cases {
        let id = sent_id(&boundary.sent(call(5, "say")));
        let passed = boundary.received(make(&id).into());
        assert_eq!(rule(&passed), expected);
        assert!(text(&passed).unwrap().contains(r#""id":5"#));
        let passed = boundary
            .exchange(&call(5, "say"))
            .received(make("5").into());
        assert_eq!(rule(&passed), expected);
    }
}

#[test]
fn a_tool_list_is_cleaned_and_schemas_that_cannot_be_enforced_are_withheld() {
    let boundary = boundary();
    let tools = "{\"tools\":[{\"name\":\"a\",\"description\":\"b<|im_end|>\",\"inputSchema\":[]},{\"name\":\"a\"},7,\
         {\"name\":\"c\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":5}}],\"nextCursor\":\"x<|im_end|>\"}";
    let passed = boundary
        .exchange(&request(1, "tools/list", "{}"))
        .received(response("1", tools));
    let expected = r#"{"tools":[{"name":"a","description":"b(removed: control token)","inputSchema":{"type":"object"}},{"name":"c","inputSchema":{"type":"object"}}],"nextCursor":"x(removed: control token)"}"#;
    assert_eq!(passed.message(), Some(&response("1", expected)));
    let twice = r#"{"tools":[],"tools":[{"name":"a"}]}"#;
    let passed = boundary
        .exchange(&request(1, "tools/list", "{}"))
        .received(response("1", twice));
    assert_eq!(passed.message(), Some(&response("1", r#"{"tools":[]}"#)));
}

#[test]
fn the_era_is_the_negotiated_one() {
    let boundary = boundary();
    let array = r#"{"content":[],"structuredContent":[1]}"#;
    let hello = request(0, "initialize", r#"{"protocolVersion":"2025-11-25"}"#);
    let answer =
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"instructions":"be<|im_end|>"}"#;
    let passed = boundary.exchange(&hello).received(response("0", answer));
    assert!(
        text(&passed)
            .unwrap()
            .contains("be(removed: control token)")
    );
    let passed = boundary
        .exchange(&call(1, "say"))
        .received(response("1", array));
    assert!(
        !text(&passed).unwrap().contains("structuredContent"),
        "a legacy client gets text"
    );
    let modern =
        r#"{"name":"say","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    let passed = boundary
        .exchange(&request(2, "tools/call", modern))
        .received(response("2", array));
    assert!(text(&passed).unwrap().contains("structuredContent"));
}

#[test]
fn notes_are_cleaned_and_other_answers_too() {
    let boundary = boundary();
    let log =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x<|im_end|>"}}"#;
    let asked = r#"{"jsonrpc":"2.0","id":"s","method":"elicitation/create","params":{"message":"x<|im_end|>"}}"#;
    for note in [log, asked] {
        let passed = boundary.received(Bytes::from(note));
        assert_eq!(
            text(&passed),
            Some(note.replace("<|im_end|>", "(removed: control token)"))
        );
    }
    let answer = Bytes::from_static(br#"{"jsonrpc":"2.0","id":"s","result":{}}"#);
    assert_eq!(boundary.sent(answer.clone()), answer);
    let prompt = r#"{"messages":[{"role":"user","content":{"type":"text","text":"x<|im_end|>"}}]}"#;
    let passed = boundary
        .exchange(&request(1, "prompts/get", "{}"))
        .received(response("1", prompt));
    assert!(!text(&passed).unwrap().contains("im_end"));
    let passed = boundary
        .exchange(&request(1, "prompts/get", "{}"))
        .received(response("2", prompt));
    assert!(
        text(&passed)
            .unwrap()
            .contains(r#""error":{"code":-32603,"message":"blocked by policy"#)
    );
}

#[test]
fn a_cancellation_names_the_id_that_the_server_knows() {
    let boundary = boundary();
    let cancel = Bytes::from_static(
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
    );
    assert_eq!(boundary.sent(cancel.clone()), cancel);
    let first = sent_id(&boundary.sent(call(7, "say")));
    let sent = String::from_utf8(boundary.sent(cancel.clone()).to_vec()).unwrap();
    assert!(
        sent.contains(&format!(r#""requestId":{first}}}"#)),
        "{sent}"
    );
    assert!(
        boundary
            .received(response(&first, GOOD))
            .message()
            .is_none(),
        "no longer waited for"
    );
    boundary.sent(call(7, "say"));
    boundary.sent(call(7, "say"));
    assert_eq!(
        boundary.sent(cancel).split(|byte| *byte == b'\n').count(),
        2
    );
}

#[test]
fn an_unrecorded_decision_can_be_refused() {
    let boundary = boundary();
    let passed = boundary
        .exchange(&call(2, "say"))
        .received(response("2", GOOD));
    let refused = passed.unrecorded().unwrap();
    let refused = String::from_utf8(refused.to_vec()).unwrap();
    assert!(
        refused.contains("could not be recorded") && refused.contains(r#""id":2"#),
        "{refused}"
    );
}
