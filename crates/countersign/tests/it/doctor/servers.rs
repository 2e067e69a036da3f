//! Servers that cannot be started, cannot be spoken to, or declare what cannot be enforced.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::{demo, error, green, home, shell};
use crate::support::home::{OURS, fixture};

#[test]
fn what_cannot_be_enforced_is_said() {
    let server = json!({"command": fixture(), "args": ["stdio", "--preset", "fidelity"]});
    let home = home(&json!({"mcpServers": {"odd": server}}));
    let ran = home.run("doctor");
    assert_eq!(ran.code, Some(0), "a warning is no error: {ran}");
    let said = "warning  server       odd: the output schema of external_ref cannot be enforced: external $ref is never fetched";
    assert!(ran.stdout.contains(said), "{ran}");
}

#[test]
fn a_server_with_oauth_is_not_checked_without_a_gateway() {
    // No server listens there, and none is asked.
    let server = json!({"url": "http://127.0.0.1:9/mcp", "oauth": {}});
    let home = home(&json!({"mcpServers": {"crm": server}}));
    let ran = home.run("doctor");
    assert_eq!(ran.code, Some(0), "a warning is no error: {ran}");
    let said = "warning  server       crm: not checked, since only a running gateway has its token";
    assert!(ran.stdout.contains(said), "{ran}");
    assert!(ran.stdout.contains("countersign auth login crm"), "{ran}");
}

#[test]
fn a_wrong_command() {
    let home = home(&json!({"mcpServers": {"demo": {"command": "no-such-program"}}}));
    let (message, hint) = error(&home, "doctor", "server");
    assert!(
        message.ends_with("demo: the command no-such-program is not on PATH"),
        "{message}"
    );
    assert!(
        hint.ends_with("write the whole path of the program as \"command\""),
        "{hint}"
    );
    home.write(
        OURS,
        &json!({"listen": "127.0.0.1:0", "mcpServers": {"demo": demo()}}).to_string(),
    );
    green(&home, "doctor");
}

#[test]
fn a_server_that_ends_or_is_not_allowed_to_run() {
    let home = home(
        &json!({"mcpServers": {"dies": {"command": "sh", "args": ["-c", "echo 'no database' >&2; exit 3"]}}}),
    );
    let (message, hint) = error(&home, "doctor", "server");
    assert!(
        message.ends_with(
            "dies: it ended with exit code 3 before it spoke MCP; its last words: no database"
        ),
        "{message}"
    );
    assert!(
        hint.contains("runs by itself and waits for input"),
        "{hint}"
    );
    home.write(
        "tool.sh",
        "#!/bin/sh\nexec \"$FIXTURE\" stdio --preset demo\n",
    );
    let script = home.path().join("tool.sh");
    home.write(OURS, &json!({"listen": "127.0.0.1:0", "mcpServers": {"x": {"command": script, "env": {"FIXTURE": fixture()}}}}).to_string());
    let (message, hint) = error(&home, "doctor", "server");
    assert!(message.ends_with("is not executable"), "{message}");
    shell(&home, hint.strip_prefix("run: ").expect("a command"));
    green(&home, "doctor");
}

/// A server over HTTP, as a process of its own. Ends with the test.
struct Http(Child);

impl Http {
    fn start() -> (Self, String) {
        let mut child = Command::new(fixture())
            .args(["http", "--preset", "demo", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the fixture is built");
        let mut address = Vec::new();
        let stdout = child.stdout.as_mut().expect("stdout is piped");
        let byte = |byte: Result<u8, _>| byte.expect("a byte");
        address.extend(
            std::io::BufReader::new(stdout)
                .bytes()
                .map(byte)
                .take_while(|byte| *byte != b'\n'),
        );
        let address = String::from_utf8(address).expect("an address");
        (Self(child), format!("http://{}/mcp", address.trim()))
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Of a server that does not answer it is not known what it speaks.
#[test]
fn a_server_that_cannot_be_reached_is_not_said_to_speak_something_else() {
    let home = home(&json!({"mcpServers": {"far": {"url": "http://127.0.0.1:1/mcp"}}}));
    let (message, hint) = error(&home, "doctor", "server");
    let why =
        "far: it cannot be reached: no TCP connection to 127.0.0.1:1: Connection refused (os error";
    assert!(message.contains(why), "{message}");
    assert_eq!(
        hint,
        "check the \"url\" of far, that the server runs, and that this machine can connect to it"
    );
}

#[test]
fn a_server_of_another_era() {
    let (_server, url) = Http::start();
    let home = home(&json!({"mcpServers": {"far": {"url": url, "protocol": "sse"}}}));
    let (message, hint) = error(&home, "doctor", "server");
    assert!(
        message.ends_with("far: it speaks streamable-http, and the configuration says sse"),
        "{message}"
    );
    assert_eq!(hint, "set \"protocol\": \"streamable-http\" for far");
    let right = json!({"listen": "127.0.0.1:0", "mcpServers": {"far": {"url": url, "protocol": "streamable-http"}}});
    home.write(OURS, &right.to_string());
    green(&home, "doctor");

    // A protocol version that does not exist.
    let answer = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "old", "version": "0"}});
    let old = json!({"name": "old", "eras": "legacy", "tools": [], "initialize": [[{"answer": {"result": answer}}]]});
    home.write("old.json", &old.to_string());
    let script = home.path().join("old.json");
    let server = json!({"command": fixture(), "args": ["stdio", "--script", script]});
    home.write(
        OURS,
        &json!({"listen": "127.0.0.1:0", "mcpServers": {"old": server}}).to_string(),
    );
    let (message, hint) = error(&home, "doctor", "server");
    assert!(
        message.ends_with("old: it speaks protocol version \"1999-01-01\", which is not supported"),
        "{message}"
    );
    assert!(
        hint.starts_with("update the server: 2026-07-28, "),
        "{hint}"
    );
    home.write(
        "old.json",
        r#"{"name": "old", "eras": "legacy", "tools": []}"#,
    );
    let ran = green(&home, "doctor");
    assert!(
        ran.stdout.contains("old: legacy, 2025-11-25, 0 tools"),
        "{ran}"
    );
}

/// A legacy server that keeps a log level, and makes use of a client that it can ask.
const ASKING: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case "$line" in
    *server/discover*) answer '"error":{"code":-32601,"message":"no"}' ;;
    *'"initialize"'*)
      case "$line" in *sampling*) asks=1 ;; esac
      answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"x","version":"1"}}' ;;
    *tools/list*)
      tools='{"name":"a","inputSchema":{"type":"object"}}'
      if [ -n "$asks" ]; then
        printf '{"jsonrpc":"2.0","id":"q","method":"roots/list"}\n'
        tools="$tools,{\"name\":\"ask\",\"inputSchema\":{\"type\":\"object\"}}"
      fi
      answer "\"result\":{\"tools\":[$tools]}" ;;
  esac
done
"#;

#[test]
fn a_shared_server_with_something_for_each_client_is_named() {
    let server =
        |isolation: &str| json!({"command": "sh", "args": ["-c", ASKING], "isolation": isolation});
    let home = home(
        &json!({"mcpServers": {"asks": server("auto"), "own": server("client"), "demo": demo()}}),
    );
    let ran = home.run("doctor");
    assert_eq!(ran.code, Some(0), "{ran}");
    let said = "asks: all clients share one process, though it has a log level, tools for clients that it can ask, questions to its client for each client";
    assert!(ran.stdout.contains(said), "{ran}");
    assert_eq!(ran.stdout.matches("all clients share").count(), 1, "{ran}");
}
