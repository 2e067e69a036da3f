//! How long calls take, as histograms, and how often what was decided. Added up here and sent as a whole now and then.
//! Servers choose names and error codes, so each server has only so many series; what comes later is counted together.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use countersign_dial::lock;

use crate::call::{ATTRIBUTES, Call, unix_nanos};
use crate::protobuf::{Message, Value};

/// The bounds that the conventions for MCP give, in seconds.
pub const BOUNDS: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];
/// The series of one server in one histogram.
const MAX_SERIES: usize = 1000;
const CUMULATIVE: u64 = 2;

/// Everything that is counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    start: SystemTime,
    /// By the name of the server in the configuration; empty for calls that came to no server.
    servers: Mutex<HashMap<Box<str>, ServerTotals>>,
}

/// What is counted of one server.
#[derive(Debug, Default)]
struct ServerTotals {
    towards_client: Durations,
    towards_server: Durations,
    decisions: Vec<(Box<str>, u64)>,
}

/// One histogram for each set of attributes.
#[derive(Debug, Default)]
struct Durations {
    by_attributes: HashMap<Box<[u8]>, Histogram>,
    overflow: Histogram,
}

#[derive(Debug, Default)]
struct Histogram {
    buckets: [u64; BOUNDS.len() + 1],
    count: u64,
    sum: f64,
    range: Option<(f64, f64)>,
}

/// One side of a call, with its attributes as they are written.
#[derive(Clone, Copy)]
pub(crate) struct Observation<'a> {
    pub(crate) attributes: &'a [u8],
    pub(crate) duration: Duration,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        Self {
            start: SystemTime::now(),
            servers: Mutex::default(),
        }
    }

    pub(crate) fn observe(
        &self,
        call: &Call<'_>,
        towards_client: Observation<'_>,
        towards_server: Option<Observation<'_>>,
    ) {
        let server = call.server.unwrap_or_default();
        let mut servers = lock(&self.servers);
        if !servers.contains_key(server) {
            servers.insert(server.into(), ServerTotals::default());
        }
        let Some(totals) = servers.get_mut(server) else {
            return;
        };
        totals.towards_client.add(towards_client);
        if let Some(observation) = towards_server {
            totals.towards_server.add(observation);
        }
        totals.count_decision(call.decision);
    }

    /// The metrics as fields of `ScopeMetrics`; nothing before the first call.
    pub(crate) fn write(&self, now: SystemTime) -> Option<Message> {
        let servers = lock(&self.servers);
        if servers.is_empty() {
            return None;
        }
        let times = Times {
            start: unix_nanos(self.start),
            now: unix_nanos(now),
        };
        let mut scope = Message::default();
        let help = "How long calls of clients took, from the request to the reply.";
        let all = servers.values().map(|totals| &totals.towards_client);
        write_histogram(
            &mut scope,
            ("mcp.server.operation.duration", help),
            all,
            times,
        );
        let help = "How long servers took to answer.";
        let all = servers.values().map(|totals| &totals.towards_server);
        write_histogram(
            &mut scope,
            ("mcp.client.operation.duration", help),
            all,
            times,
        );
        scope.message(2, |metric| write_decisions(metric, &servers, times));
        Some(scope)
    }
}

/// Since when something is counted, and until when.
#[derive(Clone, Copy)]
struct Times {
    start: u64,
    now: u64,
}

fn write_histogram<'a>(
    scope: &mut Message,
    (name, description): (&str, &str),
    all: impl Iterator<Item = &'a Durations>,
    times: Times,
) {
    scope.message(2, |metric| {
        metric.text(1, name);
        metric.text(2, description);
        metric.text(3, "s");
        metric.message(9, |histogram| {
            all.for_each(|durations| durations.write(histogram, times));
            histogram.number(2, CUMULATIVE);
        });
    });
}

fn write_decisions(
    metric: &mut Message,
    servers: &HashMap<Box<str>, ServerTotals>,
    Times { start, now }: Times,
) {
    /// The attributes of a `NumberDataPoint`.
    const ATTRIBUTES: u32 = 7;
    metric.text(1, "countersign.decisions");
    metric.text(2, "Calls by what was decided about their result.");
    metric.text(3, "{call}");
    metric.message(7, |sum| {
        let counts = servers.iter().flat_map(|(server, totals)| {
            let counts = totals.decisions.iter();
            counts.map(move |(decision, count)| (server, decision, *count))
        });
        for (server, decision, count) in counts {
            sum.message(1, |point| {
                point.fixed64(2, start);
                point.fixed64(3, now);
                point.fixed64(6, count);
                point.attribute(ATTRIBUTES, "countersign.decision", Value::Text(decision));
                if !server.is_empty() {
                    point.attribute(ATTRIBUTES, "countersign.server.name", Value::Text(server));
                }
            });
        }
        sum.number(2, CUMULATIVE);
        sum.number(3, 1);
    });
}

impl ServerTotals {
    /// There are few decisions, all of them words of the gateway.
    fn count_decision(&mut self, decision: &str) {
        let mut counts = self.decisions.iter_mut();
        match counts.find(|(known, _)| **known == *decision) {
            Some((_, count)) => *count += 1,
            None => self.decisions.push((decision.into(), 1)),
        }
    }
}

impl Durations {
    fn add(&mut self, observation: Observation<'_>) {
        let Observation {
            attributes,
            duration,
        } = observation;
        if let Some(histogram) = self.by_attributes.get_mut(attributes) {
            histogram.add(duration);
        } else if self.by_attributes.len() < MAX_SERIES {
            let mut histogram = Histogram::default();
            histogram.add(duration);
            self.by_attributes.insert(attributes.into(), histogram);
        } else {
            self.overflow.add(duration);
        }
    }

    fn write(&self, to: &mut Message, times: Times) {
        for (attributes, histogram) in &self.by_attributes {
            to.message(1, |point| {
                point.0.extend_from_slice(attributes);
                histogram.write(point, times);
            });
        }
        if self.overflow.count > 0 {
            to.message(1, |point| {
                point.attribute(ATTRIBUTES, "otel.metric.overflow", Value::Flag(true));
                self.overflow.write(point, times);
            });
        }
    }
}

impl Histogram {
    fn add(&mut self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        // A value on a bound belongs below it.
        let bucket = BOUNDS.partition_point(|bound| *bound < seconds);
        if let Some(count) = self.buckets.get_mut(bucket) {
            *count += 1;
        }
        self.count += 1;
        self.sum += seconds;
        let (least, most) = self.range.unwrap_or((seconds, seconds));
        self.range = Some((least.min(seconds), most.max(seconds)));
    }

    /// The content of a `HistogramDataPoint`, without its attributes.
    fn write(&self, point: &mut Message, Times { start, now }: Times) {
        point.fixed64(2, start);
        point.fixed64(3, now);
        point.fixed64(4, self.count);
        point.double(5, self.sum);
        point.packed(6, self.buckets.iter().copied());
        point.packed(7, BOUNDS.iter().map(|bound| bound.to_bits()));
        if let Some((least, most)) = self.range {
            point.double(11, least);
            point.double(12, most);
        }
    }
}
