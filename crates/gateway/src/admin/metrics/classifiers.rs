//! The classifiers' part of the page.

use countersign_classify::{Error, Stats};
use countersign_config::Config;

use super::{Page, seconds, written};

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
        let verdicts = |one: &Stats, at: usize| one.verdicts.get(at).copied();
        self.sets(
            ("classifier_results_total", help),
            all,
            ("verdict", &VERDICTS),
            verdicts,
        );
        let help = "Results that were not screened, or not wholly, by reason.";
        let errors = |one: &Stats, at: usize| one.errors.get(at).copied();
        self.sets(
            ("classifier_errors_total", help),
            all,
            ("reason", &Error::REASONS),
            errors,
        );
        let help = "Results that were forwarded unscreened, because on_error is open.";
        let unscreened = |one: &Stats| one.forwarded_unscreened;
        self.single(
            "classifier_forwarded_unscreened_total",
            ("counter", help),
            all,
            unscreened,
        );
        let help = "Chunks of text with a verdict.";
        self.single("classifier_chunks_total", ("counter", help), all, |one| {
            one.chunks
        });
        let help = "Chunks whose verdict was remembered.";
        self.single(
            "classifier_cache_hits_total",
            ("counter", help),
            all,
            |one| one.remembered,
        );
        let help = "Whether it is left alone after failures.";
        self.single("classifier_paused", ("gauge", help), all, |one| {
            one.paused.into()
        });
        let name = "classifier_seconds_total";
        self.family(name, "counter", "Time spent waiting for it.");
        for one in &stats {
            let labels = written(&[("classifier", &one.name)]);
            let time = seconds(one.micros);
            self.line(format_args!("countersign_{name}{labels} {time}"));
        }
        let name = "classifier_skipped_total";
        self.family(
            name,
            "counter",
            "Results that no classifier was asked about, by reason.",
        );
        for (reason, count) in ["no_free_text", "already_blocked"]
            .iter()
            .zip(panel.skipped())
        {
            self.sample(name, &[("reason", reason)], count);
        }
    }
}
