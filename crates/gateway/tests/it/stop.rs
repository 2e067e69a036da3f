//! Stopping: calls under way are answered, children are gone.

use std::time::Duration;

use countersign_fixture::script::Step;
use countersign_fixture::{LogListener, Script, Tool};

use crate::support::{Rig, WAIT, fixture, result, scripted};

#[tokio::test]
async fn a_call_under_way_is_answered_before_the_stop() {
    let slow = Tool::named("slow").steps(vec![
        Step::DelayMs(300),
        Step::Answer(countersign_fixture::Answer::default()),
    ]);
    let script = Script::new("slow").tool(slow);
    let mut log = LogListener::bind().await.expect("a port");
    let (_, folder) = scripted("x", &script);
    let file = folder.path().join("script.json");
    let file = file.to_str().expect("a path in UTF-8");
    let server = fixture(
        "x",
        &[
            "--script",
            file,
            "--log",
            &log.target().expect("an address"),
        ],
    );
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    let call = client.call("slow", "{}");
    let gateway = rig.gateway;
    let stop = async {
        let sent = |entry: &countersign_fixture::Entry| {
            String::from_utf8_lossy(entry.body()).contains("tools/call")
        };
        log.find(WAIT, sent).await.expect("the log");
        gateway.stop(std::future::pending()).await;
    };
    let (answer, ()) = tokio::join!(call, stop);
    assert!(result(&answer.expect("an answer")).contains("content"));
    // The child has closed its log: it is gone.
    while log
        .next(Duration::from_secs(10))
        .await
        .expect("the log")
        .is_some()
    {}
    assert!(client.call("slow", "{}").await.is_err());
}

/// The gateway ends its streams when it stops, and closes their connections. A proxy that did not know it beforehand might
/// send its next request by one of them at that moment.
#[tokio::test]
async fn a_stream_behind_a_proxy_says_that_its_connection_closes() {
    for (delay, expected) in [(Some(Duration::from_secs(5)), Some("close")), (None, None)] {
        let (server, _folder) = scripted("x", &Script::new("x").tool(Tool::named("quick")));
        let rig = Rig::with(vec![server], |config| config.drain_delay = delay).await;
        let client = rig.client("/mcp/s/x").handshake("2025-11-25").await;
        let client = client.expect("a session");
        let stream = client.open("GET", b"").await.expect("a stream");
        assert_eq!(stream.header("connection"), expected, "{delay:?}");
        let answer = client.call("quick", "{}").await.expect("an answer");
        assert_eq!(answer.header("connection"), None, "{delay:?}");
    }
}
