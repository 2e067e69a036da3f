//! Details of a finding about text: the kind of text, where, how often, and what was done. Enough to
//! diagnose a false alarm without the text itself.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::word_enum;

word_enum! {
    /// The kind of text something was found in.
    #[derive(PartialOrd, Ord)]
    pub enum Carrier {
        /// A text block.
        Text = "text",
        /// The text of an embedded resource.
        Resource = "resource",
        /// A name, title or description beside a link.
        ResourceLink = "resource_link",
        /// A string of `structuredContent`.
        Structured = "structured",
        /// A member name of `structuredContent`.
        StructuredKey = "structured_key",
        /// Anything else in a result: metadata, annotations, addresses, blocks of unknown types.
        Other = "other",
        /// The message or data of a JSON-RPC error.
        Error = "error",
        /// A tool's description of itself.
        Tool = "tool",
        /// A server's instructions.
        Instructions = "instructions",
        /// A progress or log message.
        Note = "note",
    }
}

word_enum! {
    /// What was done about a hit.
    #[derive(PartialOrd, Ord)]
    pub enum Action {
        /// It is still there.
        Reported = "reported",
        /// The text was cut.
        Truncated = "truncated",
        /// The characters are gone.
        Removed = "removed",
        /// A visible placeholder stands in its place.
        Replaced = "replaced",
        /// The whole result was refused.
        Blocked = "blocked",
    }
}

impl From<countersign_sanitise::Action> for Action {
    fn from(action: countersign_sanitise::Action) -> Self {
        match action {
            countersign_sanitise::Action::Reported => Self::Reported,
            countersign_sanitise::Action::Removed => Self::Removed,
            countersign_sanitise::Action::Replaced => Self::Replaced,
            countersign_sanitise::Action::Truncated => Self::Truncated,
        }
    }
}

/// Where text had something in it, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The kind of text.
    pub carrier: Carrier,
    /// The number of the content block, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<usize>,
    /// Class of the token or of the characters; empty where the rule says it all.
    pub class: Cow<'static, str>,
    /// Model family of a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// How many.
    pub count: u64,
    /// Byte offsets of the first ones in the decoded text.
    pub offsets: Vec<usize>,
    /// Control tokens in other texts of the result, whose findings were left out because there are too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens_not_listed: u64,
    /// What was done.
    pub action: Action,
    /// It was only reported, and strict mode would have blocked the result because of it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub blocked_in_strict: bool,
}

impl Hit {
    /// A text that is refused as a whole.
    pub(crate) fn blocked(carrier: Carrier, block: Option<usize>) -> Self {
        Self {
            carrier,
            block,
            class: Cow::Borrowed(""),
            family: None,
            count: 1,
            offsets: Vec::new(),
            tokens_not_listed: 0,
            action: Action::Blocked,
            blocked_in_strict: false,
        }
    }
}

/// The part of a result that carries a text, in words.
pub(crate) fn carrier_name(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::Text => "a text",
        Carrier::Resource => "a resource",
        Carrier::ResourceLink => "a link",
        Carrier::Structured => "structuredContent",
        Carrier::StructuredKey => "a key of structuredContent",
        Carrier::Other => "the rest of the result",
        Carrier::Error => "an error",
        Carrier::Tool => "the tool's description",
        Carrier::Instructions => "the server's instructions",
        Carrier::Note => "a notification",
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
