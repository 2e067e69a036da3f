//! A server that fails explains itself: in the gateway's log, over REST, in `servers list`, `servers logs` and the metrics.

use std::net::TcpListener;
use std::sync::Arc;

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, crypto::ring};

use crate::support::gateway::RunningGateway;
use crate::support::{Folder, preset};

const SERVE: &str = "serve --config c.json";
const HERE: &str = "--config c.json --data-dir data";
/// Made for this test, with `openssl req -x509`; they guard nothing.
const CERTIFICATE: &[u8] = include_bytes!("failing/self-signed.pem");
const KEY: &[u8] = include_bytes!("failing/self-signed.key.pem");

fn shell(script: &str) -> Value {
    json!({"command": "sh", "args": ["-c", script]})
}

/// How a server is, by the REST interface.
fn server(gateway: &RunningGateway, name: &str) -> Value {
    let listed = gateway.json("/api/v1/servers");
    let servers = listed["servers"].as_array().expect("a list");
    let server = servers.iter().find(|server| server["name"] == name);
    server
        .unwrap_or_else(|| panic!("no {name} in {listed}"))
        .clone()
}

/// Waits until a server has failed and waits for its next try.
fn failing(gateway: &RunningGateway, name: &str) -> Value {
    let mut found = Value::Null;
    RunningGateway::wait_for(|| {
        found = server(gateway, name);
        found["state"] == "failing" && found["next_try"].is_string()
    });
    found
}

fn state_metric(gateway: &RunningGateway, name: &str, state: &str) -> String {
    let page = gateway.curl("GET", "/metrics", &gateway.key(), "");
    let series = format!(r#"countersign_server_state{{server="{name}",state="{state}"}} "#);
    let value = page.lines().find_map(|line| line.strip_prefix(&series));
    value
        .unwrap_or_else(|| panic!("no {series}: {page}"))
        .to_owned()
}

#[test]
fn a_child_that_dies_is_quoted_and_cannot_steer_the_terminal() {
    let script = r#"printf "no database $TOKEN \033[31mred \342\200\256live\n" >&2; exit 3"#;
    let mut dies = shell(script);
    dies["env"] = json!({"TOKEN": "s3cret-token"});
    let folder = Folder::over(&json!({"dies": dies}), &[]);
    let mut gateway = RunningGateway::start(&folder, SERVE);
    let why = "it ended with exit code 3 before it spoke MCP";
    let safe = r"no database [redacted] \u{1b}[31mred \u{202e}live";
    let logged = gateway.hear("server did not start");
    assert!(logged.contains("WARN") && logged.contains(why), "{logged}");
    assert!(logged.contains("no database"), "{logged}");
    assert!(!logged.contains(['\u{1b}', '\u{202e}']), "{logged}");
    assert!(!logged.contains("s3cret"), "{logged}");

    let known = failing(&gateway, "dies");
    assert_eq!(known["reason"], why);
    assert_eq!(known["last_stderr_line"], safe);
    let next_try = known["next_try"].as_str().expect("a time");
    assert!(next_try.ends_with('Z'), "{next_try}");
    // Older words stay for those who read them.
    assert!(["starting", "down"].contains(&known["health"].as_str().expect("a word")));
    assert_eq!(state_metric(&gateway, "dies", "failing"), "1");
    assert_eq!(state_metric(&gateway, "dies", "up"), "0");

    let listed = folder.countersign(&format!("servers list {HERE}"));
    assert_eq!(listed.code, Some(0), "{listed}");
    let row = listed.stdout.lines().find(|line| line.starts_with("dies "));
    assert!(row.is_some_and(|row| row.contains("failing")), "{listed}");
    assert!(listed.stdout.contains(&format!("dies: {why}")), "{listed}");
    assert!(
        listed.stdout.contains(&format!("dies: stderr: {safe}\n")),
        "{listed}"
    );

    // Lines are kept over restarts.
    RunningGateway::wait_for(|| {
        let logs = gateway.json("/api/v1/servers/dies/logs");
        logs["lines"]
            .as_array()
            .is_some_and(|lines| lines.len() > 1)
    });
    let logs = folder.countersign(&format!("servers logs dies {HERE}"));
    assert_eq!(logs.code, Some(0), "{logs}");
    assert!(logs.stdout.lines().count() > 1, "{logs}");
    assert!(logs.stdout.lines().all(|line| line == safe), "{logs}");
    let logs = folder.countersign(&format!("servers logs dies -o json {HERE}"));
    let logs: Value = serde_json::from_str(&logs.stdout).expect("JSON");
    assert_eq!(
        (&logs["server"], &logs["lines"][0]),
        (&json!("dies"), &json!(safe))
    );
    for name in ["nobody", "../status", "x/../.."] {
        let none = folder.countersign(&format!("servers logs {name} {HERE}"));
        assert_eq!(none.code, Some(1), "{none}");
        assert!(none.stderr.contains("there is no server"), "{none}");
    }
    let keyless = gateway.curl("GET", "/api/v1/servers/dies/logs", "", "");
    assert!(keyless.starts_with("HTTP/1.1 401"), "{keyless}");
    assert!(!keyless.contains("database"), "{keyless}");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

#[test]
fn a_server_that_recovers_has_no_reason_any_more() {
    let fixture = countersign_fixture::executable().expect("the fixture is built");
    let script = format!(
        "test -e ok || {{ echo 'not yet' >&2; exit 3; }}; exec {} stdio --preset demo",
        fixture.display()
    );
    let folder = Folder::over(&json!({"late": shell(&script)}), &[]);
    let mut gateway = RunningGateway::start(&folder, SERVE);
    failing(&gateway, "late");
    std::fs::write(folder.path().join("ok"), "").expect("written");
    gateway.all_up(1);
    let known = server(&gateway, "late");
    assert_eq!(known["state"], "up");
    assert!(
        known.get("reason").is_none() && known.get("next_try").is_none(),
        "{known}"
    );
    assert_eq!(known["last_stderr_line"], "not yet");
    let listed = folder.countersign(&format!("servers list {HERE}"));
    assert!(!listed.stdout.contains("not yet"), "{listed}");
    // One line for a start that went well, without asking for it.
    let line = gateway.hear("server is up");
    for part in [
        "INFO",
        "server=\"late\"",
        "transport=\"stdio\"",
        "era=\"",
        "version=\"",
        "tools=11",
        "ms=",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

/// Accepts TLS connections with the self-signed certificate; its port.
fn self_signed() -> u16 {
    let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_slice(KEY).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a pair");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut tls = ServerConnection::new(Arc::clone(&config)).expect("a server");
            // The client refuses the certificate, which is the point.
            drop(tls.complete_io(&mut stream));
        }
    });
    port
}

#[test]
fn a_name_that_does_not_resolve_and_a_certificate_that_is_not_trusted_are_named() {
    let port = self_signed();
    let folder = Folder::over(
        &json!({
            "lost": {"url": "http://nothing.invalid/mcp"},
            "own": {"url": format!("https://localhost:{port}/mcp")},
            "old": {"url": "http://nothing.invalid/sse", "protocol": "sse"},
        }),
        &[],
    );
    let mut gateway = RunningGateway::start(&folder, SERVE);
    let lost = "it cannot be reached: the name nothing.invalid cannot be resolved: ";
    let own = format!(
        "it cannot be reached: no TLS connection to localhost:{port}: its certificate is self-signed"
    );
    for (name, why) in [("lost", lost), ("own", &own), ("old", lost)] {
        let known = failing(&gateway, name);
        let reason = known["reason"].as_str().expect("a reason");
        assert!(reason.starts_with(why), "{name}: {reason}");
    }
    let mut unheard = vec![("server=\"lost\"", lost), ("server=\"own\"", own.as_str())];
    while !unheard.is_empty() {
        let line = gateway.hear("server did not start");
        assert!(line.contains("WARN"), "{line}");
        unheard.retain(|(server, why)| !(line.contains(server) && line.contains(why)));
    }
    let listed = folder.countersign(&format!("servers list {HERE}"));
    assert!(listed.stdout.contains(&format!("own: {own}")), "{listed}");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

#[test]
fn a_disabled_server_stays_in_the_list() {
    let mut off = preset("demo", "warn");
    off["enabled"] = json!(false);
    let folder = Folder::over(&json!({"off": off, "on": preset("demo", "warn")}), &[]);
    let gateway = RunningGateway::start(&folder, SERVE);
    gateway.all_up(1);
    let known = server(&gateway, "off");
    assert_eq!(
        (&known["state"], &known["health"]),
        (&json!("disabled"), &json!("stopped"))
    );
    assert_eq!(server(&gateway, "on")["state"], "up");
    assert_eq!(state_metric(&gateway, "off", "disabled"), "1");
    let listed = folder.countersign(&format!("servers list {HERE}"));
    let row = listed.stdout.lines().find(|line| line.starts_with("off "));
    assert!(row.is_some_and(|row| row.contains("disabled")), "{listed}");
    let logs = folder.countersign(&format!("servers logs off {HERE}"));
    assert_eq!((logs.code, &*logs.stdout), (Some(0), ""), "{logs}");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

#[test]
fn a_reload_says_what_changed() {
    let write = |folder: &Folder, config: &Value| {
        std::fs::write(folder.path().join("c.json"), config.to_string()).expect("written");
    };
    let demo = || preset("demo", "warn");
    let folder = Folder::over(
        &json!({"goes": demo(), "stays": demo(), "turns": demo()}),
        &[],
    );
    let mut gateway = RunningGateway::start(&folder, SERVE);
    let servers = json!({"comes": demo(), "stays": demo(), "turns": preset("demo", "strict")});
    write(
        &folder,
        &json!({"routing_mode": "direct", "mcpServers": servers}),
    );
    let line = gateway.hear("the new configuration holds");
    for part in [
        "INFO",
        "servers_added=\"comes\"",
        "servers_removed=\"goes\"",
        "servers_changed=\"turns\"",
        "keys_changed=\"routing_mode\"",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}
