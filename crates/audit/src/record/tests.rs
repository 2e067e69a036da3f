use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;

use super::bound::MAX_NAME;
use super::indexed_fields::IndexedFields;
use super::*;
use crate::id::Generator;

fn id(millis: u64) -> Ulid {
    let new = Generator::default().next(Timestamp::from_millis(millis), || [3; 10]);
    new.id
}

#[test]
fn a_record_has_the_time_of_the_clock_after_it_was_set_ahead_and_back() {
    let mut generator = Generator::default();
    let records = [1000, 9_000_000, 1001, 1002].map(|millis| {
        let new = generator.next(Timestamp::from_millis(millis), || [3; 10]);
        Record::new(new, Kind::ToolCall, Outcome::Success)
    });
    let times = records
        .each_ref()
        .map(|record| record.timestamp.as_millis());
    assert_eq!(times, [1000, 9_000_000, 1001, 1002]);
    assert!(records.is_sorted_by(|a, b| a.id() < b.id()));
}

fn finding(rule: &str) -> Finding {
    Finding {
        stage: Stage::Contract,
        rule: rule.to_owned().into(),
        severity: Severity::Violation,
        instance_pointer: Some("/id".into()),
        schema_pointer: None,
        expected: Some("integer".into()),
        actual: Some("string".into()),
        detail: None,
        hit: None,
    }
}

#[test]
fn a_decision_and_its_status_agree() {
    for decision in Decision::ALL.iter().copied() {
        let record = Record::decided(id(1), decision);
        assert_eq!(record.decision(), Some(decision));
        if decision != Decision::Allowed {
            assert_eq!(record.status().as_str(), decision.as_str());
        }
    }
    let odd = Record::new(id(1), Kind::PolicyDecision, Outcome::Rejected);
    assert_eq!(
        (odd.decision(), odd.status()),
        (Some(Decision::Blocked), Status::Blocked)
    );
    let call = Record::new(id(1), Kind::ToolCall, Outcome::Rejected);
    assert_eq!((call.decision(), call.status()), (None, Status::Rejected));
}

#[test]
fn body_is_versioned_ordered_and_reads_back() {
    let mut record = Record::decided(id(1_785_283_200_001), Decision::Blocked);
    record.server = Some("stub".into());
    record.tool = Some("bad_output".into());
    record.mode = Some(Mode::Strict);
    record.reason = Some("type at /id".into());
    record.duration_ms = Some(Duration::from_micros(12_345).into());
    record.findings = vec![finding("schema.type")];
    let body = body::Body::encode(&mut record).expect("encodes");
    let text = std::str::from_utf8(body.as_bytes()).expect("UTF-8");
    assert_eq!(
        text,
        concat!(
            r#"{"v":1,"id":"01KYNJQH010C1G60R30C1G60R3","type":"policy_decision","timestamp":"2026-07-29T00:00:00.001Z","duration_ms":12.345,"#,
            r#""source":"mcp","server":"stub","tool":"bad_output","status":"blocked","decision":"blocked","reason":"type at /id","mode":"strict","#,
            r#""findings":[{"stage":"contract","rule":"schema.type","severity":"violation","instance_pointer":"/id","schema_pointer":null,"expected":"integer","actual":"string","detail":null}]}"#
        )
    );
    assert_eq!(body::decode(body.as_bytes()).expect("decodes"), record);
}

#[test]
fn an_unknown_version_is_refused() {
    let mut record = Record::new(id(1), Kind::ToolCall, Outcome::Success);
    let body = body::Body::encode(&mut record).expect("encodes");
    let newer = String::from_utf8(body.as_bytes().to_vec())
        .expect("UTF-8")
        .replace("\"v\":1,", "\"v\":2,");
    assert!(matches!(
        body::decode(newer.as_bytes()),
        Err(DecodeError::Version)
    ));
    assert!(matches!(
        body::decode(b"{\"v\":1,}"),
        Err(DecodeError::Json(_))
    ));
}

#[test]
fn nothing_is_stored_without_a_bound() {
    let mut record = Record::new(id(1), Kind::ToolCall, Outcome::Success);
    record.tool = Some("ü".repeat(10_000));
    record.reason = Some("r".repeat(1_000_000));
    record.findings = (0..1000).map(|_| finding(&"x".repeat(5000))).collect();
    let body = body::Body::encode(&mut record).expect("encodes");
    assert!(
        body.as_bytes().len() < 64 * 1024,
        "{}",
        body.as_bytes().len()
    );
    assert_eq!(record.findings.len(), MAX_FINDINGS);
    assert_eq!(record.findings_left_out(), 1000 - MAX_FINDINGS as u64);
    assert!(
        record
            .tool
            .as_deref()
            .is_some_and(|t| t.len() <= MAX_NAME && t.ends_with('…'))
    );
    assert_eq!(body::decode(body.as_bytes()).expect("decodes"), record);
}

#[test]
fn durations_round_trip_to_the_microsecond() {
    for micros in [0, 1, 999, 1000, 12_345, 60_000_001, 86_400_000_000] {
        let millis = Millis::from(Duration::from_micros(micros));
        let text = serde_json::to_string(&millis).expect("encodes");
        assert_eq!(
            serde_json::from_str::<Millis>(&text).expect("decodes"),
            millis,
            "{text}"
        );
    }
}

#[test]
fn only_contract_violations_of_decisions_count_as_rejections() {
    let mut decision = Record::decided(id(1), Decision::Flagged);
    assert!(!decision.is_contract_rejection());
    decision.findings = vec![finding("schema.type")];
    assert!(decision.is_contract_rejection());
    let mut call = Record::new(id(1), Kind::ToolCall, Outcome::Success);
    call.findings = vec![finding("schema.type")];
    assert!(!call.is_contract_rejection());
}

fn word() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(prop_oneof![
        "[a-z_]{0,12}",
        "[\\x00-\\x7f]{0,12}",
        "\\PC{0,8}"
    ])
}

fn kept(text: Option<String>) -> Option<Payload> {
    let policy = PayloadPolicy::new(Payloads::Full, 1000, Redactor::default());
    policy.capture(text?.as_bytes(), true)
}

/// Records with everything a record can have, and mostly with little of it.
fn records() -> impl Strategy<Value = Record> {
    let outcomes = [Outcome::Success, Outcome::Error, Outcome::Rejected];
    let modes = [Mode::Off, Mode::Warn, Mode::Strict];
    let closed = (
        select(Kind::ALL),
        select(outcomes.to_vec()),
        select(Source::ALL),
        proptest::option::of(select(modes.to_vec())),
        proptest::option::of(select(Decision::ALL)),
    );
    let words = proptest::collection::vec(word(), 9);
    let payloads = proptest::option::weighted(0.1, "\\PC{0,8}");
    let numbers = proptest::collection::vec(proptest::option::of(any::<u64>()), 5);
    let findings = prop_oneof![4 => Just(0_usize), 1 => 1_usize..70];
    let rest = (
        payloads,
        findings,
        any::<bool>(),
        proptest::bool::weighted(0.1),
    );
    (closed, words, numbers, rest).prop_map(|(closed, words, numbers, rest)| {
        let (kind, outcome, source, mode, decision) = closed;
        let (payload, findings, validated, opens) = rest;
        let mut words = words.into_iter();
        let mut word = || words.next().flatten();
        let mut record = match decision {
            Some(decision) => Record::decided(id(1), decision),
            None => Record::new(id(1), kind, outcome),
        };
        (record.source, record.mode, record.validated) = (source, mode, validated);
        record.duration_ms = numbers[0].map(|micros| Duration::from_micros(micros >> 20).into());
        (record.server, record.tool, record.client) = (word(), word(), word());
        (record.session_id, record.request_id, record.reason) = (word(), word(), word());
        (record.schema_digest, record.payload_digest) = (word(), word());
        record.caller = word();
        (record.request, record.response) = (kept(payload.clone()), kept(payload));
        record.parent_id = numbers[1].map(|at| id(at % (1 << 40)));
        (record.schema_generation, record.request_bytes) = (numbers[2], numbers[3]);
        record.response_bytes = numbers[4].map(|bytes| bytes >> 40);
        record.findings = vec![finding("schema.type"); findings];
        record.opening = opens.then(|| Opening {
            chain_id: id(2),
            previous: None,
            key: "k\"".into(),
            version: "v".into(),
            heads: Some(Vec::new()),
            checkpoint_records: Some(1000),
        });
        record
    })
}

proptest! {
    /// What is written by hand is what the derived serialiser writes, after the version.
    #[test]
    fn the_body_is_the_record_as_it_serialises(mut record in records()) {
        let body = body::Body::encode(&mut record).expect("encodes");
        let derived = serde_json::to_string(&record).expect("encodes");
        let body = std::str::from_utf8(body.as_bytes()).expect("UTF-8");
        prop_assert_eq!(body, format!("{{\"v\":1,{}", &derived[1..]));
    }

    /// What a glance sees, the decoder sees too, also where the bytes were changed.
    #[test]
    fn a_glance_sees_nothing_else(mut record in records(), at in any::<prop::sample::Index>(), by in any::<u8>(), cut in any::<bool>()) {
        let body = body::Body::encode(&mut record).expect("encodes");
        let mut bytes = body.as_bytes().to_vec();
        let same = |bytes: &[u8]| {
            let Some(seen) = IndexedFields::plain(bytes) else { return };
            let decoded = body::decode(bytes).expect("what a glance reads can be decoded");
            assert_eq!(seen, IndexedFields::from(&decoded));
        };
        same(&bytes);
        let at = at.index(bytes.len());
        if cut {
            bytes.remove(at);
        } else {
            bytes[at] = by;
        }
        same(&bytes);
    }
}

#[test]
fn an_ordinary_call_is_read_at_a_glance() {
    let mut record = Record::new(id(1_785_283_200_001), Kind::ToolCall, Outcome::Success);
    record.server = Some("files".into());
    record.tool = Some("read".into());
    record.request_id = Some("1".into());
    record.duration_ms = Some(Duration::from_micros(12_345).into());
    record.mode = Some(Mode::Strict);
    record.validated = true;
    record.schema_generation = Some(1);
    record.payload_digest = Some("00ff".into());
    record.request_bytes = Some(0);
    record.response_bytes = Some(1024);
    let body = body::Body::encode(&mut record).expect("encodes");
    assert_eq!(
        IndexedFields::plain(body.as_bytes()),
        Some(IndexedFields::from(&record))
    );
}
