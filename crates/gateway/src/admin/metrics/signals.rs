//! What became of the signals for OpenTelemetry.

use countersign_telemetry::SignalCounts;

use super::Page;

impl Page {
    /// Nothing where no signals are sent.
    pub(super) fn signals(&mut self, counts: &[SignalCounts]) {
        if counts.is_empty() {
            return;
        }
        let all: Vec<_> = counts.iter().map(|one| (one.signal, one)).collect();
        let all = ("signal", &*all);
        let help = "Spans, log records and sets of metrics that the receiver took.";
        self.counter("otlp_exported_total", help);
        self.each(all, |one: &SignalCounts| one.exported);
        let help = "Those dropped, because the queue was full or the receiver did not take them.";
        self.counter("otlp_dropped_total", help);
        self.each(all, |one: &SignalCounts| one.dropped);
        let help = "Those that the receiver took and rejected.";
        self.counter("otlp_rejected_total", help);
        self.each(all, |one: &SignalCounts| one.rejected);
        let help = "Requests to the receiver that failed.";
        self.counter("otlp_failures_total", help);
        self.each(all, |one: &SignalCounts| one.failures);
    }
}
