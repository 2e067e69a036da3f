//! What an answer to a case means: a table. Servers built with different SDKs refuse in different
//! words, and the protocol leaves some of it open, so known deviations are rows and not `if`s.
//! The table judges kinds of answers; what is inside a result is the judge's business.

mod rules;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::case::Intent;

pub use rules::{
    CRASH, HANG, LEAK, LIST_ORDER, MALFORMED, NOISE, NOT_AN_OBJECT, REFUSED_ODDLY, REPEAT, RULES,
    Rule, SLOW, UNKNOWN_TOOL, UNNAMED, VALID_MOSTLY_ERRORS, VALID_REFUSED,
};

/// How a call was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
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

/// The kin of a server, as its answers show it.
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
        let says = |phrase: &str| texts.iter().any(|text| text.contains(phrase));
        let mut known = SIGNATURES.iter().filter(|(phrase, _)| says(phrase));
        known.next().map(|(_, family)| *family).unwrap_or_default()
    }
}
/// What the table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// As it should be.
    Pass,
    /// Not as it should be, but how servers of the family are known to answer.
    Known,
    /// Invalid arguments were accepted: row 4 of the policy table.
    Accepted,
    /// Wrong.
    Wrong(&'static Rule),
}

#[derive(Debug)]
enum When {
    Success,
    ToolError,
    Codes(RangeInclusive<i64>),
    AnyError,
    Timeout,
    Ended,
    Malformed,
}

impl When {
    fn matches(&self, seen: Seen) -> bool {
        match (self, seen) {
            (Self::Codes(codes), Seen::Error(code)) => codes.contains(&code),
            (Self::Success, Seen::Success)
            | (Self::ToolError, Seen::ToolError)
            | (Self::AnyError, Seen::Error(_))
            | (Self::Timeout, Seen::Timeout)
            | (Self::Ended, Seen::Ended)
            | (Self::Malformed, Seen::Malformed) => true,
            _ => false,
        }
    }
}

/// Cases the rows are about.
#[derive(Debug, PartialEq, Eq)]
enum About {
    Valid,
    Invalid,
    NotAnObject,
    UnknownTool,
    Any,
}

#[derive(Debug)]
struct Row {
    about: About,
    /// `None`: every family.
    family: Option<Family>,
    when: When,
    says: Says,
}

const fn row(about: About, when: When, says: Says) -> Row {
    Row {
        about,
        family: None,
        when,
        says,
    }
}

const fn deviation(about: About, family: Family, when: When) -> Row {
    Row {
        about,
        family: Some(family),
        when,
        says: Says::Known,
    }
}

/// The first row that matches speaks. Deviations stand first.
static TABLE: [Row; 21] = {
    use About::{Any, Invalid, NotAnObject, UnknownTool, Valid};
    use Says::{Accepted, Pass, Wrong};
    [
        deviation(
            NotAnObject,
            Family::TypeScript,
            When::Codes(-32603..=-32603),
        ),
        deviation(NotAnObject, Family::TypeScript, When::ToolError),
        deviation(UnknownTool, Family::TypeScript, When::ToolError),
        deviation(UnknownTool, Family::Python, When::ToolError),
        row(Any, When::Timeout, Wrong(&HANG)),
        row(Any, When::Ended, Wrong(&CRASH)),
        row(Any, When::Malformed, Wrong(&MALFORMED)),
        row(Valid, When::Success, Pass),
        // Perhaps a rule of the domain; counted over the whole tool.
        row(Valid, When::ToolError, Pass),
        row(Valid, When::AnyError, Wrong(&VALID_REFUSED)),
        row(Invalid, When::ToolError, Pass),
        row(Invalid, When::Codes(-32602..=-32602), Pass),
        row(Invalid, When::AnyError, Wrong(&REFUSED_ODDLY)),
        row(Invalid, When::Success, Accepted),
        row(NotAnObject, When::Codes(-32602..=-32600), Pass),
        row(NotAnObject, When::Codes(400..=499), Pass),
        row(NotAnObject, When::Success, Wrong(&NOT_AN_OBJECT)),
        row(UnknownTool, When::Codes(-32602..=-32602), Pass),
        row(UnknownTool, When::Success, Wrong(&UNKNOWN_TOOL)),
        row(NotAnObject, When::AnyError, Wrong(&REFUSED_ODDLY)),
        row(Any, When::AnyError, Wrong(&REFUSED_ODDLY)),
    ]
};

/// What an answer to a case of this intent means.
pub fn judge(intent: &Intent, family: Family, seen: Seen) -> Says {
    let about = match intent {
        Intent::Valid => About::Valid,
        Intent::Invalid { .. } => About::Invalid,
        Intent::NotAnObject => About::NotAnObject,
        Intent::UnknownTool => About::UnknownTool,
    };
    let speaks = |row: &&Row| {
        (row.about == about || row.about == About::Any)
            && row.family.is_none_or(|known| known == family)
            && row.when.matches(seen)
    };
    // What no row speaks about is a polite refusal in an unusual form.
    TABLE
        .iter()
        .find(speaks)
        .map_or(Says::Wrong(&REFUSED_ODDLY), |row| row.says)
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
        use Says::{Accepted, Known, Pass, Wrong};
        let any = Family::Unknown;
        let (valid, unknown, no_object) = (Intent::Valid, Intent::UnknownTool, Intent::NotAnObject);
        let cases = [
            (&valid, any, Seen::Success, Pass),
            (&valid, any, Seen::ToolError, Pass),
            (&valid, any, Seen::Error(-32602), Wrong(&VALID_REFUSED)),
            (&valid, any, Seen::Timeout, Wrong(&HANG)),
            (&valid, any, Seen::Ended, Wrong(&CRASH)),
            (&valid, any, Seen::Malformed, Wrong(&MALFORMED)),
            (&invalid(), any, Seen::Success, Accepted),
            (&invalid(), any, Seen::ToolError, Pass),
            (&invalid(), any, Seen::Error(-32602), Pass),
            (&invalid(), any, Seen::Error(-32603), Wrong(&REFUSED_ODDLY)),
            (&invalid(), any, Seen::Ended, Wrong(&CRASH)),
            (&no_object, any, Seen::Error(-32600), Pass),
            (&no_object, any, Seen::Error(-32602), Pass),
            (&no_object, any, Seen::Error(-32603), Wrong(&REFUSED_ODDLY)),
            (&no_object, Family::TypeScript, Seen::Error(-32603), Known),
            (&no_object, any, Seen::ToolError, Wrong(&REFUSED_ODDLY)),
            (&no_object, any, Seen::Success, Wrong(&NOT_AN_OBJECT)),
            (&unknown, any, Seen::Error(-32602), Pass),
            (&unknown, any, Seen::Error(-32601), Wrong(&REFUSED_ODDLY)),
            (&unknown, any, Seen::ToolError, Wrong(&REFUSED_ODDLY)),
            (&unknown, Family::TypeScript, Seen::ToolError, Known),
            (&unknown, any, Seen::Success, Wrong(&UNKNOWN_TOOL)),
        ];
        for (intent, family, seen, expected) in cases {
            assert_eq!(
                judge(intent, family, seen),
                expected,
                "{intent:?} {family:?} {seen:?}"
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
        let of = |text: &str| Family::from_texts(&[text.to_owned()]);
        assert_eq!(of("MCP error -32602: Tool x not found"), Family::TypeScript);
        assert_eq!(of("Unknown tool: x"), Family::Python);
        assert_eq!(of("no such tool"), Family::Unknown);
    }
}
