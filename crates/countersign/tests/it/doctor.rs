//! Ten set-ups that do not work, each with a line that says so and a hint that helps: the hint is followed, as far as a
//! test can, and the doctor asked again.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use countersign_audit::{Kind, Options, Outcome, Record, Store, Timestamp, Ulid};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::gateway::Running;
use crate::support::home::{Home, OURS, fixture};
use crate::support::{Ran, finish};

/// A home with this configuration, on any free port.
fn home(more: &Value) -> Home {
    let mut config = json!({"listen": "127.0.0.1:0"});
    for (key, value) in more.as_object().expect("settings") {
        config[key] = value.clone();
    }
    let home = Home::with(&[(OURS, &config.to_string())]);
    private(&home, OURS);
    let folder = home.path().join(".countersign");
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).expect("ours");
    home
}

fn private(home: &Home, name: &str) {
    std::fs::set_permissions(home.path().join(name), PermissionsExt::from_mode(0o600))
        .expect("ours");
}

/// A server that works.
fn demo() -> Value {
    json!({"command": fixture(), "args": ["stdio", "--preset", "demo"]})
}

/// Asks the doctor; gives the message and the hint of the only error, which is about this.
fn error(home: &Home, line: &str, about: &str) -> (String, String) {
    let ran = home.run(line);
    assert_eq!(ran.code, Some(1), "{ran}");
    only_error(&ran, about)
}

fn only_error(ran: &Ran, about: &str) -> (String, String) {
    let mut lines = ran.stdout.lines();
    let found = lines.find(|line| line.starts_with("error "));
    let message = found.unwrap_or_else(|| panic!("no error: {ran}"));
    assert!(
        message.starts_with(&format!("error    {about:<11}  ")),
        "{ran}"
    );
    let hint = lines
        .next()
        .and_then(|line| line.trim_start().strip_prefix("hint: "));
    let hint = hint.unwrap_or_else(|| panic!("no hint: {ran}"));
    assert!(!lines.any(|line| line.starts_with("error ")), "{ran}");
    (message.to_owned(), hint.to_owned())
}

/// Everything is well.
fn green(home: &Home, line: &str) -> Ran {
    let ran = home.run(line);
    assert_eq!(ran.code, Some(0), "{ran}");
    let well = ran.stdout.lines().all(|line| line.starts_with("ok "));
    assert!(well && !ran.stdout.is_empty(), "{ran}");
    ran
}

/// Types what a hint says after `run: `, in a home of its own.
fn shell(home: &Home, typed: &str) {
    let typed = typed.replace('~', home.path().to_str().expect("UTF-8"));
    let ran = finish(&mut home.shell(&typed), b"");
    assert_eq!(ran.code, Some(0), "{typed}: {ran}");
}

#[test]
fn a_set_up_that_works_has_nothing_but_good_lines() {
    let home = home(&json!({"mcpServers": {"demo": demo()}}));
    let ran = green(&home, "doctor");
    for about in [
        "config", "data dir", "disk", "port", "api key", "store", "clock", "server",
    ] {
        assert!(
            ran.stdout.contains(&format!("ok       {about:<11}  ")),
            "{about}: {ran}"
        );
    }
    let json = home.run("doctor -o json");
    let lines: Vec<Value> = json
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let server = lines
        .iter()
        .find(|line| line["check"] == "server")
        .expect("a server");
    assert_eq!(server["status"], "ok");
    let message = server["message"].as_str().expect("text");
    assert!(
        message.starts_with("demo: modern, 2026-07-28, "),
        "{message}"
    );
    assert!(
        !home.path().join(".countersign/activity.db").exists(),
        "nothing is changed"
    );
    assert!(!home.has(".countersign/api_key") && !home.has(".countersign/eras.json"));
}

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
fn without_anything_it_says_how_to_begin() {
    let home = Home::with(&[]);
    let ran = finish(
        home.command("doctor")
            .env("COUNTERSIGN_LISTEN", "127.0.0.1:0"),
        b"",
    );
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(
        ran.stdout.starts_with("warning  config")
            && ran.stdout.contains("hint: run: countersign import"),
        "{ran}"
    );
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

#[test]
fn a_missing_variable() {
    let mut server = demo();
    server["env"] = json!({"TOKEN": "${env:DEMO_TOKEN}"});
    let home = home(&json!({"mcpServers": {"demo": server}}));
    let (message, hint) = error(&home, "doctor", "environment");
    assert!(
        message
            .contains("/mcpServers/demo/env/TOKEN: the environment variable DEMO_TOKEN is not set"),
        "{message}"
    );
    let typed = hint
        .strip_prefix("run: ")
        .and_then(|hint| hint.split_once("   ("))
        .expect("a command");
    shell(&home, &typed.0.replace('…', "a value with $1"));
    let ran = green(&home, "doctor");
    assert!(ran.stdout.contains("ok       env file"), "{ran}");
}

#[test]
fn a_port_that_is_taken() {
    // Below the ports that are given to whoever asks for any: nobody takes the next one meanwhile.
    let first = 20_000 + u16::try_from(std::process::id() % 10_000).expect("a small number");
    let taken = (first..).find_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    let taken = taken.expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let home = home(&json!({"listen": address, "mcpServers": {"demo": demo()}}));
    let (message, hint) = error(&home, "doctor", "port");
    assert!(
        message.ends_with(&format!("another program listens on {address}")),
        "{message}"
    );
    let free = hint
        .strip_prefix("set \"listen\": \"")
        .and_then(|hint| hint.split('"').next());
    let free = free.expect("an address");
    home.write(
        OURS,
        &json!({"listen": free, "mcpServers": {"demo": demo()}}).to_string(),
    );
    green(&home, "doctor");
}

#[test]
fn a_key_that_is_lost() {
    let home = home(&json!({"mcpServers": {"demo": demo()}}));
    let serve = || {
        let gateway = Running::launch(home.folder(), home.command("serve"));
        gateway.all_up(1);
        gateway
    };
    let gateway = serve();
    let ran = green(&home, "doctor --data-dir data");
    assert!(ran.stdout.contains("our gateway answers at"), "{ran}");
    assert!(
        ran.stdout.contains("demo: up, by the running gateway"),
        "{ran}"
    );
    std::fs::remove_file(home.path().join("data/api_key")).expect("it was there");
    let (message, hint) = error(&home, "doctor --data-dir data", "api key");
    assert!(
        message.contains("its key, data/api_key, is gone"),
        "{message}"
    );
    assert!(
        hint.contains("stop the gateway and run `countersign serve`"),
        "{hint}"
    );
    gateway.stop(Signal::TERM);
    let ran = home.run("doctor --data-dir data");
    assert!(
        ran.stdout.contains("warning  api key") && ran.code == Some(0),
        "{ran}"
    );
    let gateway = serve();
    green(&home, "doctor --data-dir data");
    gateway.stop(Signal::TERM);

    home.write("data/api_key", "");
    private(&home, "data/api_key");
    let (message, hint) = error(&home, "doctor --data-dir data", "api key");
    assert!(message.contains("the file is empty"), "{message}");
    let typed = hint
        .strip_prefix("run: ")
        .and_then(|hint| hint.split_once("   ("))
        .expect("a command");
    shell(&home, typed.0);
    serve().stop(Signal::TERM);
    green(&home, "doctor --data-dir data");
}

#[test]
fn a_gateway_that_does_not_hold_what_the_file_says() {
    let home = home(&json!({"mcpServers": {"demo": demo()}}));
    let gateway = Running::launch(home.folder(), home.command("serve"));
    gateway.all_up(1);
    let ran = green(&home, "doctor --data-dir data");
    assert!(
        ran.stdout.contains("it holds what the configuration says"),
        "{ran}"
    );
    let told = |said: &str| {
        Running::wait_for(|| {
            gateway.json("/api/v1/status")["config"]
                .to_string()
                .contains(said)
        });
    };
    let mut config: Value = serde_json::from_str(&home.read(OURS)).expect("JSON");
    config["max_message_bytes"] = json!(1 << 20);
    home.write(OURS, &config.to_string());
    told("max_message_bytes");
    let ran = home.run("doctor --data-dir data");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(
        ran.stdout
            .contains("warning  gateway      max_message_bytes changed since it was started"),
        "{ran}"
    );
    // A variable that only the one who asks has.
    config["mcpServers"]["demo"]["env"] = json!({"A": "${env:ONLY_HERE}"});
    home.write(OURS, &config.to_string());
    told("ONLY_HERE");
    let ran = finish(
        home.command("doctor --data-dir data").env("ONLY_HERE", "x"),
        b"",
    );
    let (message, hint) = only_error(&ran, "gateway");
    assert!(
        message.contains("the environment variable ONLY_HERE is not set"),
        "{message}"
    );
    assert!(hint.contains("set ONLY_HERE before starting"), "{hint}");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    let mut command = home.command("serve");
    command.env("ONLY_HERE", "x");
    let gateway = Running::launch(home.folder(), command);
    gateway.all_up(1);
    let ran = finish(
        home.command("doctor --data-dir data").env("ONLY_HERE", "x"),
        b"",
    );
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(
        ran.stdout.lines().all(|line| line.starts_with("ok ")),
        "{ran}"
    );
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
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

    // A version of the protocol that nobody knows.
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

#[test]
fn bad_json() {
    let home = Home::with(&[(
        OURS,
        "{\"listen\": \"127.0.0.1:0\",\n \"mcpServers\": {},\n}",
    )]);
    let (message, hint) = error(&home, "doctor", "config");
    assert!(
        message.contains("mcp_config.json:3:1: not JSON"),
        "{message}"
    );
    assert_eq!(hint, "remove the comma before it");
    home.write(
        OURS,
        &json!({"listen": "127.0.0.1:0", "mcpServers": {"demo": demo()}}).to_string(),
    );
    green(&home, "doctor");
}

#[test]
fn an_unknown_key() {
    let home = home(&json!({"routingmode": "direct", "mcpServers": {"demo": demo()}}));
    let (message, hint) = error(&home, "doctor", "config");
    assert!(
        message.ends_with("unknown key \"routingmode\""),
        "{message}"
    );
    let meant = hint
        .strip_prefix("did you mean \"")
        .and_then(|hint| hint.split('"').next());
    let right = home
        .read(OURS)
        .replace("routingmode", meant.expect("a key"));
    home.write(OURS, &right);
    green(&home, "doctor");
}

#[test]
fn a_store_that_cannot_be_read() {
    let home = home(&json!({"mcpServers": {"demo": demo()}}));
    // Whoever may do everything may read every file, so it is the file that is wrong.
    home.write(".countersign/activity.db", &"not a database ".repeat(100));
    let mend = |why: &str| {
        let (message, hint) = error(&home, "doctor", "store");
        assert!(message.contains(why), "{message}");
        let typed = hint.split_once("start: ").expect("a command").1;
        shell(&home, typed);
        let ran = home.run("doctor");
        assert_eq!(ran.code, Some(0), "{ran}");
        assert!(ran.stdout.contains("ok       store"), "{ran}");
    };
    mend("file is not a database");
    std::fs::create_dir(home.path().join(".countersign/activity.db")).expect("a folder");
    mend("cannot be read");
}

#[test]
fn a_chain_that_does_not_hold() {
    let home = home(&json!({"mcpServers": {"demo": demo()}}));
    let store = Store::open(&Options::new(home.path().join(".countersign"))).expect("a store");
    for _ in 0..3 {
        let call = Record::new(store.next_id(), Kind::ToolCall, Outcome::Success);
        drop(store.commit_blocking((), [call]));
    }
    drop(store);
    let database = rusqlite::Connection::open(home.path().join(".countersign/activity.db"))
        .expect("a database");
    database
        .execute("DELETE FROM activity WHERE seq = 2", [])
        .expect("changed");
    drop(database);
    let (message, hint) = error(&home, "doctor", "store");
    assert!(message.contains("the chain does not hold"), "{message}");
    assert!(
        hint.contains("activity verify") && hint.contains("--data-dir"),
        "{hint}"
    );
    green(&home, "doctor --data-dir other");
}

#[test]
fn a_clock_that_was_set_back() {
    let home = home(&json!({"mcpServers": {"demo": demo()}}));
    let store = Store::open(&Options::new(home.path().join(".countersign"))).expect("a store");
    let later = Timestamp::now().as_millis() + 3_600_000;
    let id = Ulid::from_bytes(((u128::from(later)) << 80).to_be_bytes());
    drop(store.commit_blocking((), [Record::new(id, Kind::ToolCall, Outcome::Success)]));
    drop(store);
    let (message, hint) = error(&home, "doctor", "clock");
    assert!(message.contains("minutes in the future"), "{message}");
    assert!(hint.starts_with("set the clock"), "{hint}");
    let why = "not followed: a test cannot set the clock of the machine it runs on\n";
    drop(std::io::stderr().write_all(why.as_bytes()));
}

#[test]
fn a_full_disk() {
    let home = home(&json!({"mcpServers": {"demo": demo()}}));
    let (message, hint) = error(&home, "doctor --min-free 999999999999", "disk");
    assert!(
        message.ends_with("and 999999999999 are wanted"),
        "{message}"
    );
    assert!(hint.starts_with("free some space"), "{hint}");
    // No file may grow: what a full disk says, said to this process alone.
    let binary = env!("CARGO_BIN_EXE_countersign");
    let mut shell = home.shell("trap '' XFSZ; ulimit -f 0; exec \"$0\" doctor");
    let ran = finish(shell.arg(binary), b"");
    assert_eq!(ran.code, Some(1), "{ran}");
    let (message, hint) = only_error(&ran, "disk");
    assert!(message.contains("no room to write in"), "{message}");
    assert!(hint.contains("ulimit -f"), "{hint}");
    green(&home, "doctor");
}
