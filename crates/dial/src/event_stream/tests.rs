use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::Frame;

use super::*;

/// A body in chunks; `None` is where the connection breaks.
struct Chunks(VecDeque<Option<Bytes>>);

impl Body for Chunks {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(self.0.pop_front().map(|chunk| match chunk {
            Some(chunk) => Ok(Frame::data(chunk)),
            None => Err(io::ErrorKind::ConnectionReset.into()),
        }))
    }
}

fn chunks(stream: &[u8], chunk: usize) -> Chunks {
    let pieces = stream.chunks(chunk).map(Bytes::copy_from_slice);
    Chunks(pieces.map(Some).collect())
}

async fn read(stream: &[u8], chunk: usize, limit: usize) -> Result<Vec<String>, ReadError> {
    let mut events = EventStream::new(chunks(stream, chunk), limit, Budget::new(1 << 20));
    let mut all = Vec::new();
    while let Some(data) = events.next().await? {
        all.push(String::from_utf8_lossy(&data).into_owned());
    }
    Ok(all)
}

#[tokio::test]
async fn messages_come_out_however_they_are_cut_and_ended() {
    let stream = "\u{feff}: hi\n\nevent: message\nid: 7\ndata: {\"a\":1}\n\ndata:one\r\ndata\r\ndata:  two\r\n\r\nretry: 5\rdata: x\r\rdatax: no\n\ndata: unfinished\n";
    for chunk in 1..=stream.len() {
        let all = read(stream.as_bytes(), chunk, 1000).await.expect("events");
        assert_eq!(all, ["{\"a\":1}", "one\n\n two", "x"], "{chunk}");
    }
}

#[tokio::test]
async fn a_stream_says_where_and_when_it_can_be_resumed() {
    let long = "x".repeat(MAX_ID_BYTES + 1);
    let long = format!("id: 1\n\nid: {long}\n\n");
    let exact = "x".repeat(MAX_ID_BYTES);
    let (fits, exact) = (format!("id: {exact}\n\n"), exact.as_str());
    let second = Duration::from_secs(1);
    for (stream, id, retry) in [
        ("data: x\n\n", None, None),
        ("id: a b\nretry: 1000\ndata:\n\n", Some("a b"), Some(second)),
        ("id:1\n\n: c\n\ndata: x\n\n", Some("1"), None),
        ("id: 1\n\nid: unfinished\n", Some("1"), None),
        ("id: 1\n\nid\n\n", None, None),
        (&fits, Some(exact), None),
        (&long, None, None),
        ("id: 1\n\nid: a\u{0}b\n\n", None, None),
        ("id: 1\n\nid: a\u{b}b\n\n", None, None),
        ("idx: 1\nretryx: 1\n\n", None, None),
        (
            "retry: 1000\nretry: -5\nretry:\nretry: 1e3\n\n",
            None,
            Some(second),
        ),
        ("retry: 0\n\n", None, Some(Duration::ZERO)),
        (
            "retry: 99999999999999999999999\n\n",
            None,
            Some(Duration::from_millis(u64::MAX)),
        ),
    ] {
        for chunk in [1, 7, stream.len()] {
            let mut events =
                EventStream::new(chunks(stream.as_bytes(), chunk), 5000, Budget::new(1 << 20));
            while let Ok(Some(message)) = events.next().await {
                assert_eq!(message, "x", "an event without data is no message");
            }
            let point = events.resume_point();
            let found = point.last_event_id.as_ref().map(HeaderValue::as_bytes);
            assert_eq!(found, id.map(str::as_bytes), "{stream}");
            assert_eq!(point.retry, retry, "{stream}");
        }
    }
}

#[tokio::test]
async fn a_resumed_stream_goes_on_from_its_point() {
    let before = ResumePoint {
        last_event_id: Some(HeaderValue::from_static("1")),
        retry: Some(Duration::ZERO),
    };
    for (stream, id) in [
        ("data: x\n\n", Some("1")),
        ("id: 2\n\n", Some("2")),
        ("id\n\n", None),
    ] {
        let body = chunks(stream.as_bytes(), 3);
        let mut events =
            EventStream::new(body, 1000, Budget::new(1 << 20)).resumed_from(before.clone());
        while let Ok(Some(_)) = events.next().await {}
        let point = events.resume_point();
        let found = point.last_event_id.as_ref().map(HeaderValue::as_bytes);
        assert_eq!(found, id.map(str::as_bytes), "{stream}");
        assert_eq!(point.retry, Some(Duration::ZERO));
    }
}

#[tokio::test]
async fn an_event_without_end_is_refused() {
    let line = format!("data: {}", "x".repeat(10_000));
    for endless in [line, "data: x\n".repeat(10_000), "x".repeat(10_000)] {
        let all = read(endless.as_bytes(), 100, 1000).await;
        assert_eq!(all, Err(ReadError::TooLarge));
    }
    let many = "data: x\n\n".repeat(10_000);
    let all = read(many.as_bytes(), 100, 1000).await;
    assert_eq!(all.map(|all| all.len()), Ok(10_000));
}

#[tokio::test]
async fn a_connection_that_breaks_is_not_the_end_of_the_stream() {
    let body = Chunks([Some(Bytes::from_static(b"data: 1\n\ndata: 2\n")), None].into());
    let mut events = EventStream::new(body, 1000, Budget::new(1 << 20));
    assert_eq!(
        events.next().await,
        Ok(Some(Bytes::from_static(b"1"))),
        "what came whole is not lost"
    );
    assert_eq!(events.next().await, Err(ReadError::Broken));
}

#[tokio::test(start_paused = true)]
async fn large_messages_take_from_the_budget_while_they_are_held() {
    let message = "x".repeat(2 * Budget::FREE);
    let stream = format!("data: {message}\n\n").repeat(2);
    let budget = Budget::new(3 * Budget::FREE);
    let body = chunks(stream.as_bytes(), 1000);
    let mut events = EventStream::new(body, stream.len(), budget.clone());
    let first = events.next().await.expect("memory for one");
    assert_eq!(first.as_deref(), Some(message.as_bytes()));
    let mut others = EventStream::new(chunks(stream.as_bytes(), 1000), stream.len(), budget);
    assert_eq!(others.next().await, Err(ReadError::Busy));
    drop(first);
    let second = events.next().await.expect("memory again");
    assert_eq!(second.as_deref(), Some(message.as_bytes()));
}
