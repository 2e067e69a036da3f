//! One classifier while it is read: its place in the file, and the secrets found so far.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::problem::Problem;
use crate::reader::Reader;
use crate::secret::Secret;
use crate::setting::{self, Setting};

/// One classifier while it is read.
pub(super) struct Reading<'x, 'r, 'a> {
    pub(super) reader: &'x mut Reader<'r, 'a>,
    pub(super) node: u32,
    pub(super) secrets: BTreeMap<String, Secret>,
}

impl<'x, 'r, 'a> Reading<'x, 'r, 'a> {
    pub(super) fn new(reader: &'x mut Reader<'r, 'a>, node: u32) -> Self {
        Self {
            reader,
            node,
            secrets: BTreeMap::new(),
        }
    }

    /// Where the value of a key is, if it is given.
    pub(super) fn member(&self, key: &str) -> Option<u32> {
        self.reader.member(self.node, key)
    }

    /// The string under a key.
    pub(super) fn word(&self, key: &str) -> Option<String> {
        self.reader.text_of(self.node, key)
    }

    /// The word under a key, as the value that it stands for.
    pub(super) fn parsed<T: FromStr>(&self, key: &str) -> Option<T> {
        self.word(key)?.parse().ok()
    }

    pub(super) fn number(&self, key: &str) -> Option<f32> {
        self.reader.tape().raw(self.member(key)?).parse().ok()
    }

    pub(super) fn read_into<T: Setting>(&mut self, key: &str, setting: &mut T) {
        if let Some(node) = self.member(key) {
            setting::read_into(self.reader, node, setting);
        }
    }

    /// Where a problem with a key is told: at its value, or at the classifier if it is not given.
    pub(super) fn place(&self, key: &str) -> u32 {
        self.member(key).unwrap_or(self.node)
    }

    pub(super) fn refuse(
        &mut self,
        key: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let place = self.place(key);
        self.reader.refuse(place, message, hint);
    }

    pub(super) fn warn(&mut self, key: &str, message: &str, hint: &str) {
        let place = self.place(key);
        self.reader.warn(place, Problem::new(message, hint));
    }

    /// Refuses a classifier that lacks a key of its kind.
    pub(super) fn missing<T>(&mut self, key: &str, value: &str) -> Option<T> {
        let kind = self.word("kind").unwrap_or_default();
        let message = format!("a classifier of kind \"{kind}\" needs \"{key}\"");
        let hint = format!("give {value}");
        self.reader.refuse(self.node, message, hint);
        None
    }
}
