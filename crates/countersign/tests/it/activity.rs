//! `activity`, `servers` and `tools` against a running gateway, and `activity` against the store it left.

use rustix::process::Signal;

use crate::support::Folder;
use crate::support::gateway::RunningGateway;

#[test]
fn the_same_records_are_found_with_and_without_a_gateway() {
    let folder = Folder::with(&[]);
    let mut gateway = RunningGateway::start(&folder, "serve --demo");
    gateway.table();
    let listed = folder.countersign(
        "activity list --type policy_decision --status blocked --data-dir data -o jsonl",
    );
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert_eq!(listed.stdout.lines().count(), 3);
    let blocked = folder.countersign("activity list --status blocked --data-dir data -o jsonl");
    assert_eq!(blocked.stdout, listed.stdout);
    let oldest = listed.stdout.lines().last().expect("a record");
    let id: serde_json::Value = serde_json::from_str(oldest).expect("JSON");
    let id = id["id"].as_str().expect("an id").to_owned();
    let shown = folder.countersign(&format!("activity show {id} --data-dir data"));
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    for line in [
        "tool               stub:bad_output",
        "mode               strict",
        "decision           blocked",
        "reason             output schema validation failed: type at /id: expected integer, got string (tool stub:bad_output)",
        "schema_digest      ",
        "finding            contract schema.type (violation)",
        "  instance_pointer /id",
        "  schema_pointer   /properties/id/type",
        "  expected         integer",
        "  actual           string",
    ] {
        assert!(shown.stdout.contains(line), "{line} in {}", shown.stdout);
    }
    assert!(shown.stdout.starts_with("reason  "), "why comes first");
    // The beginning of an id is enough if no other id begins so. Later ids are greater, so this one stays unique.
    let all = folder.countersign("activity list -n 1000 --data-dir data -o jsonl");
    let (first, short) = oldest_and_its_beginning(&all.stdout);
    let whole = folder.countersign(&format!("activity show {first} --data-dir data"));
    let by_prefix = folder.countersign(&format!("activity show {short} --data-dir data"));
    assert_eq!(by_prefix.code, Some(0), "{by_prefix}");
    assert_eq!(by_prefix.stdout, whole.stdout);
    let ran = folder.countersign(&format!("activity show {} --data-dir data", &id[..4]));
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(
        ran.stderr
            .contains("several records have an id that begins with"),
        "{ran}"
    );
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    let offline = folder.countersign(&format!("activity show {short} --data-dir data"));
    assert_eq!(offline.stdout, whole.stdout, "{}", offline.stderr);
    let ran = folder.countersign("activity show 01 --data-dir data");
    assert_eq!(ran.code, Some(2), "too short: {ran}");

    let offline = folder.countersign("activity list --status blocked --data-dir data -o jsonl");
    assert_eq!(offline.code, Some(0), "{}", offline.stderr);
    assert_eq!(offline.stdout, listed.stdout);
    let shown_offline = folder.countersign(&format!("activity show {id} --data-dir data"));
    assert_eq!(shown_offline.stdout, shown.stdout);
}

/// The oldest id of these records, and as much of it as no other id begins with. Ids of one millisecond differ in the last
/// character only; the start of a gateway is long before the first call.
fn oldest_and_its_beginning(records: &str) -> (String, String) {
    let id = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        record["id"].as_str().expect("an id").to_owned()
    };
    let mut ids: Vec<String> = records.lines().map(id).collect();
    ids.sort();
    let same = ids[0].bytes().zip(ids[1].bytes());
    let same = same.take_while(|(one, other)| one == other).count();
    let short = ids[0][..=same].to_owned();
    assert!(short.len() < ids[0].len(), "{ids:?}");
    (ids.swap_remove(0), short)
}

#[test]
fn servers_and_tools_are_asked_of_the_running_gateway() {
    let folder = Folder::with(&[]);
    let mut gateway = RunningGateway::start(&folder, "serve --demo");
    gateway.table();
    let servers = folder.countersign("servers list --data-dir data");
    insta::assert_snapshot!(servers, @"
    exit: 0
    --- stdout
    server  state  tools  output schemas  enforceable
    stub    up     11     9               9
    --- stderr
    ");
    let tools = folder.countersign("tools list --data-dir data");
    assert!(
        tools
            .stdout
            .contains("stub:conforming          call_tool_read  yes"),
        "{}",
        tools.stdout
    );
    let called = folder.countersign("tools call stub:conforming --data-dir data");
    assert_eq!(called.code, Some(0), "{}", called.stderr);
    assert!(
        called.stdout.contains("  \"score\": 1.0") && !called.stdout.contains("jsonrpc"),
        "a result reads well: {called}"
    );
    let called = folder.countersign("tools call stub:conforming -o json --data-dir data");
    assert!(called.stdout.contains(r#""score":1.0"#), "{called}");
    assert!(called.stdout.contains(r#""jsonrpc":"2.0""#), "{called}");
    let blocked = folder.countersign("tools call stub:bad_output --data-dir data");
    assert_eq!(blocked.code, Some(1));
    assert!(
        blocked.stdout.contains("output schema validation failed")
            && blocked.stderr.contains("this is an error result"),
        "{blocked}"
    );
    let unknown = folder.countersign("tools call nobody:x --data-dir data");
    assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    let without_gateway = folder.countersign("servers list --data-dir data");
    assert_eq!(without_gateway.code, Some(3));
    assert!(
        without_gateway
            .stderr
            .contains("hint: start one with `countersign serve`"),
        "{}",
        without_gateway.stderr
    );
}

#[test]
fn a_key_that_is_not_the_gateways_is_said_to_be_wrong() {
    let folder = Folder::with(&[]);
    let gateway = RunningGateway::start(&folder, "serve");
    let other = folder.path().join("other");
    std::fs::create_dir(&other).expect("a folder");
    let announced = other.join("address");
    std::fs::copy(folder.path().join("data/address"), &announced).expect("a copy");
    // As the gateway keeps its own.
    let announced = std::fs::File::open(announced).expect("a file");
    announced.lock().expect("locked");
    let key = format!("cs_{}", "0".repeat(64));
    std::fs::write(other.join("api_key"), key).expect("a file");
    for command in [
        "servers list",
        "activity list",
        "activity watch",
        "activity export",
    ] {
        let ran = folder.countersign(&format!("{command} --data-dir other"));
        assert_eq!(ran.code, Some(2), "{command}: {ran}");
        assert!(
            ran.stderr
                .starts_with("error: the gateway does not accept this key\nhint: the key is "),
            "{command}: {ran}"
        );
    }
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

#[test]
fn a_format_after_o_is_a_format_and_no_file() {
    let folder = Folder::with(&[]);
    let gateway = RunningGateway::start(&folder, "serve");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    let export =
        |line: &str| folder.countersign(&format!("activity export {line} --data-dir data"));
    let (short, long) = (export("-o csv"), export("--format csv"));
    assert_eq!(short.code, Some(0), "{short}");
    assert!(short.stdout.lines().count() > 1, "{short}");
    assert_eq!(short.stdout, long.stdout);
    assert!(!folder.path().join("csv").exists());
    assert_eq!(export("--format sarif -o csv").code, Some(2), "two formats");
    let ran = export("-o json");
    assert!(ran.stderr.contains("unknown format `json`"), "{ran}");
    assert_eq!(export("--format csv -o ./csv").code, Some(0));
    let file = std::fs::read_to_string(folder.path().join("csv")).expect("a file");
    assert_eq!(file, long.stdout);
}

#[test]
fn mistakes_are_named() {
    let folder = Folder::with(&[]);
    let ran = folder.countersign("activity list --status block --data-dir data");
    insta::assert_snapshot!(ran, @"
    exit: 2
    --- stdout
    --- stderr
    error: unknown status `block`; allowed: success, error, rejected, flagged, rewritten, blocked; did you mean `blocked`?
    ");
    let ran = folder.countersign("activity list --data-dir data");
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("hint: check the data directory"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_record_that_is_not_there_is_a_no() {
    let folder = Folder::with(&[]);
    let gateway = RunningGateway::start(&folder, "serve");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    let ran = folder.countersign("activity show 01ARZ3NDEKTSV4RRFFQ69G5FAV --data-dir data");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("there is no record 01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        "{}",
        ran.stderr
    );
}
