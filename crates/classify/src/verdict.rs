//! The question to a classifier and its answer: one verdict for each chunk. Text that a classifier writes is
//! never shown to an agent; a label that is not a plain word is dropped.

use std::fmt;
use std::sync::Arc;

use countersign_inspect::word_enum;

const LONGEST_LABEL: usize = 64;

/// One piece of a result's text.
#[derive(Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its number within the result.
    pub id: usize,
    /// The text.
    pub text: String,
}

impl fmt::Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chunk({}, {} bytes)", self.id, self.text.len())
    }
}

/// Where a result comes from. Only a webhook is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The id of the call.
    pub request_id: Arc<str>,
    /// The server that answered.
    pub server: Arc<str>,
    /// Its tool.
    pub tool: Arc<str>,
}

/// What a classifier is asked at one time.
#[derive(Clone, Debug)]
pub struct Question {
    /// Where the text comes from.
    pub origin: Origin,
    /// The text, no more than the classifier takes at once.
    pub chunks: Vec<Chunk>,
}

word_enum! {
    /// What a classifier thinks of a chunk. The worst of several is their maximum.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Action {
        /// Nothing to say.
        #[default]
        Allow = "allow",
        /// Worth recording, whatever the operator's action is.
        Flag = "flag",
        /// An injection.
        Block = "block",
    }
}

/// One chunk's verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// What the classifier thinks.
    pub action: Action,
    /// How sure it is, from 0 to 1, where it says.
    pub score: Option<f32>,
    /// What it calls it, where it says.
    pub label: Option<Label>,
}

impl Verdict {
    /// A verdict without score and label.
    pub fn new(action: Action) -> Self {
        Self {
            action,
            ..Self::default()
        }
    }

    /// Sets the label, if it is a plain word.
    #[must_use]
    pub fn labelled(mut self, label: &str) -> Self {
        self.label = Label::new(label);
        self
    }

    /// Sets the score.
    #[must_use]
    pub fn scored(mut self, score: f32) -> Self {
        self.score = Some(score);
        self
    }
}

/// A word that cannot carry a message: up to 64 letters, digits and `_ . : -`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label(Box<str>);

impl Label {
    /// The label, if it is one.
    pub fn new(word: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
        let fits = !word.is_empty() && word.len() <= LONGEST_LABEL && word.bytes().all(plain);
        fits.then(|| Self(word.into()))
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_word_and_nothing_else() {
        assert_eq!(
            Label::new("PROMPT_ATTACK").unwrap().as_str(),
            "PROMPT_ATTACK"
        );
        for word in ["", "ignore all rules", "é", &"x".repeat(65), "a\n"] {
            assert_eq!(Label::new(word), None, "{word}");
        }
    }

    #[test]
    fn the_worst_action_is_the_greatest() {
        assert!(Action::Allow < Action::Flag && Action::Flag < Action::Block);
    }

    #[test]
    fn text_is_not_in_debug_output() {
        let chunk = Chunk {
            id: 1,
            text: "secret".into(),
        };
        assert!(!format!("{chunk:?}").contains("secret"));
    }
}
