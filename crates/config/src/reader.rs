//! One reading of a file: where values are found, what they may refer to, and everything that is wrong with them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use countersign_tape::{Kind, Tape};
use serde::de::DeserializeOwned;

use super::document::Document;
use super::environment::{Environment, KEYRING};
use super::problem::{MAX_REPORTED, Problem, Warning};
use super::secret::Secret;

/// One reading of a file: it is checked first, then read. A node is an index into the file's tape.
pub(crate) struct Reader<'r, 'a> {
    document: &'r Document<'a>,
    pub(crate) environment: &'r Environment<'r>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Warning>,
    /// Keys of other programs that are ignored without a warning of their own.
    pub(crate) ignored_keys: BTreeSet<String>,
    /// The names of the classifiers read so far.
    pub(crate) classifiers: Vec<String>,
    /// References of the server being read to variables that are not set.
    pub(crate) unset_references: Vec<Problem>,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub(crate) fn new(document: &'r Document<'a>, environment: &'r Environment<'r>) -> Self {
        Self {
            document,
            environment,
            problems: Vec::new(),
            warnings: Vec::new(),
            ignored_keys: BTreeSet::new(),
            classifiers: Vec::new(),
            unset_references: Vec::new(),
        }
    }

    pub(crate) fn tape(&self) -> &Tape<'a> {
        self.document.tape()
    }

    /// The value of a key of an object.
    pub(crate) fn member(&self, node: u32, key: &str) -> Option<u32> {
        self.tape().get(node, key)
    }

    /// A string.
    pub(crate) fn text(&self, node: u32) -> String {
        self.tape().string(node).into_owned()
    }

    /// Whether a boolean is true.
    pub(crate) fn flag(&self, node: u32) -> bool {
        self.tape().node(node).kind() == Kind::True
    }

    /// The strings of an array.
    pub(crate) fn texts(&self, node: u32) -> Vec<String> {
        let elements = self.tape().children(node);
        elements.map(|element| self.text(element)).collect()
    }

    /// The string under a key, if it is there and not null.
    pub(crate) fn text_of(&self, node: u32, key: &str) -> Option<String> {
        let value = self.member(node, key)?;
        let is_string = self.tape().node(value).kind() == Kind::String;
        is_string.then(|| self.text(value))
    }

    /// The members of the object under a key; none if it is not there.
    pub(crate) fn members_of(&self, node: u32, key: &str) -> Vec<(String, u32)> {
        let object = self.member(node, key);
        object.map_or_else(Vec::new, |object| self.members(object))
    }

    /// The members of an object, with their names.
    pub(crate) fn members(&self, node: u32) -> Vec<(String, u32)> {
        let members = self.tape().members(node);
        members
            .map(|(key, value)| (self.text(key), value))
            .collect()
    }

    /// A value that another crate reads.
    pub(crate) fn deserialize<T: DeserializeOwned>(&mut self, node: u32) -> Option<T> {
        let read = serde_json::from_str(self.tape().raw(node));
        // `check` let it through, so a failure is our mistake; the operator still needs the place.
        self.usable(
            node,
            read.map_err(|error| Problem::without_hint(error.to_string())),
        )
    }

    /// A value that can be used, or its problem noted.
    pub(crate) fn usable<T>(&mut self, node: u32, value: Result<T, Problem>) -> Option<T> {
        let refuse = |problem| self.refuse_problem(node, problem);
        value.map_err(refuse).ok()
    }

    /// A path, which may begin with `~`.
    pub(crate) fn path(&mut self, node: u32) -> Option<PathBuf> {
        let text = self.text(node);
        let path = match self.environment.expand(&text) {
            Ok(_) if text.is_empty() => Err(Problem::new("an empty path", "leave out the key")),
            expanded => expanded,
        };
        self.usable(node, path)
    }

    /// A value that may refer to the environment.
    pub(crate) fn secret(&mut self, node: u32) -> Option<Secret> {
        let text = self.text(node);
        let secret = self.environment.resolve(&text).map_err(|bad| bad.problem);
        self.usable(node, secret)
    }

    /// The same for a server. A variable that is not set keeps the server from being started, and is no problem of the
    /// others. A server that is not used needs no value.
    pub(crate) fn server_secret(&mut self, node: u32, enabled: bool) -> Option<Secret> {
        let text = self.text(node);
        match self.environment.resolve(&text) {
            Ok(secret) => return Some(secret),
            Err(bad) if bad.is_unset && enabled => {
                let unset = bad.problem;
                let mut warning = unset.clone();
                warning.message.push_str(", so the server is not started");
                self.warn(node, warning);
                let place = self.document.place(node);
                self.unset_references.push(unset.at(place));
            }
            Err(bad) if enabled || text.contains(KEYRING) => {
                self.refuse_problem(node, bad.problem);
            }
            Err(bad) => self.warn(node, bad.problem),
        }
        None
    }

    /// Reports what is wrong with a value.
    pub(crate) fn refuse(
        &mut self,
        node: u32,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.refuse_problem(node, Problem::new(message, hint));
    }

    pub(crate) fn refuse_problem(&mut self, node: u32, problem: Problem) {
        if self.problems.len() < MAX_REPORTED {
            self.problems.push(problem.at(self.document.place(node)));
        }
    }

    pub(crate) fn warn(&mut self, node: u32, warning: Warning) {
        if self.warnings.len() < MAX_REPORTED {
            self.warnings.push(warning.at(self.document.place(node)));
        }
    }
}
