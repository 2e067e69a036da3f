//! One classifier while it is read: what the file says of it, where, and the secrets found so far.

use std::collections::BTreeMap;

use crate::raw::RawClassifier;
use crate::secret::Secret;

/// One classifier while it is read.
pub(super) struct Reading {
    pub(super) pointer: String,
    pub(super) raw: RawClassifier,
    pub(super) secrets: BTreeMap<String, Secret>,
}

impl Reading {
    pub(super) fn word(&self, key: &str) -> Option<&str> {
        self.raw.words.get(key).map(String::as_str)
    }

    /// Whether a setting is this word; `check` has seen that it is one of its words.
    pub(super) fn is(&self, key: &str, word: &str) -> bool {
        self.word(key) == Some(word)
    }

    pub(super) fn at(&self, key: &str) -> String {
        format!("{}/{key}", self.pointer)
    }

    /// Every setting that not all kinds have.
    pub(super) fn given(&self) -> Vec<&str> {
        let mut given: Vec<&str> = self.raw.words.keys().map(String::as_str).collect();
        let numbers = [
            ("threshold", self.raw.threshold.is_some()),
            ("temperature", self.raw.temperature.is_some()),
            ("headers", self.raw.headers.is_some()),
        ];
        given.extend(
            numbers
                .iter()
                .filter(|(_, given)| *given)
                .map(|(key, _)| *key),
        );
        given
    }
}
