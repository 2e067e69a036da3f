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
