//! How long a server is waited for: while it connects, while it starts, and while it works on a call.

use std::time::Duration;

use countersign_config::Server;
use countersign_fixture::client::request;
use countersign_fixture::{Answer, Script, Step, Tool};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::support::{Rig, WAIT, refusal, result, scripted, text};

/// A tool that reports progress every 300 ms, so many times, and then answers.
fn busy(name: &str, reports: u32) -> Tool {
    let mut steps = Vec::new();
    for done in 0..reports {
        steps.push(Step::Progress(countersign_fixture::script::Progress {
            done,
            total: reports,
        }));
        steps.push(Step::DelayMs(300));
    }
    steps.push(Step::Answer(Answer::default()));
    Tool::named(name).steps(steps)
}

fn call(tool: &str) -> Vec<u8> {
    let params = format!(r#"{{"name":"{tool}","arguments":{{}},"_meta":{{"progressToken":1}}}}"#);
    request("1", "tools/call", &params)
}

/// The last message of the reply: what comes after the progress.
fn last(answer: &countersign_fixture::client::Response) -> String {
    let messages = answer.messages();
    text(messages.last().expect("a reply"))
}

#[tokio::test]
async fn a_call_lives_while_progress_comes_and_no_longer_than_the_total() {
    let script = Script::new("x")
        .tool(busy("long", 15))
        .tool(busy("endless", 10_000));
    let (mut server, _folder) = scripted("x", &script);
    server.timeout = Some(Duration::from_secs(3));
    server.total_timeout = Some(Duration::from_secs(7));
    let rig = Rig::over(vec![server]).await;
    let client = rig
        .client("/mcp/s/x")
        .with_header("Accept", "text/event-stream, application/json");
    // Fifteen reports take 4.5 s: longer than the time-out of 3 s.
    let (long, endless) = (call("long"), call("endless"));
    let (long, endless) = tokio::join!(client.post(&long), client.post(&endless));
    let long = last(&long.expect("an answer"));
    assert!(
        long.contains(r#""content""#) && !long.contains("isError"),
        "{long}"
    );
    let endless = last(&endless.expect("an answer"));
    assert!(endless.contains("within 7000 ms"), "{endless}");
}

#[tokio::test]
async fn a_total_below_the_timeout_is_the_timeout() {
    let silent = Script::new("x").tool(Tool::named("never").steps(Vec::new()));
    let (mut server, _folder) = scripted("x", &silent);
    server.timeout = Some(Duration::from_millis(200));
    server.total_timeout = Some(Duration::from_millis(50));
    let rig = Rig::over(vec![server]).await;
    let answer = rig.client("/mcp/s/x").call("never", "{}").await;
    let said = refusal(&answer.expect("an answer"));
    assert!(said.contains("within 200 ms"), "{said}");
}

/// Waits until a server fails, and returns why.
async fn reason(rig: &Rig, server: &str) -> String {
    let failing = async {
        loop {
            let state: Value = rig.get(&format!("/api/v1/servers/{server}")).await;
            if let Some(reason) = state["reason"].as_str() {
                return reason.to_owned();
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(WAIT, failing).await.expect("a reason")
}

#[tokio::test]
async fn connecting_and_starting_have_limits_of_their_own() {
    // It accepts connections and never answers in TLS.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = silent.local_addr().expect("an address").port();
    let mut far = Server::http("far", format!("https://127.0.0.1:{port}/mcp"));
    far.connect_timeout = Duration::from_millis(150);
    let mut mute = Server::stdio("mute", "sleep", ["600".to_owned()]);
    mute.start_timeout = Some(Duration::from_millis(150));
    let (works, _folder) = scripted("works", &Script::new("x").tool(Tool::named("t")));
    let folder = tempfile::tempdir().expect("a folder");
    let config = crate::support::config(folder.path(), vec![far, mute, works]);
    let gateway = countersign_gateway::Gateway::start(config).await;
    let gateway = gateway.expect("the gateway starts");
    let rig = Rig { gateway, folder };
    let far = reason(&rig, "far").await;
    assert!(far.contains("within 150ms"), "{far}");
    let mute = reason(&rig, "mute").await;
    assert!(mute.contains("did not"), "{mute}");
    let answer = rig.client("/mcp/s/works").call("t", "{}").await;
    assert!(result(&answer.expect("an answer")).contains("content"));
}
