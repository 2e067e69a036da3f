//! Signals for OpenTelemetry: what a receiver gets of calls, what servers are told, and that a receiver that is away
//! costs no call. What is sent is read with OpenTelemetry's own message types.

use std::collections::BTreeMap;

use countersign_config::{Config, Protocol, Secret, Server, Transport};
use countersign_fixture::http::Format;
use countersign_fixture::{Entry, preset as presets, span};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::Value;

use crate::otlp_receiver::{Receiver, answer, hex, texts};
use crate::support::{
    KEY, Rig, error_code, logged_http, preset, received, refusal, result, strict, text,
};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const LINK: &str = "00-11111111111111111111111111111111-2222222222222222-01";
const ARGUMENT: &str = "argument-that-must-not-leave";

fn sends_to(receiver: &Receiver) -> impl FnOnce(&mut Config) {
    let endpoint = Secret::new(receiver.endpoint.clone());
    move |config| config.otlp.endpoint = Some(endpoint)
}

/// A server that is a path of another gateway.
fn behind(rig: &Rig, name: &str, path: &str) -> Server {
    let mut server = Server::http(name, "");
    server.transport = Transport::Http {
        url: format!("http://{}{path}", rig.gateway.address()),
        headers: BTreeMap::from([("X-API-Key".to_owned(), Secret::new(KEY))]),
        protocol: Protocol::StreamableHttp,
    };
    server
}

fn is_call(entry: &Entry) -> bool {
    text(entry.body()).contains(r#""tools/call""#)
}

/// The `params` of a call as the server got them.
fn params(entry: &Entry) -> String {
    text(span::member(entry.body(), "params").expect("params"))
}

async fn stop(rig: Rig) {
    rig.gateway.stop(std::future::pending()).await;
}

fn parents(spans: &[Span], parent: &Span) -> Vec<Span> {
    let children = spans
        .iter()
        .filter(|span| span.parent_span_id == parent.span_id);
    children.cloned().collect()
}

#[tokio::test]
async fn a_call_through_two_gateways_is_one_trace() {
    let receiver = Receiver::start(|_| answer(200, b"")).await;
    let (server, _fixture, mut log) = logged_http("x", presets::faults(), Format::Json).await;
    let inner = Rig::with(vec![server], sends_to(&receiver)).await;
    let outer = behind(&inner, "outer", "/mcp/s/x");
    let outer = Rig::with(vec![outer], sends_to(&receiver)).await;
    let client = outer
        .client("/mcp/s/outer")
        .with_header("traceparent", LINK);
    let meta =
        format!(r#"{{"traceparent":"{PARENT}","tracestate":"a=b","baggage":"k=v","own":1.0}}"#);
    let call = format!(r#"{{"name":"ok","arguments":{{"x":"{ARGUMENT}"}},"_meta":{meta}}}"#);
    let answer = client
        .request("tools/call", &call)
        .await
        .expect("an answer");
    assert!(result(&answer).contains(r#""text":"ok""#));
    let got = received(&mut log, is_call).await;
    stop(outer).await;
    stop(inner).await;

    let spans = receiver.spans();
    assert_eq!(spans.len(), 4, "{spans:?}");
    assert!(spans.iter().all(|span| hex(&span.trace_id) == TRACE));
    let first = spans
        .iter()
        .find(|span| hex(&span.parent_span_id) == "00f067aa0ba902b7");
    let mut span = first.expect("a span under the client's").clone();
    assert_eq!(hex(&span.links[0].trace_id), "1".repeat(32));
    assert_eq!(hex(&span.links[0].span_id), "2".repeat(16));
    let mut kinds = vec![span.kind()];
    while let [child] = &parents(&spans, &span)[..] {
        assert!(child.links.is_empty(), "only the client sent a header");
        assert_eq!(child.name, "tools/call ok");
        assert!(child.start_time_unix_nano >= span.start_time_unix_nano);
        assert!(child.end_time_unix_nano <= span.end_time_unix_nano + 5_000_000);
        kinds.push(child.kind());
        span = child.clone();
    }
    let both = [SpanKind::Server, SpanKind::Client];
    assert_eq!(kinds, [both, both].concat());
    let told = format!("00-{TRACE}-{}-01", hex(&span.span_id));
    let got = params(&got);
    assert!(got.contains(&format!(r#""traceparent":"{told}""#)), "{got}");
    assert!(
        got.contains(r#""tracestate":"a=b","baggage":"k=v","own":1.0"#),
        "{got}"
    );
    assert!(got.contains(&format!(r#""arguments":{{"x":"{ARGUMENT}"}}"#)));
}

#[tokio::test]
async fn hostile_trace_context_is_ignored() {
    let receiver = Receiver::start(|_| answer(200, b"")).await;
    let (server, _fixture, mut log) = logged_http("x", presets::faults(), Format::Json).await;
    let rig = Rig::with(vec![server], sends_to(&receiver)).await;
    let long = "f".repeat(100_000);
    let metas = [
        r#"{"traceparent":7,"tracestate":"a=b"}"#.to_owned(),
        r#"{"traceparent":{"a":[]},"tracestate":[]}"#.to_owned(),
        format!(r#"{{"traceparent":"{PARENT}","traceparent":"{PARENT}"}}"#),
        format!(r#"{{"traceparent":"00-{long}-01"}}"#),
        r#"{"traceparent":"00-00000000000000000000000000000000-00f067aa0ba902b7-01"}"#.to_owned(),
    ];
    for meta in &metas {
        let client = rig
            .client("/mcp/s/x")
            .with_header("traceparent", "nonsense");
        let call = format!(r#"{{"name":"ok","arguments":{{}},"_meta":{meta}}}"#);
        let answer = client
            .request("tools/call", &call)
            .await
            .expect("an answer");
        assert!(result(&answer).contains(r#""text":"ok""#));
        let got = params(&received(&mut log, is_call).await);
        assert_eq!(got.matches("traceparent").count(), 1, "{got}");
        assert!(!got.contains("tracestate"), "{got}");
        assert!(got.len() < 1000);
    }
    stop(rig).await;
    let spans = receiver.spans();
    let roots = spans.iter().filter(|span| span.parent_span_id.is_empty());
    let roots: Vec<&Span> = roots.collect();
    assert_eq!(roots.len(), metas.len());
    assert!(roots.iter().all(|span| span.links.is_empty()));
    assert!(spans.iter().all(|span| hex(&span.trace_id) != TRACE));
}

#[tokio::test]
async fn a_trace_that_is_not_recorded_passes_as_it_is() {
    let receiver = Receiver::start(|_| answer(200, b"")).await;
    let (server, _fixture, mut log) = logged_http("x", presets::faults(), Format::Json).await;
    let rig = Rig::with(vec![server], sends_to(&receiver)).await;
    let silent = PARENT.replace("-01", "-00");
    let call = format!(r#"{{"name":"ok","_meta":{{"traceparent":"{silent}"}},"arguments":{{}}}}"#);
    let client = rig.client("/mcp/s/x");
    client
        .request("tools/call", &call)
        .await
        .expect("an answer");
    let got = params(&received(&mut log, is_call).await);
    assert!(got.contains(&silent), "{got}");
    stop(rig).await;
    assert!(receiver.spans().is_empty());
}

#[tokio::test]
async fn decisions_leave_as_log_records_and_payloads_never() {
    let receiver = Receiver::start(|_| answer(200, b"")).await;
    let servers = vec![strict(preset("stub", "demo"))];
    let rig = Rig::with(servers, sends_to(&receiver)).await;
    let client = rig.client("/mcp/s/stub");
    let arguments = format!(r#"{{"x":"{ARGUMENT}"}}"#);
    let tools = ["conforming", "bad_output", "control_tokens", "error"];
    for tool in tools {
        client.call(tool, &arguments).await.expect("an answer");
    }
    let unknown = client.call("unheard-of", "{}").await.expect("an answer");
    assert_eq!(error_code(&unknown), -32602);
    let decisions = rig.activities("type=policy_decision").await;
    let calls = rig.activities("type=tool_call").await;
    stop(rig).await;

    let logs = receiver.logs();
    assert_eq!(logs.len(), decisions.len());
    let spans = receiver.spans();
    for log in &logs {
        let attributes = texts(&log.attributes);
        let id = &attributes["countersign.activity.id"];
        let decision = decisions.iter().find(|record| record["id"] == id.as_str());
        let decision = decision.expect("the same record");
        assert_eq!(decision["decision"], attributes["countersign.decision"]);
        assert_eq!(decision["tool"], attributes["gen_ai.tool.name"]);
        assert_eq!(attributes["enduser.id"], "key:client");
        assert_eq!(decision["caller"], "key:client");
        let parent = attributes["countersign.activity.parent_id"].as_str();
        assert_eq!(decision["parent_id"], parent);
        let span = spans.iter().find(|span| span.span_id == log.span_id);
        let attributes = texts(&span.expect("the span of the call").attributes);
        assert_eq!(attributes["countersign.activity.id"], parent);
        assert_eq!(attributes["enduser.id"], "key:client");
    }
    let server = spans.iter().filter(|span| span.kind() == SpanKind::Server);
    let told: BTreeMap<String, (String, String)> = server
        .map(|span| {
            let attributes = texts(&span.attributes);
            let known =
                |record: &&Value| record["id"] == attributes["countersign.activity.id"].as_str();
            assert!(calls.iter().any(|record| known(&record)));
            let error = attributes.get("error.type").cloned().unwrap_or_default();
            (
                span.name.clone(),
                (attributes["countersign.decision"].clone(), error),
            )
        })
        .collect();
    let expected = [
        ("tools/call bad_output", "blocked", "tool_error"),
        ("tools/call conforming", "allowed", ""),
        ("tools/call control_tokens", "rewritten", ""),
        ("tools/call error", "allowed", "tool_error"),
        ("tools/call unheard-of", "unknown_tool", "-32602"),
    ];
    let expected = expected
        .map(|(name, decision, error)| (name.to_owned(), (decision.to_owned(), error.to_owned())));
    assert_eq!(told, BTreeMap::from(expected));
    let metrics = receiver.metrics();
    assert!(
        metrics
            .iter()
            .any(|metric| metric.name == "mcp.server.operation.duration")
    );
    for path in ["traces", "metrics", "logs"] {
        for export in receiver.exports(&format!("/base/v1/{path}")) {
            assert_eq!(export.headers["content-type"], "application/x-protobuf");
            assert!(!text(&export.body).contains(ARGUMENT));
            assert!(!text(&export.body).contains("im_start"), "a result");
        }
    }
}

#[tokio::test]
async fn a_receiver_that_is_away_costs_no_call() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = closed.local_addr().expect("an address");
    drop(closed);
    let endpoint = Secret::new(format!("http://{address}"));
    let rig = Rig::with(vec![strict(preset("stub", "demo"))], |config| {
        config.otlp.endpoint = Some(endpoint);
    })
    .await;
    let client = rig.client("/mcp/s/stub");
    for _ in 0..50 {
        let answer = client.call("bad_output", "{}").await.expect("an answer");
        refusal(&answer);
    }
    let failed = async {
        loop {
            let page = rig
                .client("/metrics")
                .send("GET", b"")
                .await
                .expect("an answer");
            let page = text(&page.body);
            for name in ["exported", "dropped", "rejected", "failures"] {
                let series = format!(r#"countersign_otlp_{name}_total{{signal="traces"}}"#);
                assert!(page.contains(&series), "{page}");
            }
            if !page.contains(r#"countersign_otlp_failures_total{signal="traces"} 0"#) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(crate::support::WAIT, failed)
        .await
        .expect("a failure");
    stop(rig).await;
}

#[tokio::test]
async fn nothing_is_sent_and_nothing_is_told_without_an_endpoint() {
    let (server, _fixture, mut log) = logged_http("x", presets::faults(), Format::Json).await;
    let rig = Rig::over(vec![server]).await;
    let call = format!(r#"{{"name":"ok","_meta":{{"traceparent":"{PARENT}"}},"arguments":{{}}}}"#);
    let client = rig.client("/mcp/s/x");
    client
        .request("tools/call", &call)
        .await
        .expect("an answer");
    let got = params(&received(&mut log, is_call).await);
    assert!(got.contains(PARENT), "{got}");
    let page = rig
        .client("/metrics")
        .send("GET", b"")
        .await
        .expect("an answer");
    assert!(!text(&page.body).contains("otlp"));
}
