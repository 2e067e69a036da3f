//! Secrets that an import moved to the env file: who may read it, and which commands find them there.

use std::path::Path;

use rustix::process::Signal;
use serde_json::json;

use super::{DESKTOP, ENV};
use crate::support::gateway::RunningGateway;
use crate::support::home::{OURS, TestHome, fixture};

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

#[test]
fn secrets_are_found_again_by_serve() {
    let script = r#"{"name":"s","tools":[]}"#;
    let server = format!(
        "echo \"$DB_TOKEN\" > seen; exec {} stdio --preset demo",
        fixture()
    );
    let desktop = json!({"mcpServers": {"db": {"command": "sh", "args": ["-c", server], "env": {"DB_TOKEN": "it's a s3cret $1"}}}});
    let home = TestHome::with(&[(DESKTOP, &desktop.to_string()), ("s.json", script)]);
    let ran = home.run("import claude-desktop --yes");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(!home.read(OURS).contains("s3cret"));
    assert_eq!(mode(&home.path().join(ENV)), 0o600);
    assert_eq!(mode(&home.path().join(OURS)), 0o600);
    assert_eq!(mode(&home.path().join(".countersign")), 0o700);
    let mut command = home.command("serve");
    command.args(["--env-file", ENV]);
    let gateway = RunningGateway::launch(home.folder(), command);
    gateway.all_up(1);
    assert_eq!(home.read("seen"), "it's a s3cret $1\n");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    // Without `--env-file`, the env file in the data directory is read.
    let ran = home.run("config show");
    assert!(
        ran.stdout.contains("[redacted, from ${env:DB_TOKEN}]"),
        "{ran}"
    );
}

#[test]
fn a_running_gateway_takes_over_what_is_imported() {
    let home = TestHome::with(&[(OURS, r#"{"mcpServers": {}}"#)]);
    let mut command = home.command("serve");
    command.args(["--env-file", ENV]);
    home.write(ENV, "");
    let gateway = RunningGateway::launch(home.folder(), command);
    let server = format!(
        "echo \"$DB_TOKEN\" > seen; exec {} stdio --preset demo",
        fixture()
    );
    let server = json!({"command": "sh", "args": ["-c", server], "env": {"DB_TOKEN": "s3cret"}});
    home.write(DESKTOP, &json!({"mcpServers": {"db": server}}).to_string());
    let ran = home.run("import claude-desktop --yes");
    assert_eq!(ran.code, Some(0), "{ran}");
    gateway.all_up(1);
    assert_eq!(home.read("seen"), "s3cret\n");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

#[test]
fn a_named_env_file_can_be_sourced() {
    let cursor = r#"{"mcpServers": {"crm": {"url": "https://crm.example/mcp", "headers": {"Authorization": "Bearer s3cret"}}}}"#;
    let home = TestHome::with(&[(".cursor/mcp.json", cursor)]);
    let ran = home.run("import cursor --yes --env-file secrets.sh");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(
        ran.stderr
            .contains("countersign serve --env-file secrets.sh"),
        "{ran}"
    );
    assert_eq!(home.read("secrets.sh"), "export CRM_TOKEN='s3cret'\n");
    assert_eq!(mode(&home.path().join("secrets.sh")), 0o600);
    assert!(home.read(OURS).contains("Bearer ${env:CRM_TOKEN}"));
    let unset = "the environment variable CRM_TOKEN is not set";
    let shown = home.run("config show");
    assert!(shown.stderr.contains(unset), "{shown}");
    let shown = home.run("config show --env-file secrets.sh");
    assert!(!shown.stderr.contains(unset), "{shown}");
    assert_eq!(shown.code, Some(0), "{shown}");
}
