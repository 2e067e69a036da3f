//! The classifiers' part of the page.

use countersign_classify::{Error, Stats};
use countersign_config::Config;

use super::{Page, seconds};

const VERDICTS: [&str; 3] = ["allow", "flag", "block"];

impl Page {
    /// Nothing where none is configured.
    pub(super) fn classifiers(&mut self, config: &Config) {
        let Ok(panel) = config.panel() else {
            return;
        };
        let stats = panel.stats();
        if stats.is_empty() {
            return;
        }
        let all: Vec<(&str, &Stats)> = stats.iter().map(|one| (&*one.name, one)).collect();
        let all = ("classifier", &*all);
        let help = "Results by the worst verdict about them.";
        self.counter("classifier_results_total", help);
        let verdicts = |one: &Stats, at: usize| one.verdicts.get(at).copied();
        self.each_of(all, ("verdict", &VERDICTS), verdicts);
        let help = "Results that were not screened, or not wholly, by reason.";
        self.counter("classifier_errors_total", help);
        let errors = |one: &Stats, at: usize| one.errors.get(at).copied();
        self.each_of(all, ("reason", &Error::REASONS), errors);
        let help = "Results that were forwarded unscreened, because on_error is open.";
        self.counter("classifier_forwarded_unscreened_total", help);
        self.each(all, |one| one.forwarded_unscreened);
        let help = "Chunks of text with a verdict.";
        self.counter("classifier_chunks_total", help);
        self.each(all, |one| one.chunks);
        let help = "Chunks whose verdict was remembered.";
        self.counter("classifier_cache_hits_total", help);
        self.each(all, |one| one.remembered);
        let help = "Whether it is left alone after failures.";
        self.gauge("classifier_paused", help);
        self.each(all, |one| u64::from(one.paused));
        let help = "Time spent waiting for it.";
        self.counter("classifier_seconds_total", help);
        self.each(all, |one| seconds(one.micros));
        let help = "Results that no classifier was asked about, by reason.";
        self.counter("classifier_skipped_total", help);
        let reasons = ["no_free_text", "already_blocked"];
        for (reason, count) in reasons.iter().zip(panel.skipped()) {
            self.sample(&[("reason", reason)], count);
        }
    }
}
