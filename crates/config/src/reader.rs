//! One reading of a file: where values are found, what they may refer to, and everything that is wrong with them.

use std::path::PathBuf;

use countersign_tape::{Kind, Tape};
use serde::de::DeserializeOwned;

use super::document::Document;
use super::environment::{BadReference, Environment};
use super::problem::{MAX_REPORTED, Problem, Warning};
use super::secret::Secret;

/// One reading of a file that `check` let through. A node is an index into the file's tape.
pub(crate) struct Reader<'r, 'a> {
    pub(crate) document: &'r Document<'a>,
    pub(crate) environment: &'r Environment<'r>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Warning>,
    /// The names of the classifiers read so far.
    pub(crate) classifiers: Vec<String>,
    /// References of the server being read to variables that are not set.
    pub(crate) unset_references: Vec<Problem>,
}

fn unset(variable: &str) -> Problem {
    let message = format!("the environment variable {variable} is not set");
    Problem::new(None, message).hint(format!(
        "set {variable} before starting, or write {variable}=… into `env` in the data directory"
    ))
}

impl<'a> Reader<'_, 'a> {
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
            read.map_err(|error| Problem::new(None, error.to_string())),
        )
    }

    /// A value that can be used, or its problem noted.
    pub(crate) fn usable<T>(&mut self, node: u32, value: Result<T, Problem>) -> Option<T> {
        value.map_err(|problem| self.refuse(node, problem)).ok()
    }

    /// A path, which may begin with `~`.
    pub(crate) fn path(&mut self, node: u32) -> Option<PathBuf> {
        let text = self.text(node);
        let path = match self.environment.expand(&text) {
            Ok(_) if text.is_empty() => {
                Err(Problem::new(None, "an empty path").hint("leave out the key"))
            }
            expanded => expanded,
        };
        self.usable(node, path)
    }

    /// A value that may refer to the environment.
    pub(crate) fn secret(&mut self, node: u32) -> Option<Secret> {
        let text = self.text(node);
        let secret = self.resolve(&text).map_err(|(problem, _)| problem);
        self.usable(node, secret)
    }

    /// The same for a server. A variable that is not set keeps the server from being started, and is no problem of the
    /// others. A server that is not used needs no value.
    pub(crate) fn server_secret(&mut self, node: u32, enabled: bool) -> Option<Secret> {
        let text = self.text(node);
        match self.resolve(&text) {
            Ok(secret) => return Some(secret),
            Err((problem, IsUnset::Yes)) if enabled => {
                let message = format!("{}, so the server is not started", problem.message);
                let hint = problem.hint.clone();
                self.warn(
                    node,
                    Problem {
                        place: None,
                        message,
                        hint,
                    },
                );
                let place = Some(self.document.place(node));
                self.unset_references.push(Problem { place, ..problem });
            }
            Err((problem, IsUnset::No)) if enabled || text.contains(KEYRING) => {
                self.refuse(node, problem);
            }
            Err((problem, _)) => self.warn(node, problem),
        }
        None
    }

    fn resolve(&self, text: &str) -> Result<Secret, (Problem, IsUnset)> {
        if text.contains(KEYRING) {
            let problem = Problem::new(None, "${keyring:…} references are not supported")
                .hint("put the value into a variable and write ${env:NAME}");
            return Err((problem, IsUnset::No));
        }
        self.environment.resolve(text).map_err(|bad| match bad {
            BadReference::Missing(name) => (unset(&name), IsUnset::Yes),
            BadReference::Name(_) => {
                let problem = Problem::new(None, "a ${env:…} reference does not name a variable")
                    .hint("write ${env:NAME}, with letters, digits and _ in the name");
                (problem, IsUnset::No)
            }
            BadReference::Open => {
                let problem =
                    Problem::new(None, "a ${env:…} reference has no end").hint("write ${env:NAME}");
                (problem, IsUnset::No)
            }
        })
    }

    pub(crate) fn refuse(&mut self, node: u32, problem: Problem) {
        if self.problems.len() < MAX_REPORTED {
            let place = Some(self.document.place(node));
            self.problems.push(Problem { place, ..problem });
        }
    }

    pub(crate) fn warn(&mut self, node: u32, warning: Warning) {
        if self.warnings.len() < MAX_REPORTED {
            let place = Some(self.document.place(node));
            self.warnings.push(Problem { place, ..warning });
        }
    }
}

/// How a reference to the secret store of the desktop begins.
const KEYRING: &str = "${keyring:";

/// Whether a reference cannot be replaced only because its variable is not set.
enum IsUnset {
    Yes,
    No,
}
