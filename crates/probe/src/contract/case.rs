//! A case: arguments for one tool, and what they are meant to be. The label is a claim until the
//! engine has confirmed it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a case is meant to be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "intent")]
pub enum Intent {
    /// Arguments the declared schema admits.
    Valid,
    /// Arguments with exactly one thing wrong.
    Invalid {
        /// The keyword that refuses them.
        keyword: String,
        /// RFC 6901 pointer to the value it refuses.
        pointer: String,
    },
    /// Arguments that are not an object, which the protocol itself refuses.
    NotAnObject,
    /// A tool the server does not list.
    UnknownTool,
}

impl Intent {
    /// Whether the server must take the arguments.
    pub const fn is_valid(&self) -> bool {
        matches!(self, Self::Valid)
    }

    /// The word reports use.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid { .. } => "invalid",
            Self::NotAnObject => "not_an_object",
            Self::UnknownTool => "unknown_tool",
        }
    }
}

/// Arguments with their label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Why it was made, in a few words.
    pub name: String,
    /// What it is meant to be.
    #[serde(flatten)]
    pub intent: Intent,
    /// What is sent as `arguments`.
    pub arguments: Value,
}

impl Case {
    /// A case the server must take.
    pub fn valid(name: impl Into<String>, arguments: Value) -> Self {
        Self {
            name: name.into(),
            intent: Intent::Valid,
            arguments,
        }
    }

    /// The arguments as they are sent.
    pub fn bytes(&self) -> Vec<u8> {
        self.arguments.to_string().into_bytes()
    }
}

/// A step from a value into one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Property(String),
    Item(usize),
}

/// RFC 6901.
pub(crate) fn pointer(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        text.push('/');
        match step {
            Step::Property(name) => text.push_str(&name.replace('~', "~0").replace('/', "~1")),
            Step::Item(index) => text.push_str(&index.to_string()),
        }
    }
    text
}
