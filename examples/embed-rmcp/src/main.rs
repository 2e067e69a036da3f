//! Calls every tool of a demo server through rmcp, with inspection in between, and prints what the client got.
//! With the argument `server` it is the demo server itself.

#![expect(clippy::print_stdout, reason = "an example prints its outcome")]

mod transport;

use std::process::Stdio;

use anyhow::Context as _;
use countersign_inspect::{Mode, Policy};
use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use tokio::process::Command;

use crate::transport::inspected_transport;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("server") {
        let script = countersign_fixture::preset::demo();
        return Ok(countersign_fixture::stdio::serve(
            script,
            std::io::stdin(),
            std::io::stdout(),
        )?);
    }
    let mut server = Command::new(std::env::current_exe()?)
        .arg("server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdout = server.stdout.take().context("the child has a stdout")?;
    let stdin = server.stdin.take().context("the child has a stdin")?;

    let mut policy = Policy::default();
    policy.output.mode = Mode::Strict;
    let client = ().serve(inspected_transport(stdout, stdin, policy)).await?;

    for tool in client.list_all_tools().await? {
        let name = tool.name.clone();
        let result = client
            .call_tool(CallToolRequestParams::new(tool.name))
            .await;
        match result {
            Ok(result) => println!("{name:<20} {}", summary(&result)),
            Err(error) => println!("{name:<20} refused by the client: {error}"),
        }
    }
    client.cancel().await?;
    Ok(())
}

/// One line about what a client received.
fn summary(result: &CallToolResult) -> String {
    let text = result
        .content
        .first()
        .and_then(|block| block.as_text())
        .map(|block| block.text.as_str());
    let text: String = text
        .unwrap_or("(no text)")
        .chars()
        .take(100)
        .filter(|c| !c.is_control())
        .collect();
    let structured = match &result.structured_content {
        Some(_) => "structured",
        None => "text only",
    };
    let status = if result.is_error == Some(true) {
        "error"
    } else {
        structured
    };
    format!("{status:<10} {text}")
}
