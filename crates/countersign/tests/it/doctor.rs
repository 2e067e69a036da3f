//! Ten set-ups that do not work, each with a line that says so and a hint that helps: the hint is followed, as far as a
//! test can, and the doctor asked again.

mod configuration;
mod gateway;
mod servers;
mod store;

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::home::{OURS, TestHome, fixture};
use crate::support::{CommandOutput, finish};

/// A home with this configuration, on any free port.
fn home(more: &Value) -> TestHome {
    let mut config = json!({"listen": "127.0.0.1:0"});
    for (key, value) in more.as_object().expect("settings") {
        config[key] = value.clone();
    }
    let home = TestHome::with(&[(OURS, &config.to_string())]);
    private(&home, OURS);
    let folder = home.path().join(".countersign");
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).expect("ours");
    home
}

fn private(home: &TestHome, name: &str) {
    std::fs::set_permissions(home.path().join(name), PermissionsExt::from_mode(0o600))
        .expect("ours");
}

/// A server that works.
fn demo() -> Value {
    json!({"command": fixture(), "args": ["stdio", "--preset", "demo"]})
}

/// Asks the doctor; gives the message and the hint of the only error, which is about this.
fn error(home: &TestHome, line: &str, about: &str) -> (String, String) {
    let ran = home.run(line);
    assert_eq!(ran.code, Some(1), "{ran}");
    only_error(&ran, about)
}

fn only_error(ran: &CommandOutput, about: &str) -> (String, String) {
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
fn green(home: &TestHome, line: &str) -> CommandOutput {
    let ran = home.run(line);
    assert_eq!(ran.code, Some(0), "{ran}");
    let well = ran.stdout.lines().all(|line| line.starts_with("ok "));
    assert!(well && !ran.stdout.is_empty(), "{ran}");
    ran
}

/// Types what a hint says after `run: `, in a home of its own.
fn shell(home: &TestHome, typed: &str) {
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
