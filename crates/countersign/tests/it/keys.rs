//! `keys add`, `list` and `revoke`: in the file, and in the gateway that runs with it.

use countersign_audit::{Options, Reader};
use countersign_config::{CallerConfig, CallerCredential};
use serde_json::{Value, json};

use crate::support::gateway::RunningGateway;
use crate::support::{CommandOutput, Folder, binary};

const FILE: &str = "{\n  \"require_mcp_auth\":   true,\n  \"mcpServers\": {}\n}\n";

/// The key that `keys add` shows.
fn shown(output: &CommandOutput) -> &str {
    let key = output.stdout.lines().next().expect("a line");
    assert!(key.starts_with("cs_") && key.len() == 51, "{output}");
    key
}

#[test]
fn a_key_is_shown_once_and_the_file_has_only_its_digest() {
    let folder = Folder::with(&[("c.json", FILE)]);
    let added = folder.run_on_file(&[
        "keys",
        "add",
        "ci",
        "--group",
        "build",
        "--expires",
        "90d",
        "--read",
    ]);
    assert_eq!(added.code, Some(0), "{added}");
    let key = shown(&added);
    let text = folder.file();
    assert!(text.starts_with(&FILE[..FILE.len() - 3]), "{text}");
    assert!(!text.contains(key), "{text}");
    assert!(text.contains(r#"{"name": "ci", "key_sha256": ""#), "{text}");
    let config: Value = serde_json::from_str(&text).expect("JSON");
    let entry = &config["callers"][0];
    assert_eq!(entry["name"], "ci");
    assert_eq!(entry["groups"][0], "build");
    assert_eq!(entry["rights"], serde_json::json!(["call", "read"]));
    let digest = entry["key_sha256"].as_str().expect("a digest");
    let listed = folder.run_on_file(&["keys", "list", "-o", "json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    assert_eq!(listed["caller"], "key:ci");
    assert_eq!(listed["key_sha256_begins"], digest[..8]);
    let table = folder.run_on_file(&["keys", "list"]);
    assert!(table.stdout.contains("key:ci") && !table.stdout.contains(digest));

    let again = folder.run_on_file(&["keys", "add", "ci"]);
    assert_eq!(
        (again.code, again.stdout.as_str()),
        (Some(2), ""),
        "{again}"
    );
    for wrong in [["add", "operator"], ["add", "No Name"]] {
        let refused = folder.run_on_file(&["keys", wrong[0], wrong[1]]);
        assert_eq!(refused.code, Some(2), "{refused}");
    }
    let late = folder.run_on_file(&["keys", "add", "b", "--expires", "2020-01-01T00:00:00Z"]);
    assert_eq!(late.code, Some(2), "{late}");
    assert_eq!(folder.file(), text);

    assert_eq!(folder.run_on_file(&["keys", "revoke", "cj"]).code, Some(1));
    assert_eq!(folder.run_on_file(&["keys", "revoke", "ci"]).code, Some(0));
    assert!(!folder.file().contains("key_sha256"));
}

#[test]
fn an_entry_is_printed_for_a_file_that_is_not_written_here() {
    let folder = Folder::with(&[("c.json", FILE)]);
    let printed = folder.run_on_file(&["keys", "add", "ci", "--print"]);
    assert_eq!(printed.code, Some(0), "{printed}");
    let key = shown(&printed);
    let entry = printed.stdout.lines().nth(1).expect("an entry");
    let entry: Value = serde_json::from_str(entry).expect("JSON");
    assert_eq!(entry["name"], "ci");
    assert!(!entry.to_string().contains(key));
    assert_eq!(folder.file(), FILE);
}

#[test]
fn a_running_gateway_takes_a_key_and_loses_it() {
    let folder = Folder::with(&[("c.json", FILE)]);
    let gateway = RunningGateway::start(&folder, "serve --config c.json");
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let added = folder.run_on_file(&["keys", "add", "ci"]);
    assert!(added.stdout.contains("it is in force"), "{added}");
    let key = shown(&added);
    let answer = gateway.curl("POST", "/mcp", key, list);
    assert!(answer.contains("\"tools\""), "{answer}");
    let revoked = folder.run_on_file(&["keys", "revoke", "key:ci"]);
    assert_eq!(revoked.code, Some(0), "{revoked}");
    let answer = gateway.curl("POST", "/mcp", key, list);
    assert!(answer.contains("a valid API key is required"), "{answer}");
}

/// Two gateways on one database, each with a file of its own that names the same caller.
pub(crate) struct TwoGateways {
    folder: Folder,
    key: String,
    gateways: [RunningGateway; 2],
}

impl TwoGateways {
    /// `settings`: what both files have beside the caller, which is where the database is.
    pub(crate) fn start(settings: &Value) -> Self {
        let folder = Folder::with(&[("c.json", &settings.to_string())]);
        let added = folder.run_on_file(&["keys", "add", "ci", "--read"]);
        let key = shown(&added).to_owned();
        std::fs::write(folder.path().join("other.json"), folder.file()).expect("written");
        let gateways = [("c.json", "data"), ("other.json", "data2")].map(|(file, state)| {
            let mut command = binary();
            command.args(["serve", "--config", file, "--data-dir", state]);
            command.args(["--listen", "127.0.0.1:0"]);
            RunningGateway::launch_with_state(&folder, command, state)
        });
        Self {
            folder,
            key,
            gateways,
        }
    }

    /// Revokes the key where the first gateway runs: the second one closes its stream and refuses it.
    pub(crate) fn revoke(self) {
        let Self {
            folder,
            key,
            gateways,
        } = self;
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        for gateway in &gateways {
            let answer = gateway.curl("POST", "/mcp", &key, list);
            assert!(answer.contains("\"tools\""), "{answer}");
        }
        let streams = gateways
            .iter()
            .map(|gateway| gateway.begin("GET", "/events", &key, "").await_answer())
            .collect::<Vec<_>>();
        let revoked = folder.run_on_file(&["keys", "revoke", "ci", "-o", "json"]);
        let value: Value = serde_json::from_str(&revoked.stdout).expect("JSON");
        assert_eq!(revoked.code, Some(0), "{revoked}");
        assert_eq!(value["in_store"], true, "{revoked}");
        for (stream, gateway) in streams.into_iter().zip(&gateways) {
            let heard = stream.finish();
            assert!(heard.starts_with("HTTP/1.1 200"), "{heard}");
            let answer = gateway.curl("POST", "/mcp", &key, list);
            assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        }
        let other = std::fs::read_to_string(folder.path().join("other.json")).expect("a file");
        assert!(other.contains("key_sha256"), "the other file is as it was");
        // A new key for the same name is another key.
        let added = folder.run_on_file(&["keys", "add", "ci"]);
        let answer = gateways[0].curl("POST", "/mcp", shown(&added), list);
        assert!(answer.contains("\"tools\""), "{answer}");
    }
}

#[test]
fn a_key_is_revoked_for_every_process_on_one_database() {
    let place = tempfile::tempdir().expect("a folder");
    let database = format!("sqlite:{}", place.path().join("shared.db").display());
    TwoGateways::start(&json!({"storage": {"url": database}, "mcpServers": {}})).revoke();
}

/// Without a gateway the row is written directly, and a gateway that starts later with another file reads it.
#[test]
fn a_key_that_was_revoked_while_no_gateway_ran_is_refused_at_the_next_start() {
    let place = tempfile::tempdir().expect("a folder");
    let database = format!("sqlite:{}", place.path().join("shared.db").display());
    let settings = json!({"storage": {"url": database}, "mcpServers": {}});
    let TwoGateways {
        folder,
        key,
        gateways: [first, second],
    } = TwoGateways::start(&settings);
    drop((first, second));
    let revoked = folder.run_on_file(&["keys", "revoke", "ci"]);
    assert_eq!(revoked.code, Some(0), "{revoked}");
    let mut command = binary();
    command.args(["serve", "--config", "other.json", "--data-dir", "data2"]);
    command.args(["--listen", "127.0.0.1:0"]);
    let gateway = RunningGateway::launch_with_state(&folder, command, "data2");
    let answer = gateway.curl("GET", "/api/v1/servers", &key, "");
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    // A database that cannot be written is said: the file is changed all the same.
    let broken = settings.to_string().replace("shared.db", "none/shared.db");
    let folder = Folder::with(&[("c.json", &broken)]);
    folder.run_on_file(&["keys", "add", "ci"]);
    std::fs::create_dir_all(place.path().join("none/shared.db")).expect("a folder");
    let revoked = folder.run_on_file(&["keys", "revoke", "ci"]);
    assert_eq!(revoked.code, Some(3), "{revoked}");
    assert!(!folder.file().contains("key_sha256"), "{revoked}");
    assert!(revoked.stderr.contains("other gateways"), "{revoked}");
}

#[test]
fn a_certificate_is_revoked_in_the_store_and_its_caller_leaves_the_file() {
    let callers = json!([{"name": "mesh", "certificate": "spiffe://example.com/agent"}]);
    let settings = json!({"callers": callers, "mcpServers": {}});
    let folder = Folder::with(&[("c.json", &settings.to_string())]);
    let mut command = binary();
    command.args(["serve", "--config", "c.json", "--data-dir", "data"]);
    command.args(["--listen", "127.0.0.1:0"]);
    let _gateway = RunningGateway::launch_with_state(&folder, command, "data");
    let mesh = CallerConfig {
        name: "mesh".to_owned(),
        credential: CallerCredential::Certificate("spiffe://example.com/agent".to_owned()),
        groups: Vec::new(),
        rights: Vec::new(),
        expires: None,
    };
    let digest = mesh.revocation_digest();
    let store = Reader::open(&Options::new(folder.path().join("data"))).expect("a store");
    assert!(store.revoked(&[digest]).expect("read").is_empty());
    let revoked = folder.run_on_file(&["keys", "revoke", "cert:mesh", "-o", "json"]);
    let value: Value = serde_json::from_str(&revoked.stdout).expect("JSON");
    assert_eq!((revoked.code, &value["in_store"]), (Some(0), &json!(true)));
    assert!(!folder.file().contains("spiffe:"), "{}", folder.file());
    assert_eq!(store.revoked(&[digest]).expect("read"), [digest]);
}
