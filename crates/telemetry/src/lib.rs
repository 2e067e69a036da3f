//! Traces, metrics and decision logs over OTLP/HTTP, with OpenTelemetry's names for MCP.
//!
//! The caller tells what has ended; items are written as protobuf at once and put into a queue with a bounded number of
//! bytes. Tasks in the background send them. A receiver that is away, slow or talks nonsense costs the caller nothing and
//! no memory beyond that bound; what is dropped is counted. Neither arguments nor results of calls are among the items.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use countersign_telemetry::{Call, CallTrace, Exchange, Options, SpanContext, Target, Telemetry, Transport};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let telemetry = Telemetry::start(&Options {
//!     endpoint: "http://127.0.0.1:9".into(),
//!     headers: Vec::new(),
//!     traces: true,
//!     metrics: true,
//!     logs: true,
//!     resource: vec![("service.name".into(), "example".into())],
//!     metrics_interval: Duration::from_secs(60),
//! })?;
//! let parent = SpanContext::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", None);
//! let trace = CallTrace::begin(parent, None);
//! assert!(trace.traceparent().unwrap().starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-"));
//! telemetry.observe(&Call {
//!     trace: Some(&trace),
//!     method: "tools/call",
//!     target: Target::Tool("search"),
//!     is_known_target: true,
//!     server: Some("docs"),
//!     caller: Some("key:ci"),
//!     session: None,
//!     request_id: "1",
//!     activity_id: "01J9ZQ",
//!     decision: "allowed",
//!     towards_client: Exchange {
//!         start: SystemTime::now(),
//!         duration: Duration::from_millis(3),
//!         version: Some("2025-11-25"),
//!         transport: Transport::Tcp,
//!         request_number: None,
//!         error: None,
//!     },
//!     towards_server: None,
//! });
//! telemetry.close().await;
//! assert_eq!(telemetry.counts()[0].dropped, 1);
//! # Ok(()) }
//! ```

mod call;
mod context;
mod decision;
mod exporter;
mod metrics;
mod options;
mod protobuf;
mod queue;
mod receiver;
mod span;
mod telemetry;
mod trace;

pub use call::{Call, ErrorType, Exchange, Target, Transport};
pub use context::SpanContext;
pub use decision::{Decision, Severity};
pub use metrics::BOUNDS;
pub use options::{Options, SetupError};
pub use telemetry::{EncodedDecision, SignalCounts, Telemetry};
pub use trace::CallTrace;
