//! The counters as Prometheus reads them: text format 0.0.4. Every label value of a closed set has
//! its series from the start, so that an alert on a rare one does not wait for its first time.

mod classifiers;

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use countersign_audit::{Decision, Stage, Status, escape_controls};
use countersign_client::State;

use crate::services::{BOUNDS, Counts, Metrics, Services};
use crate::state::{Server, ServerState, Snapshot, Tally};

/// Everything there is to read at this moment.
pub(super) fn render(services: &Services, snapshot: &Snapshot) -> String {
    let mut page = Page::default();
    page.family("build_info", "gauge", "The version that runs.");
    page.sample("build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    page.servers(&services.metrics);
    page.tokens(&services.metrics);
    page.upstreams(snapshot.servers());
    page.states(snapshot);
    page.classifiers(&snapshot.settings.config);
    page.store(services);
    page.family("events_total", "counter", "Operational events, by name.");
    for (event, count) in services.events.counts() {
        page.sample("events_total", &[("event", event)], count);
    }
    page.text
}

/// Things that have a series each: the label that names them, and each by its name.
type Named<'a, T> = (&'a str, &'a [(&'a str, &'a T)]);
type Labels<'a> = &'a [(&'a str, &'a str)];

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!(
            "# HELP countersign_{name} {help}\n# TYPE countersign_{name} {kind}"
        ));
    }

    fn sample(&mut self, name: &str, labels: Labels<'_>, value: u64) {
        let labels = written(labels);
        self.line(format_args!("countersign_{name}{labels} {value}"));
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        self.text.extend([line.to_string().as_str(), "\n"]);
    }

    fn servers(&mut self, metrics: &Metrics) {
        let known = metrics.servers.load();
        let named = known.iter().map(|(name, counts)| (&**name, &**counts));
        let servers: Vec<(&str, &Counts)> = named.chain([("", &metrics.no_server)]).collect();
        let servers = ("server", &*servers);
        self.statuses(servers);
        self.verdicts(servers);
        let help = "Results held against their contract.";
        let validated = |counts: &Counts| read(&counts.validated);
        self.single(
            "results_validated_total",
            ("counter", help),
            servers,
            validated,
        );
        let help = "Results that broke their contract: schema, guards, shape, or content that had to be there.";
        let rejected = |counts: &Counts| read(&counts.contract_rejections);
        self.single(
            "contract_rejections_total",
            ("counter", help),
            servers,
            rejected,
        );
        self.durations(servers.1);
    }

    fn statuses(&mut self, servers: Named<'_, Counts>) {
        let statuses = Status::WORDS;
        // A call is never blocked or flagged; its result is, and that is a decision.
        let is_of_a_call =
            |at| matches!(statuses.get(at), Some(&("success" | "error" | "rejected")));
        let calls = |counts: &Counts, at| {
            let counter = counts.calls.get(at).filter(|_| is_of_a_call(at));
            counter.map(read)
        };
        let records = |counts: &Counts, at| counts.records.get(at).map(read);
        let help = "Tool calls by how they ended.";
        self.sets(("calls_total", help), servers, ("status", statuses), calls);
        let help = "Records by status, whatever their type.";
        self.sets(
            ("records_total", help),
            servers,
            ("status", statuses),
            records,
        );
    }

    fn verdicts(&mut self, servers: Named<'_, Counts>) {
        let decisions = |counts: &Counts, at: usize| {
            let decided = Decision::ALL.get(at) != Some(&Decision::Allowed);
            counts.decisions.get(at).filter(|_| decided).map(read)
        };
        let findings = |counts: &Counts, at: usize| counts.findings.get(at).map(read);
        let family = ("decisions_total", "Policy decisions by what was decided.");
        let words = Decision::WORDS;
        self.sets(family, servers, ("decision", words), decisions);
        let family = ("findings_total", "Findings by the stage that made them.");
        let words = Stage::WORDS;
        self.sets(family, servers, ("stage", words), findings);
    }

    /// A family of counters with a second label from a closed set.
    fn sets<T>(
        &mut self,
        (name, help): (&str, &str),
        (owner, all): Named<'_, T>,
        (label, words): (&str, &[&str]),
        count: impl Fn(&T, usize) -> Option<u64>,
    ) {
        self.family(name, "counter", help);
        for (one, counts) in all {
            for (at, word) in words.iter().enumerate() {
                if let Some(count) = count(counts, at) {
                    self.sample(name, &[(owner, one), (label, word)], count);
                }
            }
        }
    }

    fn single<T>(
        &mut self,
        name: &str,
        (kind, help): (&str, &str),
        (owner, all): Named<'_, T>,
        count: impl Fn(&T) -> u64,
    ) {
        self.family(name, kind, help);
        for (one, counts) in all {
            self.sample(name, &[(owner, one)], count(counts));
        }
    }

    fn durations(&mut self, servers: &[(&str, &Counts)]) {
        let name = "call_duration_seconds";
        self.family(name, "histogram", "How long tool calls took.");
        for (server, counts) in servers {
            let mut sum = 0;
            for (bound, bucket) in BOUNDS.iter().zip(&counts.buckets) {
                sum += read(bucket);
                let bound = seconds(*bound);
                let labels = [("server", *server), ("le", bound.as_str())];
                self.sample("call_duration_seconds_bucket", &labels, sum);
            }
            // What is read in between may be newer than the buckets; the last one must not be smaller.
            let all = read(&counts.timed).max(sum);
            let labels = [("server", *server), ("le", "+Inf")];
            self.sample("call_duration_seconds_bucket", &labels, all);
            let labels = written(&[("server", server)]);
            let total = seconds(read(&counts.micros));
            self.line(format_args!("countersign_{name}_sum{labels} {total}"));
            self.line(format_args!("countersign_{name}_count{labels} {all}"));
        }
    }

    fn tokens(&mut self, metrics: &Metrics) {
        let name = "control_token_hits_total";
        let help = "Control tokens found, each one counted, by server and tool; no tool: all those beyond the limit.";
        self.family(name, "counter", help);
        let tokens = metrics
            .tokens
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for ((server, tool), hits) in tokens.iter() {
            self.sample(name, &[("server", server), ("tool", tool)], *hits);
        }
    }

    /// What the servers are able to: a schema that cannot be enforced must be seen.
    fn upstreams(&mut self, servers: &[Server]) {
        let tallies = servers.iter().map(|server| (server, server.tools.tally()));
        let tallies: Vec<(&Server, Tally)> = tallies.collect();
        let named = tallies.iter().map(|one| (&**one.0.upstream.name(), one));
        let named: Vec<(&str, &(&Server, Tally))> = named.collect();
        let mut gauge = |name: &str, help: &str, value: fn(&(&Server, Tally)) -> usize| {
            let value = |one: &(&Server, Tally)| value(one) as u64;
            self.single(name, ("gauge", help), ("server", &named), value);
        };
        gauge("server_up", "Whether the server answers.", |(server, _)| {
            matches!(*server.upstream.state().borrow(), State::Ready(_)).into()
        });
        gauge("server_tools", "Tools the server lists.", |(_, tally)| {
            tally.tools
        });
        let help = "Tools that declare an output schema.";
        gauge("server_output_schemas", help, |(_, tally)| {
            tally.output_schemas
        });
        let help = "Declared output schemas that cannot be enforced.";
        gauge("server_unenforceable_schemas", help, |(_, tally)| {
            tally.unenforceable.len()
        });
    }

    /// How every configured server is: 1 for its state, 0 for the others.
    fn states(&mut self, snapshot: &Snapshot) {
        let name = "server_state";
        self.family(name, "gauge", "1 for the state the server is in.");
        for configured in &snapshot.settings.config.servers {
            let server = configured.name.as_str();
            let state = ServerState::new(configured, snapshot.server(server)).word();
            for word in ServerState::WORDS {
                let labels = [("server", server), ("state", word)];
                self.sample(name, &labels, u64::from(word == state));
            }
        }
    }

    fn store(&mut self, services: &Services) {
        let stats = services.store.stats();
        let counters = [
            ("committed", "Records committed.", stats.committed),
            (
                "transactions",
                "Transactions they took.",
                stats.transactions,
            ),
            ("dropped", "Records dropped by a full queue.", stats.dropped),
            ("failed", "Records lost to a failing store.", stats.failed),
            ("checkpoints", "Checkpoints signed.", stats.checkpoints),
            ("indexed", "Records indexed.", stats.indexed),
            ("removed", "Records removed by retention.", stats.removed),
        ];
        for (name, help, value) in counters {
            let name = format!("activity_{name}_total");
            self.family(&name, "counter", help);
            self.sample(&name, &[], value);
        }
        let name = "activity_store_up";
        self.family(name, "gauge", "Whether the last write succeeded.");
        self.sample(name, &[], stats.healthy.into());
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

fn written(labels: Labels<'_>) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let pairs: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    format!("{{{}}}", pairs.join(","))
}

/// As the format wants it, and harmless for a terminal: servers choose the names of their tools.
fn escaped(value: &str) -> String {
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
        assert_eq!(written(&[]), "");
        let labels = [("server", "a"), ("tool", "x\"\\\ny")];
        assert_eq!(written(&labels), r#"{server="a",tool="x\"\\\ny"}"#);
        let steering = [("tool", "\u{1b}[2J\u{9b}\r\u{202e}x")];
        assert_eq!(
            written(&steering),
            r#"{tool="\\u{1b}[2J\\u{9b}\\u{d}\\u{202e}x"}"#
        );
    }
}
