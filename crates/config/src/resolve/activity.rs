//! The activity log: what is kept and how surely, and the key that signs it.

use countersign_audit::{Durability, OnStoreError, Payloads, Signer};

use super::Resolver;
use crate::model::ActivityConfig;
use crate::problem::Problem;
use crate::raw::RawActivity;
use crate::secret::Secret;

impl Resolver<'_, '_> {
    pub(super) fn activity(&mut self, raw: RawActivity) -> ActivityConfig {
        let defaults = ActivityConfig::default();
        // `check` has seen that each word is one of the set, so parsing cannot fail.
        let word = |word: Option<String>| word.unwrap_or_default();
        ActivityConfig {
            retention_days: raw.retention_days.unwrap_or(defaults.retention_days),
            retention_floor_days: raw
                .retention_floor_days
                .unwrap_or(defaults.retention_floor_days),
            max_records: raw.max_records.unwrap_or(defaults.max_records),
            max_size_mb: raw.max_size_mb.unwrap_or(defaults.max_size_mb),
            payloads: Payloads::parse(&word(raw.payloads)).unwrap_or_default(),
            payload_max_bytes: raw.payload_max_bytes.unwrap_or(defaults.payload_max_bytes),
            durability: Durability::parse(&word(raw.durability)).unwrap_or_default(),
            on_store_error: OnStoreError::parse(&word(raw.on_store_error)).unwrap_or_default(),
            signing_key: raw.signing_key.and_then(|text| self.signing_key(&text)),
        }
    }

    fn signing_key(&mut self, text: &str) -> Option<Secret> {
        let key = self.secret("/activity/signing_key", text, true)?;
        if Signer::from_text(key.expose()).is_err() {
            let problem = Problem::new(None, "not 64 hexadecimal digits")
                .hint("`openssl rand -hex 32` makes one; null has one generated");
            self.refuse("/activity/signing_key", problem);
        }
        Some(key)
    }
}
