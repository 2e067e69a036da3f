//! Many connections at once: those that say nothing keep no client out, and many streams of events cost as much as one.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use crate::support::{Rig, WAIT, preset, raise_file_limit, result};

async fn crowd(address: SocketAddr, size: usize) -> Vec<TcpStream> {
    let mut crowd = Vec::new();
    for _ in 0..size {
        crowd.push(TcpStream::connect(address).await.expect("it listens"));
    }
    crowd
}

#[tokio::test(flavor = "multi_thread")]
async fn half_open_connections_make_room_for_newer_ones() {
    raise_file_limit();
    let rig = Rig::over(vec![preset("x", "demo")]).await;
    let client = rig.client("/mcp/s/x");
    // Its connection has shown the key, so it stays whatever comes.
    client.call("text_only", "{}").await.expect("an answer");
    let mut silent = crowd(rig.gateway.address(), 2200).await;
    rig.counted("evicted", 2200 - 2048).await;
    let mut byte = [0];
    let closed = silent[0].read(&mut byte).await;
    assert!(matches!(closed, Ok(0) | Err(_)), "the oldest is closed");
    let answer = client.call("text_only", "{}").await.expect("an answer");
    assert!(result(&answer).contains("content"));
    // So has another client a place.
    let stranger = rig.stranger("/mcp/s/x");
    let refused = stranger.call("text_only", "{}").await.expect("an answer");
    assert_eq!(refused.status, 401);
    let newcomer = rig.client("/mcp/s/x");
    let answer = newcomer.call("text_only", "{}").await.expect("an answer");
    assert!(result(&answer).contains("content"));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_streams_hear_the_same() {
    let rig = Rig::over(vec![preset("x", "demo")]).await;
    let mut streams = Vec::new();
    for _ in 0..40 {
        let mut stream = rig.client("/events").open("GET", b"").await.expect("open");
        assert_eq!(stream.status, 200);
        let first = stream.event().await.expect("a stream");
        assert!(first.expect("a beginning").comment);
        streams.push(stream);
    }
    let client = rig.client("/mcp/s/x");
    client.call("text_only", "{}").await.expect("an answer");
    for stream in &mut streams {
        let event = stream.event().await.expect("a stream").expect("no end");
        let record: Value = serde_json::from_slice(&event.data).expect("JSON");
        assert_eq!(record["tool"], "text_only");
    }
    // The feed ends with its last stream and begins again with the next.
    drop(streams);
    client.call("text_only", "{}").await.expect("an answer");
    let mut stream = rig.client("/events").open("GET", b"").await.expect("open");
    let first = stream.event().await.expect("a stream");
    assert!(first.expect("a beginning").comment);
    client.call("array", "{}").await.expect("an answer");
    let event = stream.event().await.expect("a stream").expect("no end");
    let record: Value = serde_json::from_slice(&event.data).expect("JSON");
    assert_eq!(record["tool"], "array");
}

/// Also when they are asked for at the same time, before any of them is open.
#[tokio::test(flavor = "multi_thread")]
async fn no_more_than_128_event_streams_are_open() {
    raise_file_limit();
    let rig = Rig::over(vec![preset("x", "demo")]).await;
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..300 {
        let client = rig.client("/events");
        asked.spawn(async move { client.open("GET", b"").await.expect("an answer") });
    }
    let answers = asked.join_all().await;
    let open = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(open, 128);
    let refused = answers.iter().filter(|answer| answer.status == 503).count();
    assert_eq!(refused, 300 - 128);
    // A stream that ends leaves its place to another.
    drop(answers);
    let again = async {
        loop {
            let stream = rig.client("/events").open("GET", b"").await;
            if stream.expect("an answer").status == 200 {
                return;
            }
        }
    };
    tokio::time::timeout(WAIT, again).await.expect("a place");
}
