//! The counters as Prometheus reads them: text format 0.0.4. Every label value of a closed set has
//! its series from the start, so that an alert on a rare one does not wait for its first time.

mod classifiers;
mod issuers;
mod signals;

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};

use countersign_audit::{Decision, Stage, Status, escape_controls};
use countersign_client::State;
use countersign_dial::lock;

use crate::services::{BOUNDS, Counts, Metrics, Services};
use crate::state::{Server, ServerState, Snapshot, Tally};

/// Everything there is to read at this moment.
pub(super) fn render(services: &Services, snapshot: &Snapshot) -> String {
    let mut page = Page::default();
    page.gauge("build_info", "The version that runs.");
    page.sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    let help = "The configuration in use: gateways with the same digest have the same settings.";
    page.gauge("config_info", help);
    page.sample(&[("digest", &snapshot.settings.digest)], 1);
    page.servers(&services.metrics);
    page.tokens(&services.metrics);
    page.upstreams(snapshot.servers());
    page.states(snapshot);
    page.classifiers(&snapshot.settings.config);
    page.store(services);
    page.signals(&services.signals.counts());
    page.issuers(&services.issuers, snapshot.settings.tokens.as_ref());
    let help = "Requests that were refused at the door, by reason.";
    page.counter("refused_requests_total", help);
    for (reason, count) in services.refusals.totals() {
        page.sample(&[("reason", reason)], count);
    }
    page.counter("events_total", "Operational events, by name.");
    for (event, count) in services.events.counts() {
        page.sample(&[("event", event)], count);
    }
    page.text
}

/// Things that have a series each: the label that names them, and each by its name.
type NamedSeries<'a, T> = (&'a str, &'a [(&'a str, &'a T)]);

type Labels<'a> = &'a [(&'a str, &'a str)];

#[derive(Default)]
struct Page {
    text: String,
    /// The family that samples are written for.
    family: &'static str,
}

impl Page {
    fn counter(&mut self, name: &'static str, help: &str) {
        self.begin(name, "counter", help);
    }

    fn gauge(&mut self, name: &'static str, help: &str) {
        self.begin(name, "gauge", help);
    }

    /// Begins a family: what follows are its samples.
    fn begin(&mut self, name: &'static str, kind: &str, help: &str) {
        self.family = name;
        self.line(format_args!(
            "# HELP countersign_{name} {help}\n# TYPE countersign_{name} {kind}"
        ));
    }

    fn sample(&mut self, labels: Labels<'_>, value: impl Display) {
        self.sample_of("", labels, value);
    }

    /// A sample whose name is that of the family and a suffix.
    fn sample_of(&mut self, suffix: &str, labels: Labels<'_>, value: impl Display) {
        let (name, labels) = (self.family, format_labels(labels));
        self.line(format_args!("countersign_{name}{suffix}{labels} {value}"));
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        self.text.extend([line.to_string().as_str(), "\n"]);
    }

    /// A series for each of these things.
    fn each<T, V: Display>(&mut self, (owner, all): NamedSeries<'_, T>, value: impl Fn(&T) -> V) {
        for (name, one) in all {
            self.sample(&[(owner, name)], value(one));
        }
    }

    /// A series for each of these things and each word of a second label.
    fn each_of<T>(
        &mut self,
        (owner, all): NamedSeries<'_, T>,
        (label, words): (&str, &[&str]),
        count: impl Fn(&T, usize) -> Option<u64>,
    ) {
        for (name, one) in all {
            for (at, word) in words.iter().enumerate() {
                if let Some(count) = count(one, at) {
                    self.sample(&[(owner, name), (label, word)], count);
                }
            }
        }
    }

    fn servers(&mut self, metrics: &Metrics) {
        let known = metrics.servers.load();
        let named = known.iter().map(|(name, counts)| (&**name, &**counts));
        let servers: Vec<(&str, &Counts)> = named.chain([("", &metrics.no_server)]).collect();
        let servers = ("server", &*servers);
        self.statuses(servers);
        self.verdicts(servers);
        let help = "Results held against their contract.";
        self.counter("results_validated_total", help);
        self.each(servers, |counts| read(&counts.validated));
        let help = "Results that broke their contract: schema, guards, shape, or content that had to be there.";
        self.counter("contract_rejections_total", help);
        self.each(servers, |counts| read(&counts.contract_rejections));
        self.durations(servers.1);
    }

    fn statuses(&mut self, servers: NamedSeries<'_, Counts>) {
        let statuses = ("status", Status::WORDS);
        // A call is never blocked or flagged; its result is, and that is a decision.
        let calls = |counts: &Counts, at| match Status::WORDS.get(at)? {
            &("success" | "error" | "rejected") => counts.calls.get(at).map(read),
            _ => None,
        };
        self.counter("calls_total", "Tool calls by how they ended.");
        self.each_of(servers, statuses, calls);
        self.counter("records_total", "Records by status, whatever their type.");
        self.each_of(servers, statuses, |counts, at| {
            counts.records.get(at).map(read)
        });
    }

    fn verdicts(&mut self, servers: NamedSeries<'_, Counts>) {
        let decisions = |counts: &Counts, at: usize| {
            let decided = Decision::ALL.get(at) != Some(&Decision::Allowed);
            counts.decisions.get(at).filter(|_| decided).map(read)
        };
        let findings = |counts: &Counts, at: usize| counts.findings.get(at).map(read);
        self.counter("decisions_total", "Policy decisions by what was decided.");
        self.each_of(servers, ("decision", Decision::WORDS), decisions);
        self.counter("findings_total", "Findings by the stage that made them.");
        self.each_of(servers, ("stage", Stage::WORDS), findings);
    }

    fn durations(&mut self, servers: &[(&str, &Counts)]) {
        let help = "How long tool calls took.";
        self.begin("call_duration_seconds", "histogram", help);
        for (server, counts) in servers {
            let mut sum = 0;
            for (bound, bucket) in BOUNDS.iter().zip(&counts.buckets) {
                sum += read(bucket);
                let labels = [("server", *server), ("le", &seconds(*bound))];
                self.sample_of("_bucket", &labels, sum);
            }
            // What is read in between may be newer than the buckets; the last one must not be smaller.
            let all = read(&counts.timed).max(sum);
            self.sample_of("_bucket", &[("server", server), ("le", "+Inf")], all);
            let total = seconds(read(&counts.micros));
            self.sample_of("_sum", &[("server", server)], total);
            self.sample_of("_count", &[("server", server)], all);
        }
    }

    fn tokens(&mut self, metrics: &Metrics) {
        let help = "Control tokens found, each one counted, by server and tool; no tool: all those beyond the limit.";
        self.counter("control_token_hits_total", help);
        for ((server, tool), hits) in lock(&metrics.tokens).iter() {
            self.sample(&[("server", server), ("tool", tool)], hits);
        }
    }

    /// What the servers are able to: a schema that cannot be enforced must be seen.
    fn upstreams(&mut self, servers: &[Server]) {
        let tallies = servers.iter().map(|server| (server, server.tools.tally()));
        let tallies: Vec<(&Server, Tally)> = tallies.collect();
        let named = tallies.iter().map(|one| (&**one.0.upstream.name(), one));
        let named: Vec<(&str, &(&Server, Tally))> = named.collect();
        let servers = ("server", &*named);
        self.gauge("server_up", "Whether the server answers.");
        self.each(servers, |(server, _)| {
            u64::from(matches!(*server.upstream.state().borrow(), State::Ready(_)))
        });
        self.gauge("server_tools", "Tools the server lists.");
        self.each(servers, |(_, tally)| tally.tools);
        let help = "Tools that declare an output schema.";
        self.gauge("server_output_schemas", help);
        self.each(servers, |(_, tally)| tally.output_schemas);
        let help = "Declared output schemas that cannot be enforced.";
        self.gauge("server_unenforceable_schemas", help);
        self.each(servers, |(_, tally)| tally.unenforceable.len());
    }

    /// How every configured server is: 1 for its state, 0 for the others.
    fn states(&mut self, snapshot: &Snapshot) {
        self.gauge("server_state", "1 for the state the server is in.");
        for configured in &snapshot.settings.config.servers {
            let server = configured.name.as_str();
            let state = ServerState::new(configured, snapshot.server(server)).word();
            for word in ServerState::WORDS {
                let labels = [("server", server), ("state", word)];
                self.sample(&labels, u64::from(word == state));
            }
        }
    }

    fn store(&mut self, services: &Services) {
        let stats = services.store.stats();
        let mut counter = |name, help, value| {
            self.counter(name, help);
            self.sample(&[], value);
        };
        let transactions = "Transactions they took.";
        counter(
            "activity_committed_total",
            "Records committed.",
            stats.committed,
        );
        counter(
            "activity_transactions_total",
            transactions,
            stats.transactions,
        );
        let help = "Records dropped by a full queue.";
        counter("activity_dropped_total", help, stats.dropped);
        let help = "Records lost to a failing store.";
        counter("activity_failed_total", help, stats.failed);
        let help = "Checkpoints signed.";
        counter("activity_checkpoints_total", help, stats.checkpoints);
        counter("activity_indexed_total", "Records indexed.", stats.indexed);
        let help = "Records removed by retention.";
        counter("activity_removed_total", help, stats.removed);
        let help = "How far the clock is from that of the database.";
        self.gauge("clock_skew_seconds", help);
        self.sample(&[], stats.clock_skew.as_secs_f64());
        self.gauge("activity_store_up", "Whether the last write succeeded.");
        self.sample(&[], u64::from(stats.healthy));
    }
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Microseconds as seconds, exactly.
fn seconds(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn format_labels(labels: Labels<'_>) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let pairs: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escape_label(value)))
        .collect();
    format!("{{{}}}", pairs.join(","))
}

/// As the format wants it, and harmless for a terminal: servers choose the names of their tools.
fn escape_label(value: &str) -> String {
    escape_controls(value)
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_labels_are_written_as_the_format_wants() {
        assert_eq!(
            [0, 1_000, 2_500, 30_000_000, 1_234_567].map(seconds),
            ["0", "0.001", "0.0025", "30", "1.234567"]
        );
        assert_eq!(format_labels(&[]), "");
        let labels = [("server", "a"), ("tool", "x\"\\\ny")];
        assert_eq!(format_labels(&labels), r#"{server="a",tool="x\"\\\ny"}"#);
        let steering = [("tool", "\u{1b}[2J\u{9b}\r\u{202e}x")];
        assert_eq!(
            format_labels(&steering),
            r#"{tool="\\u{1b}[2J\\u{9b}\\u{d}\\u{202e}x"}"#
        );
    }
}
