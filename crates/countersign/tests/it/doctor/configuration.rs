//! A configuration that is not there, cannot be read, or needs what is not there.

use serde_json::json;

use super::{demo, error, green, home, shell};
use crate::support::finish;
use crate::support::home::{OURS, TestHome};

#[test]
fn without_anything_it_says_how_to_begin() {
    let home = TestHome::with(&[]);
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
fn bad_json() {
    let home = TestHome::with(&[(
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
