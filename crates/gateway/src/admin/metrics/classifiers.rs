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
        let help = "Results by the worst verdict about them.";
        self.by(
            ("classifier_results_total", help),
            &stats,
            ("verdict", &VERDICTS),
            |one| &one.verdicts,
        );
        let help = "Results that were not screened, or not wholly, by reason.";
        let reasons = Error::REASONS;
        self.by(
            ("classifier_errors_total", help),
            &stats,
            ("reason", &reasons),
            |one| &one.errors,
        );
        let help = "Results that were forwarded unscreened, because on_error is open.";
        self.one(
            "classifier_forwarded_unscreened_total",
            "counter",
            help,
            &stats,
            |one| one.forwarded_unscreened,
        );
        let help = "Chunks of text with a verdict.";
        self.one("classifier_chunks_total", "counter", help, &stats, |one| {
            one.chunks
        });
        let help = "Chunks whose verdict was remembered.";
        self.one(
            "classifier_cache_hits_total",
            "counter",
            help,
            &stats,
            |one| one.remembered,
        );
        let help = "Whether it is left alone after failures.";
        self.one("classifier_paused", "gauge", help, &stats, |one| {
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

    fn by<const N: usize>(
        &mut self,
        (name, help): (&str, &str),
        stats: &[Stats],
        (label, words): (&str, &[&str; N]),
        counts: impl Fn(&Stats) -> &[u64; N],
    ) {
        self.family(name, "counter", help);
        for one in stats {
            for (word, count) in words.iter().zip(counts(one)) {
                self.sample(name, &[("classifier", &one.name), (label, word)], *count);
            }
        }
    }

    fn one(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        stats: &[Stats],
        count: impl Fn(&Stats) -> u64,
    ) {
        self.family(name, kind, help);
        for one in stats {
            self.sample(name, &[("classifier", &one.name)], count(one));
        }
    }
}
