//! One classifier while it is read: what the file says of it, where, and the secrets found so far.

use std::collections::BTreeMap;

use crate::reader::Reader;
use crate::secret::Secret;

/// The keys that every kind has.
const COMMON: &[&str] = &[
    "kind",
    "name",
    "action",
    "on_error",
    "timeout",
    "max_concurrent",
    "max_chunks",
    "chunk_chars",
    "cache_entries",
    "cache_ttl",
    "breaker_pause",
];

/// One classifier while it is read.
pub(super) struct Reading {
    pub(super) node: u32,
    /// The value of each key: where it is, and its text if it is a string.
    members: BTreeMap<String, (u32, Option<String>)>,
    pub(super) threshold: Option<f32>,
    pub(super) temperature: Option<f32>,
    pub(super) secrets: BTreeMap<String, Secret>,
}

impl Reading {
    pub(super) fn new(reader: &Reader<'_, '_>, node: u32) -> Self {
        let number = |key| reader.tape().raw(reader.member(node, key)?).parse().ok();
        let members = reader.members(node).into_iter();
        Self {
            node,
            threshold: number("threshold"),
            temperature: number("temperature"),
            members: members
                .map(|(key, value)| {
                    let text = reader.text_of(node, &key);
                    (key, (value, text))
                })
                .collect(),
            secrets: BTreeMap::new(),
        }
    }

    /// Where the value of a key is, if it is given.
    pub(super) fn member(&self, key: &str) -> Option<u32> {
        self.members.get(key).map(|(node, _)| *node)
    }

    pub(super) fn word(&self, key: &str) -> Option<&str> {
        self.members.get(key)?.1.as_deref()
    }

    /// Whether a setting is this word; `check` has seen that it is one of its words.
    pub(super) fn has_word(&self, key: &str, word: &str) -> bool {
        self.word(key) == Some(word)
    }

    /// Where a problem with a key is told: at its value, or at the classifier if it is not given.
    pub(super) fn at(&self, key: &str) -> u32 {
        self.member(key).unwrap_or(self.node)
    }

    /// Every setting that not all kinds have.
    pub(super) fn specific(&self) -> impl Iterator<Item = &str> {
        let keys = self.members.keys().map(String::as_str);
        keys.filter(|key| !COMMON.contains(key))
    }
}
