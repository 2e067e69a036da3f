//! The memory for answers under way, over two real servers: one that holds all it can get, and an honest one.

use countersign_fixture::http::Format;
use countersign_fixture::{Answer, Body, Script, Step, Tool};

use crate::support::{Rig, over_http, refusal, result};

/// One call more than the memory has room for.
const CALLS: usize = 9;

/// A result with so many bytes of text.
fn large(bytes: u64) -> Body {
    Body::new(r#"{"content":[{"type":"text","text":""#)
        .repeat("x", bytes)
        .then(r#""}]}"#)
}

#[tokio::test]
async fn a_server_that_holds_memory_does_not_starve_another() {
    let stuck = Answer::result(large(1020 * 1024)).cut(1018 * 1024);
    let greedy = Tool::named("hold").steps(vec![Step::Answer(stuck), Step::Stall {}]);
    let honest = Tool::named("say").answer(Answer::result(large(200 * 1024)));
    let (greedy, _greedy) = over_http("greedy", Script::new("g").tool(greedy), Format::Json).await;
    let (honest, _honest) = over_http("honest", Script::new("h").tool(honest), Format::Json).await;
    let rig = Rig::with(vec![greedy, honest], |config| {
        config.max_message_bytes = 1 << 20;
        config.max_inflight_bytes = 8 << 20;
    })
    .await;

    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..CALLS {
        let client = rig.client("/mcp/s/greedy");
        calls.spawn(async move { client.call("hold", "{}").await });
    }
    // The first call that is answered was refused for want of memory: the others hold all that their server can get. With
    // one call more than fits, its memory is all that the others lack, so that nothing is left over for another server.
    let refused = calls.join_next().await.expect("a call");
    let refused = refused.expect("no panic").expect("an answer");
    let refused = refusal(&refused);
    assert_eq!(
        refused,
        "the gateway had no memory left for the tool's answer; the call may have run, so check before you repeat it"
    );

    let answer = rig.client("/mcp/s/honest").call("say", "{}").await;
    let answer = result(&answer.expect("an answer"));
    assert!(answer.len() > 200 * 1024, "{answer}");
}
