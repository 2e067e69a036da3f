//! A gateway that cannot be started, or that runs with something else than the file says.

use std::net::TcpListener;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{demo, error, green, home, only_error, private, shell};
use crate::support::finish;
use crate::support::gateway::RunningGateway;
use crate::support::home::OURS;

#[test]
fn a_port_that_is_taken() {
    // Below the range of ephemeral ports, so that no other program is given the next port during the test.
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
        let gateway = RunningGateway::launch(home.folder(), home.command("serve"));
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
    let gateway = RunningGateway::launch(home.folder(), home.command("serve"));
    gateway.all_up(1);
    let ran = green(&home, "doctor --data-dir data");
    assert!(
        ran.stdout.contains("it holds what the configuration says"),
        "{ran}"
    );
    let told = |said: &str| {
        RunningGateway::wait_for(|| {
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
    let (message, hint) = only_error(&ran, "server");
    assert!(
        message.contains("the environment variable ONLY_HERE is not set"),
        "{message}"
    );
    assert!(
        hint.contains("restart the gateway where it is set"),
        "{hint}"
    );
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    let mut command = home.command("serve");
    command.env("ONLY_HERE", "x");
    let gateway = RunningGateway::launch(home.folder(), command);
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
