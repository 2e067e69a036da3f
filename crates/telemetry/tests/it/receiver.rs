//! An OTLP/HTTP receiver that answers as it is told.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use countersign_dial::{Budget, gather, lock};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;

/// A request as it came.
#[derive(Clone)]
pub(crate) struct Export {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// What the receiver answers to a request, which is the n-th.
type Answer = fn(usize) -> Response<Full<Bytes>>;

#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) endpoint: String,
    exports: Arc<Mutex<Vec<Export>>>,
}

pub(crate) fn answer(status: u16, body: &'static [u8]) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(body)));
    *response.status_mut() = status.try_into().expect("a status");
    response
}

impl Receiver {
    pub(crate) async fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let receiver = Self {
            endpoint: format!("http://{address}/base/"),
            exports: Arc::default(),
        };
        let own = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let own = own.clone();
                let service = service_fn(move |request| own.clone().take(request, answer));
                let server = hyper::server::conn::http1::Builder::new();
                tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
            }
        });
        receiver
    }

    async fn take(
        self,
        request: Request<Incoming>,
        answer: Answer,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let (head, body) = request.into_parts();
        let body = gather(body, 1 << 24, &Budget::new(1 << 24)).await;
        let export = Export {
            path: head.uri.path().to_owned(),
            headers: head.headers,
            body: body.expect("a body"),
        };
        let mut exports = lock(&self.exports);
        exports.push(export);
        Ok(answer(exports.len()))
    }

    pub(crate) fn exports(&self, path: &str) -> Vec<Export> {
        let all = lock(&self.exports).clone();
        all.into_iter().filter(|one| one.path == path).collect()
    }

    fn read<T: Message + Default>(&self, path: &str) -> Vec<T> {
        let exports = self.exports(path).into_iter();
        exports
            .map(|export| T::decode(export.body).expect("the official types read it"))
            .collect()
    }

    pub(crate) fn trace_requests(&self) -> Vec<ExportTraceServiceRequest> {
        self.read("/base/v1/traces")
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let resources = self.trace_requests().into_iter();
        let resources = resources.flat_map(|request| request.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    pub(crate) fn logs(&self) -> Vec<LogRecord> {
        let requests: Vec<ExportLogsServiceRequest> = self.read("/base/v1/logs");
        let resources = requests.into_iter().flat_map(|one| one.resource_logs);
        let scopes = resources.flat_map(|resource| resource.scope_logs);
        scopes.flat_map(|scope| scope.log_records).collect()
    }

    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let requests: Vec<ExportMetricsServiceRequest> = self.read("/base/v1/metrics");
        let resources = requests.into_iter().flat_map(|one| one.resource_metrics);
        let scopes = resources.flat_map(|resource| resource.scope_metrics);
        scopes.flat_map(|scope| scope.metrics).collect()
    }
}

/// Attributes as texts.
pub(crate) fn texts(attributes: &[KeyValue]) -> HashMap<String, String> {
    let pairs = attributes.iter().map(|pair| {
        let value = pair.value.as_ref().expect("a value");
        (pair.key.clone(), text(value))
    });
    let texts: HashMap<String, String> = pairs.collect();
    assert_eq!(texts.len(), attributes.len(), "no attribute is there twice");
    texts
}

pub(crate) fn text(value: &AnyValue) -> String {
    match value.value.as_ref().expect("a value") {
        any_value::Value::StringValue(text) => text.clone(),
        any_value::Value::BoolValue(flag) => flag.to_string(),
        any_value::Value::ArrayValue(array) => {
            let texts: Vec<String> = array.values.iter().map(text).collect();
            texts.join("|")
        }
        other => panic!("not expected: {other:?}"),
    }
}

/// An id as it is written in `traceparent`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = digits.filter_map(|digit| char::from_digit(u32::from(digit), 16));
    digits.collect()
}
