//! Gateways that share a PostgreSQL, and the way there from SQLite.

use countersign_fixture::postgres::Cluster;
use serde_json::Value;

use crate::support::gateway::RunningGateway;
use crate::support::{CommandOutput, Folder, binary, finish};

const API_KEY: &str = "cs_a-key-for-both-gateways";
const SIGNING_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn config(url: &str) -> String {
    format!(
        r#"{{"storage": {{"url": "{url}"}}, "api_key": "{API_KEY}", "admin_key": "csa_another-key-for-both",
            "activity": {{"signing_key": "{SIGNING_KEY}"}}, "output_validation": {{"mode": "strict"}}}}"#
    )
}

fn start(folder: &Folder, state: &str) -> RunningGateway {
    let mut command = binary();
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
