//! Closed sets: the words a record may use for its type, status and source.
//!
//! Every set knows all its members, so a filter with an unknown word is refused with the list of the allowed ones.
//! The small integer of a member is what the index stores; it is part of the file format and never reused.

use std::fmt;

use countersign_inspect::nearest_word;
use thiserror::Error;

/// A word that is not in its closed set. The message lists the allowed ones.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown {set} `{given}`; allowed: {}{}", allowed.join(", "), self.hint())]
pub struct UnknownValue {
    set: &'static str,
    given: String,
    allowed: Vec<&'static str>,
}

impl UnknownValue {
    pub(crate) fn new(set: &'static str, given: &str, allowed: Vec<&'static str>) -> Self {
        Self {
            set,
            given: given.chars().take(64).collect(),
            allowed,
        }
    }

    /// What the set is called: `status`, `type`, …
    pub fn set(&self) -> &'static str {
        self.set
    }

    /// The accepted word that was probably meant.
    pub fn nearest(&self) -> Option<&'static str> {
        nearest_word(&self.given, self.allowed.iter().copied())
    }

    fn hint(&self) -> String {
        self.nearest()
            .map(|word| format!("; did you mean `{word}`?"))
            .unwrap_or_default()
    }

    /// The words that would have been accepted.
    pub fn allowed(&self) -> &[&'static str] {
        &self.allowed
    }
}

macro_rules! closed_set {
    ($(#[$meta:meta])* $name:ident, $set:literal { $($(#[$doc:meta])* $variant:ident = $code:literal, $text:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text)] $variant = $code,)+ }

        impl $name {
            /// Every member, in a fixed order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word, as written in records, filters and reports.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The member with this name; the error lists all of them.
            pub fn parse(text: &str) -> Result<Self, UnknownValue> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err(UnknownValue::new($set, text, vec![$($text),+])),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

closed_set! {
    /// What a record is about.
    Kind, "type" {
        /// A tool was called.
        ToolCall = 0, "tool_call";
        /// A prompt was fetched.
        PromptGet = 1, "prompt_get";
        /// A resource was read.
        ResourceRead = 2, "resource_read";
        /// Text a server sent of its own accord: instructions, elicitation, sampling.
        ServerText = 3, "server_text";
        /// Something was blocked, changed or flagged.
        PolicyDecision = 4, "policy_decision";
        /// A declared schema cannot be enforced.
        SchemaDiagnostic = 5, "schema_diagnostic";
        /// A tool's description or schema changed.
        ToolChange = 6, "tool_change";
        /// A server was added, removed, restarted or changed.
        ServerChange = 7, "server_change";
        /// The configuration changed.
        ConfigChange = 8, "config_change";
        /// The process started; the first record of its chain.
        SystemStart = 9, "system_start";
        /// The process stopped in good order.
        SystemStop = 10, "system_stop";
        /// A completion of an argument was asked for.
        Completion = 11, "completion";
        /// A server's list of prompts, resources or templates is not the one it last gave.
        ListChange = 12, "list_change";
    }
}

closed_set! {
    /// How it ended. For a policy decision, equal to the decision.
    Status, "status" {
        /// It was carried out.
        Success = 0, "success";
        /// It failed: the upstream's fault or ours.
        Error = 1, "error";
        /// Refused before the upstream saw it.
        Rejected = 2, "rejected";
        /// Forwarded with findings.
        Flagged = 3, "flagged";
        /// Forwarded in changed form.
        Rewritten = 4, "rewritten";
        /// Not forwarded.
        Blocked = 5, "blocked";
    }
}

closed_set! {
    /// Which entrance it came through.
    Source, "source" {
        /// An MCP client.
        Mcp = 0, "mcp";
        /// The command line.
        Cli = 1, "cli";
        /// The REST interface.
        Api = 2, "api";
        /// The gateway itself.
        Internal = 3, "internal";
    }
}

/// The integers that the index stores.
macro_rules! coded {
    ($($name:ident),+) => {$(
        impl $name {
            pub(crate) fn code(self) -> i64 {
                self as i64
            }

            pub(crate) fn from_code(code: i64) -> Option<Self> {
                Self::ALL.iter().copied().find(|member| member.code() == code)
            }
        }
    )+};
}

coded!(Kind, Status);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_codes_differ() {
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.as_str()), Ok(*kind));
            assert_eq!(Kind::from_code(kind.code()), Some(*kind));
        }
        for status in Status::ALL {
            assert_eq!(Status::parse(status.as_str()), Ok(*status));
            assert_eq!(
                serde_json::to_string(status).ok(),
                Some(format!("\"{status}\""))
            );
        }
        let codes: std::collections::BTreeSet<i64> = Kind::ALL.iter().map(|k| k.code()).collect();
        assert_eq!(codes.len(), Kind::ALL.len());
    }

    #[test]
    fn an_unknown_word_lists_the_allowed_ones() {
        let error = Status::parse("warning").expect_err("not a status");
        assert_eq!(
            error.to_string(),
            "unknown status `warning`; allowed: success, error, rejected, flagged, rewritten, blocked"
        );
        assert_eq!(error.set(), "status");
        assert!(Source::parse("MCP").is_err());
        let close = |word| Status::parse(word).expect_err("not a status").nearest();
        assert_eq!(
            (
                close("block"),
                close("blokced"),
                close("Succes"),
                close("x")
            ),
            (Some("blocked"), Some("blocked"), Some("success"), None)
        );
    }
}
