//! Whatever a server does over HTTP, in JSON or in events, the client gets an answer for its id,
//! and other calls go on.

use std::time::Duration;

use countersign_config::Server;
use countersign_fixture::client::{HttpClient, Response, call_params, request};
use countersign_fixture::http::{self, Format};
use countersign_fixture::{Eras, Script, preset};

use crate::support::{KEY, Rig, blocked_text, error_code, over_http, refusal, result, text};

const FORMATS: [Format; 2] = [Format::Json, Format::Sse];

const LATE: &str = "the tool's server did not answer within 1000 ms; the call may have run, so check before you repeat it";
const LOST: &str = "the tool's server went away before it answered; the call may have run, so check before you repeat it";
const MALFORMED: &str = "the tool's server sent an answer that is not valid MCP";
const LARGE: &str = "the tool's answer is larger than 16777216 bytes";
const FULL: &str = "too many calls are waiting for this tool's server; try again later";

async fn faults(format: Format) -> (Server, http::Server) {
    over_http("x", preset::faults(), format).await
}

async fn call(rig: &Rig, tool: &str) -> Response {
    let answer = rig.client("/mcp/s/x").call(tool, "{}").await.expect(tool);
    assert_eq!(answer.status, 200, "{tool}");
    answer
}

async fn goes_on(rig: &Rig) {
    let ok = result(&call(rig, "ok").await);
    assert!(ok.contains(r#""text":"ok""#), "{ok}");
}

/// What an agent reads in place of an answer that cannot be framed.
fn unframed(rule: &str, tool: &str) -> String {
    blocked_text("transport", rule, &format!("x:{tool}"))
}

#[tokio::test]
async fn large_and_deep_results_pass_or_are_refused() {
    for format in FORMATS {
        let (server, _fixture) = faults(format).await;
        let rig = Rig::over(vec![server]).await;
        let big = call(&rig, "text_8mib").await;
        assert_eq!(big.body.len() / (1 << 20), 8);
        for tool in ["deep_200", "deep_100000"] {
            let deep = refusal(&call(&rig, tool).await);
            assert_eq!(deep, unframed("transport.too_deep", tool));
        }
        assert_eq!(refusal(&call(&rig, "huge").await), LARGE);
        goes_on(&rig).await;
        let record = rig.activity("type=tool_call&tool=huge").await;
        assert_eq!(record["status"], "error");
    }
}

#[tokio::test]
async fn silence_ends_with_the_time_out() {
    for format in FORMATS {
        let (mut server, _fixture) = faults(format).await;
        server.timeout = Some(Duration::from_secs(1));
        let rig = Rig::over(vec![server]).await;
        let (never, stalls) = tokio::join!(call(&rig, "never"), call(&rig, "stall_mid_reply"));
        for late in [never, stalls] {
            assert_eq!(refusal(&late), LATE, "{format:?}");
        }
        goes_on(&rig).await;
    }
}

const MINUTE: Duration = Duration::from_mins(1);

/// What a client is told `silence` after its server said one thing in a stream of events; the server answers after
/// `delay`, and its time-out is a quarter of an hour.
async fn told_after(silence: Duration, delay: Duration) -> String {
    let log = r#"{"log":{"level":"info","text":"hi"}}"#;
    let delay = delay.as_millis();
    let steps = format!(r#"[{log},{{"delay_ms":{delay}}},{{"answer":{{}}}}]"#);
    let tool = format!(
        r#"{{"tool":{{"name":"slow","inputSchema":{{"type":"object"}}}},"steps":{steps}}}"#
    );
    let script = format!(r#"{{"name":"s","eras":"legacy","tools":[{tool}]}}"#);
    let script = Script::from_json(script.as_bytes()).expect("a script");
    let (mut server, _fixture) = over_http("x", script, Format::Sse).await;
    server.timeout = Some(15 * MINUTE);
    let rig = Rig::over(vec![server]).await;
    let url = format!("http://{}/mcp/s/x", rig.gateway.address());
    let client = HttpClient::new(&url, 60 * MINUTE).expect("a URL");
    let client = client.with_header("X-API-Key", KEY);
    let client = client.handshake("2025-11-25").await.expect("a session");
    let call = request("1", "tools/call", &call_params("slow", "{}"));
    let mut stream = client.open("POST", &call).await.expect("a stream");
    let log = stream.event().await.expect("a stream").expect("an event");
    assert!(text(&log.data).contains("notifications/message"));
    // From here on the server waits for its delay, and the gateway for the next event.
    tokio::time::pause();
    tokio::time::advance(silence).await;
    tokio::time::resume();
    loop {
        let event = stream.event().await.expect("a stream").expect("an event");
        if !event.comment {
            return text(&event.data);
        }
    }
}

#[tokio::test]
async fn a_call_outlives_the_silence_of_its_stream() {
    let answer = told_after(11 * MINUTE, 10 * MINUTE).await;
    assert!(answer.contains(r#""result":{"content":[]}"#), "{answer}");
}

#[tokio::test]
async fn a_stream_that_stays_silent_ends_with_the_time_out_that_was_configured() {
    let answer = told_after(15 * MINUTE, 20 * MINUTE).await;
    assert!(
        answer.contains("did not answer within 900000 ms"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_broken_reply_is_a_lost_one() {
    for format in FORMATS {
        let (server, _fixture) = faults(format).await;
        let rig = Rig::over(vec![server]).await;
        let mut tools = vec!["close_mid_reply", "bad_chunks"];
        if format == Format::Json {
            tools.push("length_too_long");
        }
        for tool in tools {
            assert_eq!(refusal(&call(&rig, tool).await), LOST, "{tool} {format:?}");
            goes_on(&rig).await;
        }
    }
}

#[tokio::test]
async fn a_length_that_is_too_short_spoils_no_other_reply() {
    let (server, _fixture) = faults(Format::Json).await;
    let rig = Rig::over(vec![server]).await;
    let cut = refusal(&call(&rig, "length_too_short").await);
    assert_eq!(cut, unframed("transport.not_json", "length_too_short"));
    goes_on(&rig).await;
}

#[tokio::test]
async fn answers_that_cannot_be_framed_are_refused_at_once() {
    for format in FORMATS {
        let (server, _fixture) = faults(format).await;
        let rig = Rig::over(vec![server]).await;
        for (tool, rule) in [
            ("invalid_utf8", "transport.not_utf8"),
            ("string_id", "transport.bad_id"),
            ("neither", "transport.not_json"),
            ("result_and_error", "transport.not_json"),
            ("duplicate_result", "transport.not_json"),
            ("duplicate_structured", "transport.not_json"),
        ] {
            let refused = refusal(&call(&rig, tool).await);
            assert_eq!(refused, unframed(rule, tool), "{tool} {format:?}");
            goes_on(&rig).await;
        }
    }
}

#[tokio::test]
async fn an_answer_to_somebody_else_is_none() {
    let (server, _fixture) = faults(Format::Sse).await;
    let rig = Rig::over(vec![server]).await;
    for tool in ["wrong_id", "null_id"] {
        assert_eq!(refusal(&call(&rig, tool).await), MALFORMED, "{tool}");
        goes_on(&rig).await;
    }
    rig.counted("stray_answers", 2).await;
    let (server, _fixture) = faults(Format::Json).await;
    let rig = Rig::over(vec![server]).await;
    for tool in ["wrong_id", "null_id"] {
        let refused = refusal(&call(&rig, tool).await);
        assert_eq!(refused, unframed("transport.bad_id", tool), "{tool}");
        goes_on(&rig).await;
    }
}

#[tokio::test]
async fn two_answers_are_one_or_none() {
    let (server, _fixture) = faults(Format::Sse).await;
    let rig = Rig::over(vec![server]).await;
    assert!(result(&call(&rig, "twice").await).contains(r#""text":"ok""#));
    goes_on(&rig).await;
    // In one body they are no JSON.
    let (server, _fixture) = faults(Format::Json).await;
    let rig = Rig::over(vec![server]).await;
    let refused = refusal(&call(&rig, "twice").await);
    assert_eq!(refused, unframed("transport.not_json", "twice"));
    goes_on(&rig).await;
}

#[tokio::test]
async fn noise_around_an_answer_in_events_does_no_harm() {
    let (server, _fixture) = faults(Format::Sse).await;
    let rig = Rig::over(vec![server]).await;
    for tool in [
        "garbage",
        "asks_client",
        "list_changed",
        "log",
        "progress",
        "comment",
    ] {
        assert!(
            result(&call(&rig, tool).await).contains(r#""text":"ok""#),
            "{tool}"
        );
    }
    assert_eq!(refusal(&call(&rig, "only_garbage").await), LOST);
    goes_on(&rig).await;
    rig.counted("lines_skipped", 3).await;
}

#[tokio::test]
async fn odd_answers_are_answers() {
    for format in FORMATS {
        let (server, _fixture) = faults(format).await;
        let rig = Rig::over(vec![server]).await;
        for tool in [
            "batch",
            "no_jsonrpc",
            "lone_surrogate",
            "result_scalar",
            "result_null",
        ] {
            assert!(!call(&rig, tool).await.body.is_empty(), "{tool}");
        }
        assert_eq!(error_code(&call(&rig, "error").await), -32050);
        goes_on(&rig).await;
    }
}

#[tokio::test]
async fn what_is_no_answer_is_refused_and_never_followed() {
    for eras in [Eras::Legacy, Eras::Modern] {
        let script = preset::faults().eras(eras);
        let (server, _fixture) = over_http("x", script, Format::Json).await;
        let rig = Rig::over(vec![server]).await;
        for (tool, expected) in [
            ("redirect", MALFORMED),
            ("http_401", MALFORMED),
            ("http_500", MALFORMED),
            ("http_503", FULL),
            ("html", MALFORMED),
            ("http_404", LOST),
        ] {
            assert_eq!(
                refusal(&call(&rig, tool).await),
                expected,
                "{tool} {eras:?}"
            );
            goes_on(&rig).await;
        }
        let empty = refusal(&call(&rig, "empty_body").await);
        assert_eq!(empty, unframed("transport.not_json", "empty_body"));
    }
}

#[tokio::test]
async fn slow_calls_do_not_hold_up_others() {
    for format in FORMATS {
        let (server, _fixture) = faults(format).await;
        let rig = Rig::over(vec![server]).await;
        let client = rig.client("/mcp/s/x");
        let others = async {
            for _ in 0..20 {
                goes_on(&rig).await;
            }
        };
        tokio::select! {
            _ = client.call("never", "{}") => panic!("the server never answers"),
            () = others => {}
        }
    }
}
