//! A reference to a variable that is not set keeps its server from being started, and nothing else.

use rustix::process::Signal;
use serde_json::json;

use crate::support::gateway::RunningGateway;
use crate::support::{Folder, preset};

/// A configuration of a server that lacks a variable and one that lacks nothing.
fn folder() -> Folder {
    let mut lacking = preset("demo", "warn");
    lacking["env"] = json!({"TOKEN": "${env:CRM_TOKEN}"});
    Folder::over(
        &json!({"crm": lacking, "plain": preset("demo", "warn")}),
        &[],
    )
}

#[test]
fn an_unset_variable_stops_its_server_and_not_the_gateway() {
    let folder = folder();
    let gateway = RunningGateway::start(&folder, "serve --config c.json");
    let said = gateway.said().to_owned();
    let warned = "/mcpServers/crm/env/TOKEN: the environment variable CRM_TOKEN is not set, so the server is not started";
    assert!(said.contains(warned), "{said}");
    gateway.all_up(1);
    let listed = folder.countersign("servers list --config c.json --data-dir data");
    assert_eq!(listed.code, Some(0), "{listed}");
    let row = listed.stdout.lines().find(|line| line.starts_with("crm "));
    assert!(row.is_some_and(|row| row.contains("stopped")), "{listed}");
    let why = "crm: the environment variable CRM_TOKEN is not set";
    assert!(listed.stdout.contains(why), "{listed}");
    // A client of that server is told that it is not there.
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool_read","arguments":{"name":"crm:conforming"}}}"#;
    let answer = gateway.curl("POST", "/mcp", &gateway.key(), call);
    assert!(
        answer.contains("this tool's server is disabled"),
        "{answer}"
    );
    // The variable comes: the server starts, without a restart of the gateway.
    std::fs::write(folder.path().join("data/env"), "CRM_TOKEN='x'\n").expect("written");
    gateway.all_up(2);
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

#[test]
fn wrap_needs_the_variables_of_its_own_server_only() {
    let folder = folder();
    let fixture = countersign_fixture::executable().expect("the fixture is built");
    let fixture = fixture.display();
    let wrap = |name: &str| {
        folder.countersign(&format!(
            "wrap --config c.json --data-dir data --name {name} -- {fixture} stdio --preset demo"
        ))
    };
    let own = wrap("crm");
    assert_eq!(own.code, Some(2), "{own}");
    let why = "the environment variable CRM_TOKEN is not set";
    assert!(own.stderr.contains(why), "{own}");
    let other = wrap("plain");
    assert_eq!(other.code, Some(0), "{other}");
}

#[test]
fn the_gateways_own_key_is_still_needed() {
    let folder = Folder::with(&[("c.json", r#"{"api_key": "${env:NO_SUCH_KEY}"}"#)]);
    let ran = folder.countersign("serve --config c.json --data-dir data");
    assert_eq!(ran.code, Some(2), "{ran}");
}
