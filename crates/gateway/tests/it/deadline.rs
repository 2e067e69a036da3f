//! The inspection of an answer is part of the call, so the call's time-out holds for it as for the server.

use std::sync::mpsc;
use std::time::Duration;

use countersign_fixture::{Answer, Body, Script, Tool};

use crate::support::{Rig, refusal, result, scripted};

/// An answer that is large enough to be inspected aside.
fn large() -> Answer {
    let body = Body::new(r#"{"content":[{"type":"text","text":""#)
        .repeat("x", 1 << 20)
        .then(r#""}]}"#);
    Answer::result(body)
}

/// The only thread on which large answers are inspected is busy, so this inspection never ends.
#[test]
fn an_inspection_that_does_not_end_is_not_waited_for_longer_than_the_call() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let script = Script::new("s")
            .tool(Tool::named("large").answer(large()))
            .tool(Tool::named("small").result(r#"{"content":[]}"#));
        let (server, _folder) = scripted("x", &script);
        let rig = Rig::with(vec![server], |config| {
            config.call_tool_timeout = Duration::from_secs(2);
        })
        .await;
        let client = rig.client("/mcp/s/x");
        let (release, held) = mpsc::channel::<()>();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let busy = tokio::task::spawn_blocking(move || {
            begun.send(()).ok();
            held.recv().ok();
        });
        has_begun.await.expect("the thread is busy");
        let small = client.call("small", "{}").await.expect("an answer");
        assert!(result(&small).contains("content"));
        let answer = client.call("large", "{}").await.expect("an answer");
        let said = refusal(&answer);
        assert!(said.contains("within 2000 ms"), "{said}");
        drop(release);
        busy.await.expect("no panic");
    });
}
