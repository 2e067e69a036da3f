//! What an answer to a case means: one `match` that reads as a table. Servers built with different
//! SDKs refuse in different words, and the protocol leaves some of it open, so known deviations are
//! rows too. The table judges kinds of answers; what is inside a result is the judge's business.

mod rules;

use serde::{Deserialize, Serialize};

use super::case::Intent;

pub use rules::{
    CRASH, HANG, LEAK, LIST_ORDER, MALFORMED, NOISE, NOT_AN_OBJECT, REFUSED_ODDLY, REPEAT, RULES,
    Rule, SLOW, UNKNOWN_TOOL, UNNAMED, VALID_MOSTLY_ERRORS, VALID_REFUSED,
};

/// How a call was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyKind {
    /// A result.
    Success,
    /// A result that says `isError`.
    ToolError,
    /// A JSON-RPC error of this code, or an HTTP status.
    Error(i64),
    /// Nothing, in time.
    Timeout,
    /// The process ended, or the connection did.
    Ended,
    /// Something that is not an answer.
    Malformed,
}

/// The SDK that a server is built with, as its answers show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Built with the TypeScript SDK.
    TypeScript,
    /// Built with the Python SDK.
    Python,
    /// Not recognised.
    #[default]
    Unknown,
}

/// Phrases by which an SDK gives itself away, in the answer to a tool that does not exist.
const SIGNATURES: [(&str, Family); 3] = [
    ("MCP error -326", Family::TypeScript),
    ("Unknown tool: ", Family::Python),
    ("Input validation error: ", Family::Python),
];

impl Family {
    /// Reads the family out of the answer to a call of an unknown tool.
    pub fn from_texts(texts: &[String]) -> Self {
        let contains = |phrase: &str| texts.iter().any(|text| text.contains(phrase));
        let mut known = SIGNATURES.iter().filter(|(phrase, _)| contains(phrase));
        known.next().map(|(_, family)| *family).unwrap_or_default()
    }
}

/// What an answer to a case means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assessment {
    /// As it should be.
    Pass,
    /// Not as it should be, but how servers of the family are known to answer.
    KnownDeviation,
    /// Invalid arguments were accepted: row 4 of the policy table.
    Accepted,
    /// Wrong.
    Wrong(&'static Rule),
}

/// What an answer to a case of this intent means. Deviations that are known of a family stand first.
pub fn assess(intent: &Intent, family: Family, reply: ReplyKind) -> Assessment {
    use Assessment::{Accepted, KnownDeviation, Pass, Wrong};
    use Family::{Python, TypeScript};
    use Intent::{Invalid, NotAnObject, UnknownTool, Valid};
    use ReplyKind::{Ended, Error, Malformed, Success, Timeout, ToolError};
    match (intent, family, reply) {
        (NotAnObject, TypeScript, Error(-32603) | ToolError)
        | (UnknownTool, TypeScript | Python, ToolError) => KnownDeviation,
        (_, _, Timeout) => Wrong(&HANG),
        (_, _, Ended) => Wrong(&CRASH),
        (_, _, Malformed) => Wrong(&MALFORMED),
        // An `isError` to valid arguments may be a rule of the domain; it is counted over the whole tool.
        (Valid, _, Success | ToolError)
        | (Invalid { .. }, _, ToolError | Error(-32602))
        | (NotAnObject, _, Error(-32602..=-32600 | 400..=499))
        | (UnknownTool, _, Error(-32602)) => Pass,
        (Valid, _, Error(_)) => Wrong(&VALID_REFUSED),
        (Invalid { .. }, _, Success) => Accepted,
        (NotAnObject, _, Success) => Wrong(&NOT_AN_OBJECT),
        (UnknownTool, _, Success) => Wrong(&UNKNOWN_TOOL),
        // Every other answer is a polite refusal in an unusual form.
        _ => Wrong(&REFUSED_ODDLY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invalid() -> Intent {
        Intent::Invalid {
            keyword: "type".to_owned(),
            pointer: "/a".to_owned(),
        }
    }

    #[test]
    fn every_cell_of_the_table() {
        use Assessment::{Accepted, KnownDeviation, Pass, Wrong};
        let any = Family::Unknown;
        let (valid, unknown, no_object) = (Intent::Valid, Intent::UnknownTool, Intent::NotAnObject);
        let cases = [
            (&valid, any, ReplyKind::Success, Pass),
            (&valid, any, ReplyKind::ToolError, Pass),
            (&valid, any, ReplyKind::Error(-32602), Wrong(&VALID_REFUSED)),
            (&valid, any, ReplyKind::Timeout, Wrong(&HANG)),
            (&valid, any, ReplyKind::Ended, Wrong(&CRASH)),
            (&valid, any, ReplyKind::Malformed, Wrong(&MALFORMED)),
            (&invalid(), any, ReplyKind::Success, Accepted),
            (&invalid(), any, ReplyKind::ToolError, Pass),
            (&invalid(), any, ReplyKind::Error(-32602), Pass),
            (
                &invalid(),
                any,
                ReplyKind::Error(-32603),
                Wrong(&REFUSED_ODDLY),
            ),
            (&invalid(), any, ReplyKind::Ended, Wrong(&CRASH)),
            (&no_object, any, ReplyKind::Error(-32600), Pass),
            (&no_object, any, ReplyKind::Error(-32602), Pass),
            (
                &no_object,
                any,
                ReplyKind::Error(-32603),
                Wrong(&REFUSED_ODDLY),
            ),
            (
                &no_object,
                Family::TypeScript,
                ReplyKind::Error(-32603),
                KnownDeviation,
            ),
            (&no_object, any, ReplyKind::ToolError, Wrong(&REFUSED_ODDLY)),
            (&no_object, any, ReplyKind::Success, Wrong(&NOT_AN_OBJECT)),
            (&unknown, any, ReplyKind::Error(-32602), Pass),
            (
                &unknown,
                any,
                ReplyKind::Error(-32601),
                Wrong(&REFUSED_ODDLY),
            ),
            (&unknown, any, ReplyKind::ToolError, Wrong(&REFUSED_ODDLY)),
            (
                &unknown,
                Family::TypeScript,
                ReplyKind::ToolError,
                KnownDeviation,
            ),
            (&unknown, any, ReplyKind::Success, Wrong(&UNKNOWN_TOOL)),
        ];
        for (intent, family, reply, expected) in cases {
            assert_eq!(
                assess(intent, family, reply),
                expected,
                "{intent:?} {family:?} {reply:?}"
            );
        }
    }

    #[test]
    fn strict_never_does_less_and_ids_are_unique() {
        for (index, rule) in RULES.iter().enumerate() {
            assert!(rule.strict >= rule.lenient, "{}", rule.id);
            assert!(
                RULES
                    .iter()
                    .skip(index + 1)
                    .all(|other| other.id != rule.id),
                "{}",
                rule.id
            );
        }
    }

    #[test]
    fn families_show_themselves() {
        let read = |text: &str| Family::from_texts(&[text.to_owned()]);
        assert_eq!(
            read("MCP error -32602: Tool x not found"),
            Family::TypeScript
        );
        assert_eq!(read("Unknown tool: x"), Family::Python);
        assert_eq!(read("no such tool"), Family::Unknown);
    }
}
