//! Tokens that were refused, and the keys of issuers.

use std::time::Instant;

use super::Page;
use crate::services::Issuers;
use crate::state::TokenRules;

impl Page {
    /// Nothing where no token is accepted.
    pub(super) fn issuers(&mut self, issuers: &Issuers, rules: Option<&TokenRules>) {
        let Some(rules) = rules else {
            return;
        };
        self.counter(
            "token_refusals_total",
            "Tokens that were refused, by reason.",
        );
        for (reason, count) in issuers.refusals() {
            self.sample(&[("reason", reason)], count);
        }
        let statuses: Vec<_> = rules
            .issuers
            .iter()
            .map(|rules| (&*rules.issuer.name, issuers.status(rules)))
            .collect();
        self.gauge(
            "issuer_keys",
            "Usable keys of an issuer; 0 until they were fetched.",
        );
        for (issuer, status) in &statuses {
            self.sample(&[("issuer", issuer)], status.keys);
        }
        let help = "Age of the keys of an issuer. They are fetched every 10 minutes and used for 24 hours.";
        self.gauge("issuer_keys_age_seconds", help);
        for (issuer, status) in &statuses {
            if let Some(fetched) = status.fetched {
                let age = Instant::now().saturating_duration_since(fetched);
                self.sample(&[("issuer", issuer)], age.as_secs());
            }
        }
        let help = "Times the keys of an issuer could not be fetched.";
        self.counter("issuer_key_failures_total", help);
        for (issuer, status) in &statuses {
            self.sample(&[("issuer", issuer)], status.failures);
        }
    }
}
