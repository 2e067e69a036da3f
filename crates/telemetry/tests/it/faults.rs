//! Receivers that are away, slow, or talk nonsense.

use std::sync::Arc;
use std::time::Duration;

use countersign_telemetry::{CallTrace, EncodedDecision, SignalCounts, Telemetry};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::receiver::{Receiver, answer};
use crate::support::{call, decision, options};

fn counts(telemetry: &Telemetry, signal: &str) -> SignalCounts {
    let all = telemetry.counts();
    *all.iter()
        .find(|one| one.signal == signal)
        .expect("a signal")
}

/// Waits until the counts are as they should be. The test runner has the last word about how long.
async fn until(telemetry: &Telemetry, signal: &str, is_so: impl Fn(SignalCounts) -> bool) {
    while !is_so(counts(telemetry, signal)) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A receiver that does this with each connection.
async fn raw_receiver(reply: Option<&'static [u8]>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            match reply {
                None => held.push(stream),
                Some(reply) => {
                    tokio::spawn(async move {
                        let mut some = [0; 1024];
                        let _read = stream.read(&mut some).await;
                        let _written = stream.write_all(reply).await;
                    });
                }
            }
        }
    });
    format!("http://{address}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_never_answers_costs_no_more_than_a_full_queue() {
    let endpoint = raw_receiver(None).await;
    let telemetry = Arc::new(Telemetry::start(&options(&endpoint)).expect("an address"));
    let trace = CallTrace::begin(None, None);
    let log = EncodedDecision::from(&decision(Some(&trace)));
    for _ in 0..50_000 {
        telemetry.observe(&call(Some(&trace)));
        telemetry.log(&log);
    }
    let traces = counts(&telemetry, "traces");
    assert_eq!(traces.exported, 0);
    // Two spans of some 300 bytes for each call, 4 MiB of which may wait.
    assert!(traces.dropped > 70_000, "{traces:?}");
    assert!(counts(&telemetry, "logs").dropped > 20_000);
    telemetry.close().await;
}

#[tokio::test]
async fn a_receiver_that_is_away_is_tried_again() {
    let receiver = Receiver::start(|number| match number {
        1 => answer(503, b""),
        2 => answer(429, b"\xff\xff nonsense"),
        _ => answer(200, b""),
    })
    .await;
    let mut options = options(&receiver.endpoint);
    (options.metrics, options.logs) = (false, false);
    let telemetry = Telemetry::start(&options).expect("an address");
    telemetry.observe(&call(Some(&CallTrace::begin(None, None))));
    until(&telemetry, "traces", |traces| traces.exported == 2).await;
    let traces = counts(&telemetry, "traces");
    assert_eq!((traces.failures, traces.dropped), (2, 0));
    let bodies: Vec<_> = receiver.exports("/base/v1/traces");
    assert_eq!(bodies.len(), 3);
    assert!(bodies.iter().all(|export| export.body == bodies[0].body));
}

#[tokio::test]
async fn what_a_receiver_refuses_is_dropped_and_counted() {
    for (status, failures) in [(400, 1), (404, 1), (301, 1), (500, 1)] {
        let receiver = Receiver::start(match status {
            400 => |_| answer(400, b"<html>"),
            404 => |_| answer(404, b""),
            301 => |_| answer(301, b""),
            _ => |_| answer(500, b""),
        })
        .await;
        let telemetry = Telemetry::start(&options(&receiver.endpoint)).expect("an address");
        telemetry.observe(&call(Some(&CallTrace::begin(None, None))));
        until(&telemetry, "traces", |traces| traces.dropped == 2).await;
        assert_eq!(counts(&telemetry, "traces").failures, failures, "{status}");
        telemetry.close().await;
    }
}

#[tokio::test]
async fn what_a_receiver_rejects_is_counted() {
    // Field 1: { field 1: 1, field 2: "no" }.
    let receiver = Receiver::start(|_| answer(200, b"\x0a\x06\x08\x01\x12\x02no")).await;
    let telemetry = Telemetry::start(&options(&receiver.endpoint)).expect("an address");
    telemetry.observe(&call(Some(&CallTrace::begin(None, None))));
    telemetry.close().await;
    let traces = counts(&telemetry, "traces");
    assert_eq!(
        (traces.exported, traces.rejected, traces.dropped),
        (1, 1, 0)
    );
}

#[tokio::test]
async fn nonsense_for_an_answer_is_a_failure_or_says_nothing() {
    let endless = raw_receiver(Some(
        b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nxxxx",
    ));
    let telemetry = Telemetry::start(&options(&endless.await)).expect("an address");
    telemetry.observe(&call(Some(&CallTrace::begin(None, None))));
    telemetry.close().await;
    assert_eq!(counts(&telemetry, "traces").exported, 2);

    let garbage = raw_receiver(Some(b"\x00\xff\x00 not HTTP at all\r\n\r\n")).await;
    let telemetry = Telemetry::start(&options(&garbage)).expect("an address");
    telemetry.observe(&call(Some(&CallTrace::begin(None, None))));
    telemetry.close().await;
    let traces = counts(&telemetry, "traces");
    assert_eq!((traces.exported, traces.dropped), (0, 2));
    assert!(traces.failures >= 1);
}

#[tokio::test]
async fn an_address_that_cannot_be_used_is_told_at_the_start() {
    for endpoint in ["", "ftp://a.example", "http://", "nonsense"] {
        assert!(Telemetry::start(&options(endpoint)).is_err(), "{endpoint}");
    }
}
