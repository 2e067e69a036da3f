//! `/events`: everything in order, once, also for a client that was away.

use countersign_fixture::client::Exchange;
use serde_json::Value;

use crate::support::{Rig, preset, strict};

async fn listen(rig: &Rig, path: &str, last: Option<u64>) -> Exchange {
    let mut client = rig.client(path);
    if let Some(last) = last {
        client = client.with_header("Last-Event-ID", &last.to_string());
    }
    let mut exchange = client.open("GET", b"").await.expect("an answer");
    assert_eq!(exchange.status, 200);
    let first = exchange.event().await.expect("a stream");
    assert!(first.expect("a beginning").comment);
    exchange
}

/// The next record of a stream.
async fn next(exchange: &mut Exchange) -> Value {
    loop {
        let event = exchange.event().await.expect("a stream").expect("no end");
        if event.comment {
            continue;
        }
        assert_eq!(event.name.as_deref(), Some("activity"));
        let record: Value = serde_json::from_slice(&event.data).expect("JSON");
        assert_eq!(event.id, Some(record["seq"].to_string()));
        return record;
    }
}

#[tokio::test]
async fn a_client_hears_what_happens_and_misses_nothing_while_away() {
    let rig = Rig::over(vec![strict(preset("x", "demo"))]).await;
    let client = rig.client("/mcp/s/x");
    client.call("conforming", "{}").await.expect("an answer");
    let mut events = listen(&rig, "/events", None).await;
    client.call("bad_output", "{}").await.expect("an answer");
    let call = next(&mut events).await;
    assert_eq!(
        (&call["type"], &call["tool"]),
        (&"tool_call".into(), &"bad_output".into())
    );
    let decision = next(&mut events).await;
    assert_eq!(decision["parent_id"], call["id"]);
    assert_eq!(
        vec![decision.clone()],
        rig.activities("status=blocked").await
    );

    // Gone after the call; the decision and what follows are told again.
    drop(events);
    client.call("text_only", "{}").await.expect("an answer");
    let seen = call["seq"].as_u64().expect("a place");
    let mut events = listen(&rig, "/events", Some(seen)).await;
    assert_eq!(next(&mut events).await, decision);
    assert_eq!(next(&mut events).await["tool"], "text_only");
    client.call("array", "{}").await.expect("an answer");
    assert_eq!(next(&mut events).await["tool"], "array");

    let mut decisions = listen(&rig, "/events?type=policy_decision", Some(0)).await;
    assert_eq!(next(&mut decisions).await, decision);
    client.call("too_deep", "{}").await.expect("an answer");
    assert_eq!(next(&mut decisions).await["tool"], "too_deep");
}

#[tokio::test]
async fn a_whole_store_is_told_in_order() {
    let rig = Rig::over(vec![preset("x", "demo")]).await;
    let client = rig.client("/mcp/s/x");
    for _ in 0..150 {
        client.call("text_only", "{}").await.expect("an answer");
    }
    let mut events = listen(&rig, "/events", Some(0)).await;
    let mut places = Vec::new();
    while places.len() < 151 {
        places.push(next(&mut events).await["seq"].as_u64().expect("a place"));
    }
    assert!(places.is_sorted_by(|one, other| one < other));
}

#[tokio::test]
async fn a_foreign_place_is_refused_and_a_stop_ends_the_stream() {
    let rig = Rig::over(Vec::new()).await;
    for wrong in [
        "x",
        "-1",
        "99999999999999999999",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ] {
        let client = rig.client("/events").with_header("Last-Event-ID", wrong);
        let answer = client.send("GET", b"").await.expect("an answer");
        assert_eq!(answer.status, 400, "{wrong}");
    }
    let mut events = listen(&rig, "/events", None).await;
    let stopped = rig.gateway.stop(std::future::pending());
    let ended = async { while events.event().await.expect("a clean end").is_some() {} };
    tokio::join!(stopped, ended);
}

#[tokio::test]
async fn only_so_many_streams_are_open_at_once() {
    let rig = Rig::with(Vec::new(), |config| config.activity.max_event_streams = 2).await;
    let _open = [
        listen(&rig, "/events", None).await,
        listen(&rig, "/events", None).await,
    ];
    let third = rig.client("/events").open("GET", b"").await;
    assert_eq!(third.expect("an answer").status, 503);
}
