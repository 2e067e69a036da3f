//! Fills a data directory with records of a week, to see how readers of a large store fare: `fill_store DIR RECORDS`.

use std::time::Duration;

use countersign_audit::{
    Decision, Evidence, Finding, Kind, Mode, Options, Outcome, Record, Retention, Severity, Stage,
    Store, Timestamp,
};

const WEEK: Duration = Duration::from_hours(7 * 24);
/// Records of one commit.
const STEP: u64 = 500;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().expect("a directory");
    let wanted: u64 = arguments
        .next()
        .and_then(|count| count.parse().ok())
        .expect("a number of records");
    let mut options = Options::new(std::path::Path::new(&dir));
    options.retention = Retention::FOR_EVER;
    let store = Store::open(&options).expect("the store opens");
    let now = Timestamp::now();
    let begin = now.before(WEEK).as_millis();
    let step = (now.as_millis() - begin).checked_div(wanted).unwrap_or(0);
    let (mut written, mut calls) = (0, 0);
    while written < wanted {
        let mut records: Vec<Record> = Vec::new();
        while u64::try_from(records.len()).is_ok_and(|length| length < STEP.min(wanted - written)) {
            let at = begin + step * (written + u64::try_from(records.len()).unwrap_or(0));
            records.extend(call(&store, calls, Timestamp::from_millis(at)));
            calls += 1;
        }
        written += u64::try_from(records.len()).unwrap_or(0);
        let evidence = store.commit_blocking((), records).evidence();
        assert_eq!(evidence, Evidence::Committed);
    }
    while store.stats().indexed < *store.latest().borrow() {
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A call of one of many tools. One in 20 breaks its contract, one in 200 was blocked for that.
fn call(store: &Store, number: u64, at: Timestamp) -> Vec<Record> {
    let mut call = Record::new(store.next_id(), Kind::ToolCall, Outcome::Success);
    call.timestamp = at;
    call.server = Some(format!("server{}", number % 5));
    call.tool = Some(format!("tool{}", number % 37));
    call.client = Some("agent 1.0".to_owned());
    call.caller = Some("key:client".to_owned());
    call.request_id = Some(number.to_string());
    call.mode = Some(Mode::Warn);
    call.validated = true;
    call.duration_ms = Some(Duration::from_micros(900 + number % 5000).into());
    call.request_bytes = Some(180);
    call.response_bytes = Some(900);
    let decision = match number {
        number if number.is_multiple_of(200) => Decision::Blocked,
        number if number.is_multiple_of(20) => Decision::Flagged,
        _ => return vec![call],
    };
    let mut decided = Record::decided(store.next_id(), decision);
    decided.timestamp = at;
    decided.server.clone_from(&call.server);
    decided.tool.clone_from(&call.tool);
    decided.parent_id = Some(call.id());
    decided.request_id.clone_from(&call.request_id);
    decided.mode = Some(Mode::Warn);
    decided.reason = Some(
        "output schema validation failed: type at /id: expected integer, got string".to_owned(),
    );
    decided.findings = vec![
        Finding::new(Stage::Contract, "schema.type", Severity::Violation)
            .with_instance_pointer("/id")
            .with_schema_pointer("/properties/id/type")
            .expecting("integer", "string"),
    ];
    vec![call, decided]
}
