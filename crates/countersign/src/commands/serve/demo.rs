//! `serve --demo`: a real child process whose tools misbehave, in strict mode, each called once through the gateway's
//! own endpoint. So the first command of a new user already shows a blocked call.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use countersign_config::{Config, Problem, Server};
use countersign_gateway::Gateway;
use countersign_gateway::inspect::Mode;
use serde_json::Value;

use crate::Console;
use crate::remote::{GatewayAddress, Remote};
use crate::report::Failure;
use crate::table::table;

const NAME: &str = "stub";

/// Adds the server to a configuration.
pub(super) fn add(server: &Server, config: &mut Config) -> Result<(), Problem> {
    if config.server(NAME).is_some() {
        return Err(Problem {
            place: None,
            message: format!("the configuration already has a server named '{NAME}'"),
            hint: Some("--demo adds one of that name; rename yours".to_owned()),
        });
    }
    config.servers.push(server.clone());
    Ok(())
}

/// The server.
pub(super) fn server() -> Result<Server, Failure> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let program = program
        .into_os_string()
        .into_string()
        .map_err(|_| anyhow!("the path of this program is not UTF-8"))?;
    let mut server = Server::stdio(NAME, program, ["demo-server".to_owned()]);
    server.output.mode = Some(Mode::Strict);
    Ok(server)
}

/// What became of one call: tool, decision, reason.
type Row = [String; 3];

/// Calls each tool once, when the servers have been heard.
pub(super) async fn call_tools(
    gateway: &Gateway,
    address: GatewayAddress,
    certificate: Option<PathBuf>,
) -> Result<Vec<Row>, Failure> {
    gateway.settled().await;
    let key = gateway.key().value.clone();
    // On a thread of its own: the calls block, and a signal must be heard meanwhile.
    let calls = tokio::task::spawn_blocking(move || {
        let remote = Remote::new(address, &key, certificate.as_deref())?;
        let tools = countersign_demo::tools();
        tools.iter().map(|tool| row(&remote, tool.name())).collect()
    });
    calls.await.context("the demo's calls broke off")?
}

/// Prints what became of each call, and what to type next, with the options that find this gateway.
pub(super) fn show(
    rows: &[Row],
    (options, origin): (&str, &str),
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    console.message(format!(
        "demo: a server named '{NAME}' was added, and output_validation.mode is strict for it alone\n"
    ));
    console.data(table(&["tool", "decision", "reason"], rows))?;
    console.flush()?;
    console.message(format!(
        "the console: {origin}/console (sign in with the api_key to read, with the admin_key to change something)\n"
    ));
    console.message(format!(
        "next, in another terminal: countersign activity list{options} --status blocked\nCtrl-C stops the demo\n"
    ));
    Ok(())
}

fn row(gateway: &Remote, tool: &str) -> Result<Row, Failure> {
    let request = serde_json::json!({
        "jsonrpc": "2.0",
        "id": format!("demo-{tool}"),
        "method": "tools/call",
        "params": {"name": "call_tool_read", "arguments": {"name": format!("{NAME}:{tool}")}},
    });
    gateway
        .post("/mcp", request.to_string().as_bytes())?
        .json()?;
    let query = format!("/api/v1/activity?type=policy_decision&limit=1&request_id=demo-{tool}");
    let page = gateway.get(&query)?.json()?;
    let decided = &page["activities"][0];
    let text = |value: &Value, otherwise: &str| value.as_str().unwrap_or(otherwise).to_owned();
    Ok([
        tool.to_owned(),
        text(&decided["decision"], "allowed"),
        text(&decided["reason"], ""),
    ])
}
