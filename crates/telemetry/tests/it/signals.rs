//! What a receiver gets.

use countersign_telemetry::{
    BOUNDS, Call, CallTrace, EncodedDecision, ErrorType, SpanContext, Target, Telemetry,
};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Histogram, HistogramDataPoint, Metric, metric,
};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;

use crate::receiver::{Receiver, answer, hex, text, texts};
use crate::support::{call, decision, exchange, options};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const LINK: &str = "00-11111111111111111111111111111111-2222222222222222-00";

fn context(parent: &str, state: Option<&str>) -> Option<SpanContext> {
    let context = SpanContext::parse(parent, state);
    assert!(context.is_some());
    context
}

#[tokio::test]
async fn a_call_is_two_spans_under_the_clients_own() {
    let receiver = Receiver::start(|_| answer(200, b"")).await;
    let telemetry = Telemetry::start(&options(&receiver.endpoint)).expect("an address");
    let trace = CallTrace::begin(context(PARENT, Some("a=b")), context(LINK, None));
    let told = trace.traceparent().expect("recorded");
    telemetry.observe(&call(Some(&trace)));
    telemetry.close().await;

    let export = &receiver.exports("/base/v1/traces")[0];
    assert_eq!(export.headers["content-type"], "application/x-protobuf");
    assert_eq!(export.headers["x-token"], "secret");
    let request = &receiver.trace_requests()[0].resource_spans[0];
    let resource = texts(&request.resource.as_ref().expect("a resource").attributes);
    assert_eq!(resource["service.name"], "tested");
    let scope = request.scope_spans[0].scope.as_ref().expect("a scope");
    assert_eq!(scope.name, "countersign");

    let spans = receiver.spans();
    let [server, client] = &spans[..] else {
        panic!("two spans: {spans:?}");
    };
    assert_eq!(server.kind(), SpanKind::Server);
    assert_eq!(client.kind(), SpanKind::Client);
    assert_eq!(server.name, "tools/call search");
    assert_eq!(client.name, "tools/call search");
    assert_eq!(hex(&server.trace_id), "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(hex(&server.parent_span_id), "00f067aa0ba902b7");
    assert_eq!(client.parent_span_id, server.span_id);
    let (trace_id, span_id) = (hex(&client.trace_id), hex(&client.span_id));
    assert_eq!(told, format!("00-{trace_id}-{span_id}-01"));
    assert_eq!(server.trace_state, "a=b");
    assert_eq!((server.flags, client.flags), (0x301, 0x101));
    let link = &server.links[0];
    assert_eq!(hex(&link.trace_id), "1".repeat(32));
    assert_eq!(hex(&link.span_id), "2".repeat(16));
    assert!(client.links.is_empty());
    assert_eq!(server.start_time_unix_nano, 1_700_000_000_000_000_000);
    assert_eq!(server.end_time_unix_nano, 1_700_000_000_015_000_000);

    let expected = [
        ("mcp.method.name", "tools/call"),
        ("gen_ai.tool.name", "search"),
        ("gen_ai.operation.name", "execute_tool"),
        ("mcp.protocol.version", "2025-11-25"),
        ("countersign.server.name", "docs"),
    ];
    for span in &spans {
        let attributes = texts(&span.attributes);
        for (key, value) in expected {
            assert_eq!(attributes[key], value);
        }
        assert!(span.status.is_none());
    }
    let attributes = texts(&server.attributes);
    assert_eq!(attributes["network.transport"], "tcp");
    assert_eq!(attributes["jsonrpc.request.id"], "7");
    assert_eq!(attributes["mcp.session.id"], "s-1");
    assert_eq!(attributes["enduser.id"], "key:ci");
    assert_eq!(attributes["countersign.activity.id"], "01ACTIVITY");
    assert_eq!(attributes["countersign.decision"], "allowed");
    let attributes = texts(&client.attributes);
    assert!(
        !attributes.contains_key("enduser.id"),
        "the server is not told of"
    );
    assert_eq!(attributes["network.transport"], "pipe");
    assert_eq!(attributes["jsonrpc.request.id"], "42");
}

#[tokio::test]
async fn what_went_wrong_is_named_as_the_conventions_say() {
    let receiver = Receiver::start(|_| answer(200, b"")).await;
    let telemetry = Telemetry::start(&options(&receiver.endpoint)).expect("an address");
    let trace = CallTrace::begin(None, None);
    for (client, server) in [
        (ErrorType::Tool, ErrorType::Code(-32_602)),
        (ErrorType::Other("timed_out"), ErrorType::Code(12)),
    ] {
        telemetry.observe(&Call {
            towards_client: exchange(1, Some(client)),
            towards_server: Some(exchange(1, Some(server))),
            ..call(Some(&trace))
        });
    }
    telemetry.close().await;
    let errors = receiver.spans().into_iter().map(|span| {
        assert_eq!(span.status.expect("a status").code(), StatusCode::Error);
        let attributes = texts(&span.attributes);
        let code = attributes.get("rpc.response.status_code").cloned();
        (attributes["error.type"].clone(), code.unwrap_or_default())
    });
    let expected = [
        ("tool_error", ""),
        ("-32602", "-32602"),
        ("timed_out", ""),
        ("12", "12"),
    ];
    let expected = expected.map(|(kind, code)| (kind.to_owned(), code.to_owned()));
    assert_eq!(errors.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_trace_that_its_sender_does_not_record_is_not_recorded_here() {
    let receiver = Receiver::start(|_| answer(200, b"")).await;
    let telemetry = Telemetry::start(&options(&receiver.endpoint)).expect("an address");
    let silent = CallTrace::begin(context(&PARENT.replace("-01", "-00"), None), None);
    telemetry.observe(&call(Some(&silent)));
    telemetry.log(&EncodedDecision::from(&decision(Some(&silent))));
    telemetry.close().await;
    assert!(receiver.spans().is_empty());
    let log = &receiver.logs()[0];
    assert_eq!(
        log.span_id,
        [0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]
    );
    assert_eq!(log.flags, 0);
}

#[tokio::test]
async fn a_decision_is_a_log_record_in_the_trace_of_its_call() {
    let receiver = Receiver::start(|_| answer(200, b"")).await;
    let telemetry = Telemetry::start(&options(&receiver.endpoint)).expect("an address");
    let trace = CallTrace::begin(None, None);
    telemetry.observe(&call(Some(&trace)));
    telemetry.log(&EncodedDecision::from(&decision(Some(&trace))));
    telemetry.close().await;
    let logs = receiver.logs();
    let [log] = &logs[..] else {
        panic!("one record: {logs:?}");
    };
    let span = &receiver.spans()[0];
    assert_eq!(
        (&log.trace_id, &log.span_id),
        (&span.trace_id, &span.span_id)
    );
    assert_eq!((log.severity_number, &*log.severity_text), (13, "WARN"));
    assert_eq!(log.event_name, "countersign.decision");
    assert_eq!(log.time_unix_nano, 1_700_000_001_000_000_000);
    let body = text(log.body.as_ref().expect("a body"));
    assert_eq!(body, "blocked docs:search (schema.type, guard.bytes)");
    let attributes = texts(&log.attributes);
    for (key, value) in [
        ("countersign.decision", "blocked"),
        ("countersign.activity.id", "01DECISION"),
        ("countersign.activity.parent_id", "01ACTIVITY"),
        ("countersign.mode", "strict"),
        ("enduser.id", "key:ci"),
        ("countersign.rules", "schema.type|guard.bytes"),
        ("gen_ai.tool.name", "search"),
    ] {
        assert_eq!(attributes[key], value, "{key}");
    }
}

fn points(metrics: &[Metric], name: &str) -> Vec<HistogramDataPoint> {
    let metric = metrics.iter().find(|metric| metric.name == name);
    let metric = metric.unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(metric.unit, "s");
    let Some(metric::Data::Histogram(Histogram {
        data_points,
        aggregation_temporality,
    })) = &metric.data
    else {
        panic!("not a histogram: {metric:?}");
    };
    let cumulative = AggregationTemporality::Cumulative as i32;
    assert_eq!(*aggregation_temporality, cumulative);
    data_points.clone()
}

#[tokio::test]
async fn durations_fall_into_the_buckets_of_the_conventions() {
    let receiver = Receiver::start(|_| answer(200, b"")).await;
    let telemetry = Telemetry::start(&options(&receiver.endpoint)).expect("an address");
    for millis in [1, 10, 11, 250, 400_000] {
        telemetry.observe(&Call {
            towards_client: exchange(millis, None),
            ..call(None)
        });
    }
    telemetry.observe(&Call {
        towards_client: exchange(3, Some(ErrorType::Tool)),
        decision: "blocked",
        ..call(None)
    });
    telemetry.close().await;
    let metrics = receiver.metrics();
    let server = points(&metrics, "mcp.server.operation.duration");
    assert_eq!(server.len(), 2);
    let (failed, good): (Vec<_>, Vec<_>) = server
        .iter()
        .partition(|point| texts(&point.attributes).contains_key("error.type"));
    assert_eq!(failed[0].count, 1);
    let [good] = good[..] else {
        panic!("one series")
    };
    assert_eq!(good.explicit_bounds, BOUNDS);
    let expected = [2, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    assert_eq!(good.bucket_counts, expected);
    assert_eq!(
        (good.count, good.min, good.max),
        (5, Some(0.001), Some(400.0))
    );
    assert!((good.sum.expect("a sum") - 400.272).abs() < 1e-9);
    assert!(good.time_unix_nano >= good.start_time_unix_nano);
    let client = points(&metrics, "mcp.client.operation.duration");
    assert_eq!((client.len(), client[0].count), (1, 6));
    assert_eq!(texts(&client[0].attributes)["network.transport"], "pipe");

    let decisions = metrics
        .iter()
        .find(|one| one.name == "countersign.decisions");
    let Some(metric::Data::Sum(sum)) = &decisions.expect("decisions").data else {
        panic!("a sum");
    };
    assert!(sum.is_monotonic);
    let mut counts: Vec<String> = sum
        .data_points
        .iter()
        .map(|point| {
            let attributes = texts(&point.attributes);
            format!("{} {:?}", attributes["countersign.decision"], point.value)
        })
        .collect();
    counts.sort();
    assert_eq!(counts, ["allowed Some(AsInt(5))", "blocked Some(AsInt(1))"]);
}

#[tokio::test]
async fn words_of_clients_and_servers_do_not_multiply_series() {
    let receiver = Receiver::start(|_| answer(200, b"")).await;
    let telemetry = Telemetry::start(&options(&receiver.endpoint)).expect("an address");
    let words: Vec<String> = (0..3000).map(|number| format!("word-{number}")).collect();
    for (word, code) in words.iter().zip(1..) {
        let unknown = Call {
            target: Target::Tool(word),
            is_known_target: false,
            towards_server: None,
            ..call(None)
        };
        telemetry.observe(&unknown);
        telemetry.observe(&Call {
            towards_server: Some(exchange(1, Some(ErrorType::Code(code)))),
            ..call(None)
        });
        telemetry.observe(&Call {
            target: Target::Tool(word),
            server: Some("hostile"),
            ..call(None)
        });
    }
    telemetry.observe(&Call {
        server: Some("honest"),
        ..call(None)
    });
    telemetry.close().await;
    let metrics = receiver.metrics();
    let of = |server: &str, name: &str| -> Vec<HistogramDataPoint> {
        let mut all = points(&metrics, name);
        all.retain(|point| {
            texts(&point.attributes)
                .get("countersign.server.name")
                .is_some_and(|name| name == server)
        });
        all
    };
    let docs = of("docs", "mcp.server.operation.duration");
    let names = docs
        .iter()
        .map(|point| texts(&point.attributes)["gen_ai.tool.name"].clone());
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names, ["_OTHER", "search"]);
    let codes = of("docs", "mcp.client.operation.duration");
    assert_eq!(codes.len(), 1);
    assert_eq!(texts(&codes[0].attributes)["error.type"], "_OTHER");
    assert_eq!(of("hostile", "mcp.server.operation.duration").len(), 1000);
    assert_eq!(of("honest", "mcp.server.operation.duration").len(), 1);
    let all = points(&metrics, "mcp.server.operation.duration");
    let overflow = all
        .iter()
        .find(|point| texts(&point.attributes).contains_key("otel.metric.overflow"));
    assert_eq!(overflow.map(|point| point.count), Some(2000));
}

#[tokio::test]
async fn long_texts_are_cut() {
    let receiver = Receiver::start(|_| answer(200, b"")).await;
    let telemetry = Telemetry::start(&options(&receiver.endpoint)).expect("an address");
    let long = "é".repeat(100_000);
    let trace = CallTrace::begin(None, None);
    telemetry.observe(&Call {
        target: Target::Tool(&long),
        request_id: &long,
        session: Some(&long),
        ..call(Some(&trace))
    });
    telemetry.close().await;
    let export = &receiver.exports("/base/v1/traces")[0];
    assert!(export.body.len() < 10_000, "{}", export.body.len());
    assert_eq!(receiver.spans().len(), 2);
}
