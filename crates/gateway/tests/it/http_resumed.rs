//! Streams that end before the answer: a legacy server that gave an event id is asked for the rest, and no call is
//! made twice.

use std::collections::BTreeMap;
use std::time::Duration;

use countersign_config::{Protocol, Secret, Server, Transport};
use countersign_fixture::client::request;
use countersign_fixture::http::{self, Format};
use countersign_fixture::{Entry, Log, Script};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::support::{Rig, WAIT, logged_http, received, refusal, result, text};

const LATE: &str = "the tool's server did not answer within 1000 ms; the call may have run, so check before you repeat it";
const LOST: &str = "the tool's server went away before it answered; the call may have run, so check before you repeat it";

const RESULT: &str =
    r#"{"content":[ {"type":"text","text":"done"} ],"n": 1.0,"big":12345678901234567890}"#;

/// A server of one era with one tool, `poll`, that does these steps.
fn script(eras: &str, steps: &str) -> Script {
    let script = format!(
        r#"{{"name":"s","eras":"{eras}","tools":[{{"tool":{{"name":"poll","inputSchema":{{"type":"object"}}}},"steps":[{steps}]}}]}}"#
    );
    Script::from_json(script.as_bytes()).expect("a script")
}

fn answer() -> String {
    format!(r#"{{"answer":{{"result":{RESULT}}}}}"#)
}

/// A step that names an event, and asks for a reconnection as soon as may be.
fn event(id: &str) -> String {
    format!(r#"{{"event_id":{{"id":"{id}","retry":"0"}}}}"#)
}

async fn legacy(steps: &str) -> (Server, http::Server, UnboundedReceiver<Entry>) {
    logged_http("x", script("legacy", steps), Format::Sse).await
}

/// What a server received: how many calls, how many greetings, and which requests to resume a stream.
#[derive(Debug, Default)]
struct ServerLog {
    calls: usize,
    greetings: usize,
    resumes: Vec<Entry>,
}

impl ServerLog {
    fn last_event_ids(&self) -> Vec<String> {
        let ids = self.resumes.iter();
        ids.filter_map(|entry| entry.header("Last-Event-ID"))
            .collect()
    }
}

/// Everything the server received, once it and the gateway are gone.
async fn server_log(
    rig: Rig,
    fixture: http::Server,
    mut entries: UnboundedReceiver<Entry>,
) -> ServerLog {
    drop((rig, fixture));
    let mut log = ServerLog::default();
    while let Some(entry) = entries.recv().await {
        let body = text(entry.body());
        log.calls += usize::from(body.contains(r#""tools/call""#));
        log.greetings += usize::from(body.contains(r#""initialize""#));
        if entry.header("Last-Event-ID").is_some() {
            log.resumes.push(entry);
        }
    }
    log
}

#[tokio::test]
async fn a_stream_that_was_closed_is_resumed_and_the_call_is_made_once() {
    let progress = r#"{"progress":{"done":1,"total":3}}"#;
    let (first, second, answer) = (event("1"), event("2/=\u{e9}"), answer());
    let steps = format!(
        r#"{first},{{"close_stream":{{}}}},{progress},{second},{{"close_stream":{{"broken":true}}}},{progress},{answer}"#
    );
    let (log, entries) = Log::channel();
    let script = script("legacy", &steps);
    let fixture = http::Server::bind("127.0.0.1:0", script, Format::Sse, log).await;
    let fixture = fixture.expect("a port");
    let transport = Transport::Http {
        url: fixture.url(),
        headers: BTreeMap::from([("Authorization".to_owned(), Secret::new("Bearer ours"))]),
        protocol: Protocol::StreamableHttp,
    };
    let rig = Rig::over(vec![Server::new("x".to_owned(), transport)]).await;
    let params = r#"{"name":"poll","arguments":{},"_meta":{"progressToken":"my token"}}"#;
    let call = request("\"c\"", "tools/call", params);
    let reply = rig.client("/mcp/s/x").post(&call).await.expect("an answer");
    let messages: Vec<String> = reply.messages().iter().map(|bytes| text(bytes)).collect();
    let note = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"my token","progress":1,"total":3}}"#;
    let whole = format!(r#"{{"jsonrpc":"2.0","id":"c","result":{RESULT}}}"#);
    assert_eq!(messages, [note, note, &whole]);
    let log = server_log(rig, fixture, entries).await;
    assert_eq!((log.calls, log.greetings), (1, 1));
    assert_eq!(log.last_event_ids(), ["1", "2/=\u{e9}"]);
    for resume in &log.resumes {
        assert!(resume.body().is_empty());
        for (name, value) in [
            ("Authorization", Some("Bearer ours")),
            ("MCP-Protocol-Version", Some("2025-11-25")),
            ("Mcp-Session-Id", Some("fixture-session-1")),
            ("Accept", Some("text/event-stream")),
            ("Content-Type", None),
        ] {
            assert_eq!(resume.header(name).as_deref(), value, "{name}");
        }
    }
}

#[tokio::test]
async fn a_stream_is_resumed_as_often_as_it_is_closed() {
    let closed = |id: &str| format!(r#"{},{{"close_stream":{{}}}},"#, event(id));
    let mut steps = ["a", "b", "c", "d"].map(closed).concat();
    // A stream without an id of its own goes on from the one before; one refusal may be chance.
    steps += r#"{"close_stream":{}},{"http":{"status":503}},"#;
    let (server, fixture, log) = legacy(&(steps + &answer())).await;
    let rig = Rig::over(vec![server]).await;
    let reply = rig.client("/mcp/s/x").call("poll", "{}").await;
    assert_eq!(result(&reply.expect("an answer")), RESULT);
    let log = server_log(rig, fixture, log).await;
    assert_eq!((log.calls, log.greetings), (1, 1));
    assert_eq!(log.last_event_ids(), ["a", "b", "c", "d", "d", "d"]);
}

#[tokio::test]
async fn a_refused_resume_is_a_lost_call_that_is_not_made_again() {
    for status in [400, 404, 405, 200] {
        let refused = format!(r#"{{"http":{{"status":{status}}}}}"#);
        let steps = format!(
            r#"{},{{"close_stream":{{}}}},{refused},{}"#,
            event("1"),
            answer()
        );
        let (server, fixture, log) = legacy(&steps).await;
        let rig = Rig::over(vec![server]).await;
        let reply = rig.client("/mcp/s/x").call("poll", "{}").await;
        assert_eq!(refusal(&reply.expect("an answer")), LOST, "{status}");
        let log = server_log(rig, fixture, log).await;
        assert_eq!((log.calls, log.greetings), (1, 1), "{status}");
        assert_eq!(log.last_event_ids(), ["1"], "{status}");
    }
}

#[tokio::test]
async fn a_call_is_not_made_again_when_its_server_is_gone() {
    let steps = format!(r#"{},{{"stall":{{}}}}"#, event("1"));
    let (server, fixture, mut log) = legacy(&steps).await;
    let address = fixture.address();
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    let gone = async {
        received(&mut log, |entry| text(entry.body()).contains("tools/call")).await;
        drop(fixture);
    };
    let (reply, ()) = tokio::join!(client.call("poll", "{}"), gone);
    assert_eq!(refusal(&reply.expect("an answer")), LOST);
    // The server that comes back knows nothing of the call, and is not told.
    let (log, entries) = Log::channel();
    let fixture = http::Server::bind(address, script("legacy", &answer()), Format::Sse, log).await;
    let fixture = fixture.expect("the same port");
    let back = async {
        while rig.get("/api/v1/servers").await["servers"][0]["health"] != "up" {
            tokio::task::yield_now().await;
        }
    };
    let back = tokio::time::timeout(WAIT, back).await;
    back.expect("it comes back");
    let reply = client.call("poll", "{}").await;
    assert_eq!(result(&reply.expect("an answer")), RESULT);
    let log = server_log(rig, fixture, entries).await;
    assert_eq!((log.calls, log.resumes.len()), (1, 0));
}

#[tokio::test]
async fn a_pause_that_makes_no_sense_is_not_kept() {
    let close = r#"{"close_stream":{}}"#;
    for retry in ["-5", "1e9", "0x10"] {
        let event = format!(r#"{{"event_id":{{"id":"1","retry":"{retry}"}}}}"#);
        let (server, fixture, log) = legacy(&format!("{event},{close},{}", answer())).await;
        let rig = Rig::over(vec![server]).await;
        let reply = rig.client("/mcp/s/x").call("poll", "{}").await;
        assert_eq!(result(&reply.expect("an answer")), RESULT, "{retry}");
        assert_eq!(server_log(rig, fixture, log).await.calls, 1, "{retry}");
    }
    // One that is longer than the call's time-out ends with it.
    let event = r#"{"event_id":{"id":"1","retry":"99999999999999999999999999"}}"#;
    let (mut server, fixture, log) = legacy(&format!("{event},{close},{}", answer())).await;
    server.timeout = Some(Duration::from_secs(1));
    let rig = Rig::over(vec![server]).await;
    let reply = rig.client("/mcp/s/x").call("poll", "{}").await;
    assert_eq!(refusal(&reply.expect("an answer")), LATE);
    let log = server_log(rig, fixture, log).await;
    assert_eq!((log.calls, log.resumes.len()), (1, 0));
}

#[tokio::test]
async fn an_id_that_no_header_can_carry_is_not_sent() {
    let long = "x".repeat(5000);
    for id in [r"a\u0001b", r"a\u0000b", &long, ""] {
        let steps = format!(
            r#"{},{},{{"close_stream":{{}}}},{}"#,
            event("1"),
            event(id),
            answer()
        );
        let (server, fixture, log) = legacy(&steps).await;
        let rig = Rig::over(vec![server]).await;
        let reply = rig.client("/mcp/s/x").call("poll", "{}").await;
        assert_eq!(refusal(&reply.expect("an answer")), LOST);
        let log = server_log(rig, fixture, log).await;
        assert_eq!((log.calls, log.resumes.len()), (1, 0));
    }
}

#[tokio::test]
async fn who_leaves_while_a_stream_is_to_be_resumed_cancels_the_call() {
    let steps = r#"{"progress":{"done":1,"total":3}},{"event_id":{"id":"1","retry":"3600000"}},{"close_stream":{}}"#;
    let (server, fixture, mut log) = legacy(steps).await;
    let rig = Rig::over(vec![server]).await;
    let params = r#"{"name":"poll","arguments":{},"_meta":{"progressToken":1}}"#;
    let call = request("1", "tools/call", params);
    let client = rig.client("/mcp/s/x");
    let mut stream = client.open("POST", &call).await.expect("a stream");
    stream.event().await.expect("progress");
    drop(stream);
    let cancelled = |entry: &Entry| text(entry.body()).contains("notifications/cancelled");
    received(&mut log, cancelled).await;
    assert_eq!(server_log(rig, fixture, log).await.resumes.len(), 0);
}

#[tokio::test]
async fn a_modern_stream_that_ends_is_a_lost_call_that_is_not_made_again() {
    let steps = format!(r#"{},{{"close_stream":{{}}}},{}"#, event("1"), answer());
    let modern = script("modern", &steps);
    let (server, fixture, log) = logged_http("x", modern, Format::Sse).await;
    let rig = Rig::over(vec![server]).await;
    let reply = rig.client("/mcp/s/x").call("poll", "{}").await;
    assert_eq!(refusal(&reply.expect("an answer")), LOST);
    let log = server_log(rig, fixture, log).await;
    assert_eq!((log.calls, log.resumes.len()), (1, 0));
}
