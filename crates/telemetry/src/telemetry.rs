//! The handle that callers have: telling it something takes a lock and a copy, whatever the receiver does.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_dial::lock;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::call::{Call, Exchange, write_attributes};
use crate::decision::Decision;
use crate::exporter::Exporter;
use crate::metrics::{Metrics, Observation};
use crate::options::{Options, SetupError};
use crate::protobuf::Message;
use crate::queue::{Counts, Queue};
use crate::receiver::Receiver;
use crate::span::{write_client_span, write_server_span};

/// How long the last batches may take when the process ends.
const FAREWELL: Duration = Duration::from_secs(2);

/// Takes what is to be told, and sends it in the background.
#[derive(Debug)]
pub struct Telemetry {
    traces: Option<Arc<Queue>>,
    logs: Option<Arc<Queue>>,
    metrics: Option<(Arc<Metrics>, Arc<Counts>)>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    stop: watch::Sender<bool>,
}

/// What became of the items of one signal so far. An item of metrics is one request with all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalCounts {
    /// `traces`, `metrics` or `logs`.
    pub signal: &'static str,
    /// Items that the receiver took.
    pub exported: u64,
    /// Items dropped, because the queue was full or the receiver did not take them.
    pub dropped: u64,
    /// Items that the receiver took and rejected.
    pub rejected: u64,
    /// Requests that failed.
    pub failures: u64,
}

/// A decision that is ready to be sent.
#[derive(Debug)]
pub struct EncodedDecision(Message);

impl From<&Decision<'_>> for EncodedDecision {
    fn from(decision: &Decision<'_>) -> Self {
        Self(decision.write())
    }
}

impl Telemetry {
    /// Starts the tasks that send. Must be called within a tokio runtime.
    pub fn start(options: &Options) -> Result<Self, SetupError> {
        let (stop, stopped) = watch::channel(false);
        let exporter = |signal, path| {
            let receiver = Receiver::new(options, path)?;
            Ok::<_, SetupError>(Exporter {
                signal,
                receiver,
                stop: stopped.clone(),
                is_failing: false,
            })
        };
        let mut tasks = Vec::new();
        let mut start_queue = |is_on: bool, signal, path| {
            if !is_on {
                return Ok(None);
            }
            let queue = Arc::new(Queue::default());
            let send = exporter(signal, path)?.send_queue(Arc::clone(&queue));
            tasks.push(tokio::spawn(send));
            Ok::<_, SetupError>(Some(queue))
        };
        let traces = start_queue(options.traces, "traces", "/v1/traces")?;
        let logs = start_queue(options.logs, "logs", "/v1/logs")?;
        let metrics = if options.metrics {
            let metrics = (Arc::new(Metrics::new()), Arc::new(Counts::default()));
            let (totals, counts) = (Arc::clone(&metrics.0), Arc::clone(&metrics.1));
            let exporter = exporter("metrics", "/v1/metrics")?;
            let send = exporter.send_metrics(totals, counts, options.metrics_interval);
            tasks.push(tokio::spawn(send));
            Some(metrics)
        } else {
            None
        };
        Ok(Self {
            traces,
            logs,
            metrics,
            tasks: Mutex::new(tasks),
            stop,
        })
    }

    /// Whether calls are traced.
    pub fn has_traces(&self) -> bool {
        self.traces.is_some()
    }

    /// Whether decisions are sent.
    pub fn has_logs(&self) -> bool {
        self.logs.is_some()
    }

    /// A call has ended.
    pub fn observe(&self, call: &Call<'_>) {
        let client = &call.towards_client;
        let attributes = write_attributes(call, client);
        let server = call.towards_server.as_ref();
        let server = server.map(|exchange| (exchange, write_attributes(call, exchange)));
        if let (Some(traces), Some(trace)) = (&self.traces, call.trace)
            && trace.is_sampled
        {
            traces.push(&write_server_span(call, trace, &attributes.0));
            if let Some((exchange, attributes)) = &server {
                let span = write_client_span(call, trace, exchange, &attributes.0);
                traces.push(&span);
            }
        }
        if let Some((metrics, _)) = &self.metrics {
            let server = server.as_ref().map(|(exchange, all)| (*exchange, all));
            observe_durations(metrics, call, (client, &attributes), server);
        }
    }

    /// A decision was recorded.
    pub fn log(&self, decision: &EncodedDecision) {
        if let Some(logs) = &self.logs {
            logs.push(&decision.0);
        }
    }

    /// What became of each signal so far.
    pub fn counts(&self) -> Vec<SignalCounts> {
        let queue = |signal, queue: &Option<Arc<Queue>>| {
            let queue = queue.as_ref();
            queue.map(|queue| read(signal, queue.counts()))
        };
        let metrics = self.metrics.as_ref();
        let metrics = metrics.map(|(_, counts)| read("metrics", counts));
        let all = [
            queue("traces", &self.traces),
            metrics,
            queue("logs", &self.logs),
        ];
        all.into_iter().flatten().collect()
    }

    /// Sends what is left, if that does not take long, and ends the tasks.
    pub async fn close(&self) {
        self.stop.send_replace(true);
        let tasks = std::mem::take(&mut *lock(&self.tasks));
        let aborts: Vec<_> = tasks.iter().map(JoinHandle::abort_handle).collect();
        let all = async {
            for task in tasks {
                // A task that panicked has nothing more to send.
                drop(task.await);
            }
        };
        if timeout(FAREWELL, all).await.is_err() {
            aborts.iter().for_each(tokio::task::AbortHandle::abort);
        }
    }
}

/// Adds a call to the histograms.
fn observe_durations(
    metrics: &Metrics,
    call: &Call<'_>,
    (client, attributes): (&Exchange<'_>, &Message),
    server: Option<(&Exchange<'_>, &Message)>,
) {
    let attributes = dimensions(call, client, attributes);
    let server = server.map(|(exchange, attributes)| {
        let attributes = dimensions(call, exchange, attributes);
        (exchange.duration, attributes)
    });
    metrics.observe(
        call,
        Observation {
            attributes: &attributes,
            duration: client.duration,
        },
        server.as_ref().map(|(duration, attributes)| Observation {
            attributes,
            duration: *duration,
        }),
    );
}

/// The attributes of one side of a call, without words that must not be dimensions of metrics.
fn dimensions<'a>(
    call: &Call<'_>,
    exchange: &Exchange<'_>,
    attributes: &'a Message,
) -> Cow<'a, [u8]> {
    let countable = exchange.countable();
    if call.has_countable_target() && countable.error == exchange.error {
        return Cow::Borrowed(&attributes.0);
    }
    let target = if call.has_countable_target() {
        call.target
    } else {
        call.target.unnamed()
    };
    Cow::Owned(write_attributes(&Call { target, ..*call }, &countable).0)
}

fn read(signal: &'static str, counts: &Counts) -> SignalCounts {
    SignalCounts {
        signal,
        exported: counts.exported.load(Ordering::Relaxed),
        dropped: counts.dropped.load(Ordering::Relaxed),
        rejected: counts.rejected.load(Ordering::Relaxed),
        failures: counts.failures.load(Ordering::Relaxed),
    }
}
