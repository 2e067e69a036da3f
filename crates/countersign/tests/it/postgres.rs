//! Gateways that share a PostgreSQL, and the way there from SQLite.

mod builds;
mod kills;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_fixture::postgres::Cluster;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::keys::TwoGateways;
use crate::support::gateway::RunningGateway;
use crate::support::{CommandOutput, Folder, binary, finish};

const API_KEY: &str = "cs_a-key-for-both-gateways";
const SIGNING_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn config(url: &str) -> String {
    format!(
        r#"{{"storage": {{"url": "{url}"}}, "api_key": "{API_KEY}", "admin_key": "csa_another-key-for-both",
            "session_key": "{SIGNING_KEY}", "drain_delay": "1ms",
            "activity": {{"signing_key": "{SIGNING_KEY}"}}, "output_validation": {{"mode": "strict"}}}}"#
    )
}

fn start(folder: &Folder, state: &str) -> RunningGateway {
    start_program(binary(), folder, state)
}

fn start_program(mut command: Command, folder: &Folder, state: &str) -> RunningGateway {
    command.args([
        "serve",
        "--demo",
        "--config",
        "shared.json",
        "--listen",
        "127.0.0.1:0",
    ]);
    command.args(["--data-dir", state]);
    let mut gateway = RunningGateway::launch_with_state(folder, command, state);
    gateway.table();
    gateway
}

fn run(folder: &Folder, line: &str) -> CommandOutput {
    let mut command = binary();
    command.current_dir(folder.path());
    finish(command.args(line.split_whitespace()), b"")
}

fn total(gateway: &RunningGateway, filter: &str) -> u64 {
    let path = format!("/api/v1/activity?total=true&limit=1&{filter}");
    let answer = gateway.curl("GET", &path, API_KEY, "");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a response");
    let body: Value = serde_json::from_str(body).expect("JSON");
    body["total"].as_u64().unwrap_or_else(|| panic!("{body}"))
}

#[test]
#[ignore = "needs PostgreSQL"]
fn two_gateways_write_one_log_and_each_sees_all_of_it_with_postgres() {
    let cluster = Cluster::start();
    let folder = Folder::with(&[("shared.json", &config(&cluster.url()))]);
    let first = start(&folder, "a");
    let calls = total(&first, "type=tool_call");
    assert!(calls > 5, "{calls}");
    let second = start(&folder, "b");
    assert_eq!(total(&first, "type=system_start"), 2);
    for gateway in [&first, &second] {
        assert_eq!(total(gateway, "type=tool_call"), 2 * calls);
    }
    let blocked = total(&second, "status=blocked");
    assert_eq!(blocked, total(&first, "status=blocked"));
    assert!(blocked > 0);
    // A gateway that dies leaves a chain that verifies, and the other one goes on.
    drop(first);
    assert_eq!(total(&second, "type=tool_call"), 2 * calls);
    let third = start(&folder, "a");
    assert_eq!(total(&third, "type=tool_call"), 3 * calls);
    drop(second);
    drop(third);
    let verified = run(&folder, "activity verify --config shared.json --data-dir c");
    assert_eq!(verified.code, Some(0), "{verified}");
}

/// Sends a message of a session; gives the response, head and all.
fn post(gateway: &RunningGateway, session: &str, body: &str) -> String {
    gateway.raw(&message(gateway, session, body))
}

fn message(gateway: &RunningGateway, session: &str, body: &str) -> String {
    let address = gateway.address();
    let length = body.len();
    format!(
        "POST /mcp/all HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {API_KEY}\r\nAccept: application/json\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2025-11-25\r\n{session}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_session_goes_on_at_the_other_gateway_when_its_own_dies_with_postgres() {
    let cluster = Cluster::start();
    let folder = Folder::with(&[("shared.json", &config(&cluster.url()))]);
    let (first, second) = (start(&folder, "a"), start(&folder, "b"));
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"roamer","version":"1"}}}"#;
    let opened = post(&first, "", initialize);
    let session = opened
        .lines()
        .find(|line| line.starts_with("mcp-session-id"));
    let session = format!("{}\r\n", session.expect("a session"));
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let tool = post(&first, &session, list);
    let (_, tool) = tool.split_once(r#""tools":[{"name":""#).expect("a tool");
    let tool = tool.split('"').next().expect("its name");
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#
    );
    for gateway in [&first, &second] {
        let answer = post(gateway, &session, &call);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    drop(first);
    let answer = post(&second, &session, &call);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // One name in the records of both, and the client is known by its own.
    let page = second.curl(
        "GET",
        "/api/v1/activity?type=tool_call&limit=3",
        API_KEY,
        "",
    );
    let (_, page) = page.split_once("\r\n\r\n").expect("a response");
    let page: Value = serde_json::from_str(page).expect("JSON");
    let calls = page["activities"].as_array().expect("a list");
    for call in calls {
        assert_eq!(call["session_id"], calls[0]["session_id"], "{call}");
        assert_eq!(call["client"], "roamer", "{call}");
    }
    let forged = session.replacen("mcp-session-id: ", "mcp-session-id: A", 1);
    let refused = post(&second, &forged, &call);
    assert!(refused.starts_with("HTTP/1.1 404"), "{refused}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn live_events_of_each_gateway_are_heard_at_the_other_with_postgres() {
    let cluster = Cluster::start();
    let folder = Folder::with(&[("shared.json", &config(&cluster.url()))]);
    let gateways = [start(&folder, "a"), start(&folder, "b")];
    for (listening, calling) in [(0, 1), (1, 0)] {
        let [listening, calling] = [&gateways[listening], &gateways[calling]];
        let id = format!("heard-from-{}", calling.process());
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"none","arguments":{{}}}}}}"#
        );
        let events = format!(
            "GET /events HTTP/1.1\r\nHost: {}\r\nX-API-Key: {API_KEY}\r\nAccept: text/event-stream\r\n\r\n",
            listening.address()
        );
        let (request, address) = (message(calling, "", &call), calling.address().to_owned());
        let is_heard = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // The first calls may come before the stream is open.
            scope.spawn(|| {
                while !is_heard.load(Ordering::Relaxed) {
                    let mut stream = TcpStream::connect(&address).expect("it listens");
                    stream.write_all(request.as_bytes()).expect("it reads");
                    stream.read_to_end(&mut Vec::new()).expect("an answer");
                }
            });
            let heard = catch_unwind(AssertUnwindSafe(|| listening.until(&events, &id)));
            is_heard.store(true, Ordering::Relaxed);
            let heard = heard.expect("the call is heard of");
            assert!(heard.starts_with("HTTP/1.1 200"), "{heard}");
        });
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_clock_far_from_the_database_s_makes_a_gateway_unready_with_postgres() {
    let cluster = Cluster::start();
    let folder = Folder::with(&[("shared.json", &config(&cluster.url()))]);
    let migrated = run(&folder, &format!("store migrate {}", cluster.url()));
    assert_eq!(migrated.code, Some(0), "{migrated}");
    // Stands before PostgreSQL's own function, because the store's schema is searched first.
    let set_clock = |offset: &str| {
        cluster.sql(&format!(
            "CREATE OR REPLACE FUNCTION countersign.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
             AS $$ SELECT pg_catalog.clock_timestamp() + interval '{offset}' $$"
        ))
    };
    let ready = |gateway: &RunningGateway| gateway.curl("GET", "/readyz", API_KEY, "");
    // A small difference is a warning.
    let warning = "the clocks of this machine and of the database differ";
    set_clock("-5 seconds");
    let mut gateway = start(&folder, "a");
    if !gateway.said().contains(warning) {
        gateway.hear(warning);
    }
    let answer = ready(&gateway);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(gateway);
    set_clock("90 seconds");
    let gateway = start(&folder, "a");
    let answer = ready(&gateway);
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("the clock differs"), "{answer}");
    let metrics = gateway.curl("GET", "/metrics", API_KEY, "");
    let skew = metrics
        .lines()
        .find_map(|line| line.strip_prefix("countersign_clock_skew_seconds "));
    let skew: f64 = skew.expect("a gauge").parse().expect("a number");
    assert!((80.0..100.0).contains(&skew), "{skew}");
    set_clock("0 seconds");
    RunningGateway::wait_for(|| ready(&gateway).starts_with("HTTP/1.1 200"));
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_gateway_that_stops_says_so_before_it_takes_nothing_new_with_postgres() {
    let cluster = Cluster::start();
    let text = config(&cluster.url()).replace("1ms", "1h");
    let folder = Folder::with(&[("shared.json", &text)]);
    let gateway = start(&folder, "a");
    let process = i32::try_from(gateway.process()).expect("a process id");
    let signal = || {
        let process = Pid::from_raw(process).expect("a process");
        kill_process(process, Signal::TERM).expect("it runs");
    };
    let ready = || gateway.curl("GET", "/readyz", API_KEY, "");
    assert!(ready().starts_with("HTTP/1.1 200"));
    signal();
    RunningGateway::wait_for(|| ready().starts_with("HTTP/1.1 503"));
    // Calls are still answered, each by a connection of its own.
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let request = format!(
        "POST /mcp/all HTTP/1.1\r\nHost: {}\r\nX-API-Key: {API_KEY}\r\nContent-Length: {}\r\n\r\n{list}",
        gateway.address(),
        list.len()
    );
    let answer = gateway.raw(&request);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
    // The second signal ends the wait.
    signal();
    assert_eq!(gateway.wait().code, Some(0));
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_log_moves_from_sqlite_with_its_chains_with_postgres() {
    let cluster = Cluster::start();
    let folder = Folder::with(&[("own.json", "{}"), ("shared.json", &config(&cluster.url()))]);
    let mut command = binary();
    command.args([
        "serve",
        "--demo",
        "--config",
        "own.json",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        "a",
    ]);
    let mut gateway = RunningGateway::launch_with_state(&folder, command, "a");
    gateway.table();
    let blocked =
        gateway.json("/api/v1/activity?status=blocked&total=true&limit=1")["total"].clone();
    drop(gateway);
    let copy = format!(
        "store copy sqlite: {} --config own.json --data-dir a",
        cluster.url()
    );
    let copied = run(&folder, &copy);
    assert_eq!(copied.code, Some(0), "{copied}");
    assert!(copied.stdout.contains("the chains hold"), "{copied}");
    let again = run(&folder, &copy);
    assert!(again.stdout.contains("1 chains, 0 of them new"), "{again}");
    // With the key that signed it, the log is verified and asked like any other.
    let key =
        std::fs::read_to_string(folder.path().join("a/signing_keys.pub")).expect("the public key");
    let verify = format!(
        "activity verify --config shared.json --data-dir b --key {}",
        key.trim()
    );
    let verified = run(&folder, &verify);
    assert_eq!(verified.code, Some(0), "{verified}");
    let listed = run(
        &folder,
        "activity list --config shared.json --data-dir b --status blocked -n 1000 -o json",
    );
    let listed: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    assert_eq!(
        listed["activities"].as_array().map(Vec::len),
        blocked.as_u64().map(|n| usize::try_from(n).expect("few"))
    );
}

#[test]
#[ignore = "needs PostgreSQL"]
fn doctor_and_config_show_know_the_database_and_not_its_password_with_postgres() {
    let cluster = Cluster::start();
    let url = cluster
        .url()
        .replace("postgres@", "postgres:hunter2hunter2@");
    let folder = Folder::with(&[("shared.json", &config(&url))]);
    let empty = run(&folder, "doctor --config shared.json --data-dir a");
    assert!(empty.stdout.contains("cannot be used"), "{empty}");
    let migrated = run(&folder, &format!("store migrate {url}"));
    assert!(migrated.stdout.contains("made or migrated"), "{migrated}");
    let checked = run(&folder, "doctor --config shared.json --data-dir a");
    assert!(checked.stdout.contains("no records yet"), "{checked}");
    let shown = run(&folder, "config show --config shared.json");
    assert!(
        shown.stdout.contains("postgres://[redacted]@127.0.0.1"),
        "{shown}"
    );
    for output in [&empty, &migrated, &checked, &shown] {
        assert!(!output.to_string().contains("hunter2"), "{output}");
    }
}

#[test]
fn keys_that_would_be_generated_are_refused_with_a_shared_database() {
    let url = "postgres://ada:hunter2hunter2@localhost:1/x?sslmode=disable";
    let text = format!(r#"{{"storage": {{"url": "{url}"}}}}"#);
    let folder = Folder::with(&[("shared.json", &text)]);
    let refused = run(
        &folder,
        "serve --config shared.json --data-dir a --listen 127.0.0.1:0",
    );
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(
        refused.stderr.contains("activity.signing_key must be set"),
        "{refused}"
    );
    let folder = Folder::with(&[("shared.json", &config(url))]);
    let refused = run(
        &folder,
        "serve --config shared.json --data-dir a --listen 127.0.0.1:0",
    );
    assert!(
        refused
            .stderr
            .contains("postgres://[redacted]@localhost:1/x"),
        "{refused}"
    );
    assert!(!refused.to_string().contains("hunter2"), "{refused}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_key_is_revoked_for_every_gateway_with_postgres() {
    let cluster = Cluster::start();
    let settings: Value = serde_json::from_str(&config(&cluster.url())).expect("JSON");
    TwoGateways::start(&settings).revoke();
}
