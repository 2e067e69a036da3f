//! The ways for a server to be wrong that are not about a schema, each with a stable identifier.

use crate::policy::SchemaPolicy::{self, Fail, Ignore, Warn};

/// A way for a server to be wrong that is not about a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The stable identifier.
    pub id: &'static str,
    /// What lenient does about it. A server that dies is not a matter of strictness.
    pub lenient: SchemaPolicy,
    /// What strict does about it.
    pub strict: SchemaPolicy,
    /// One sentence.
    pub says: &'static str,
}

const fn rule(
    id: &'static str,
    lenient: SchemaPolicy,
    strict: SchemaPolicy,
    says: &'static str,
) -> Rule {
    Rule {
        id,
        lenient,
        strict,
        says,
    }
}

/// Valid arguments were answered with a JSON-RPC error.
pub static VALID_REFUSED: Rule = rule(
    "CALL-VALID-REFUSED",
    Warn,
    Fail,
    "valid arguments are answered with a JSON-RPC error",
);
/// Most valid arguments of a tool are answered with `isError`.
pub static VALID_MOSTLY_ERRORS: Rule = rule(
    "CALL-VALID-MOSTLY-ERRORS",
    Ignore,
    Warn,
    "most valid arguments end in an error: the schema promises more than the tool takes",
);
/// An answer, and late.
pub static SLOW: Rule = rule(
    "CALL-SLOW",
    Warn,
    Warn,
    "an answer comes later than --timeout allows",
);
/// Something on stdout that is not MCP.
pub static NOISE: Rule = rule(
    "STDOUT-NOISE",
    Warn,
    Warn,
    "lines on stdout are not MCP messages; logs belong to stderr",
);
/// No answer.
pub static HANG: Rule = rule("CALL-HANG", Fail, Fail, "the server does not answer");
/// The server ended.
pub static CRASH: Rule = rule(
    "CALL-CRASH",
    Fail,
    Fail,
    "the server ends or drops the connection",
);
/// Not an answer.
pub static MALFORMED: Rule = rule(
    "CALL-MALFORMED",
    Fail,
    Fail,
    "the answer is not one the protocol allows",
);
/// Invalid arguments were refused with a code that means something else.
pub static REFUSED_ODDLY: Rule = rule(
    "ARGS-REFUSED-ODDLY",
    Ignore,
    Warn,
    "invalid arguments are refused in an unusual way",
);
/// A refusal that does not say what is wrong.
pub static UNNAMED: Rule = rule(
    "ARGS-REFUSED-UNNAMED",
    Ignore,
    Warn,
    "the refusal does not name the argument that is wrong",
);
/// Arguments that are no object were accepted.
pub static NOT_AN_OBJECT: Rule = rule(
    "ARGS-NOT-AN-OBJECT-ACCEPTED",
    Warn,
    Fail,
    "arguments that are not an object are accepted",
);
/// A tool that does not exist answered.
pub static UNKNOWN_TOOL: Rule = rule(
    "CALL-UNKNOWN-TOOL-ANSWERED",
    Warn,
    Fail,
    "a tool that is not listed answers",
);
/// A refusal that shows the server's inside.
pub static LEAK: Rule = rule(
    "ARGS-REFUSAL-LEAKS",
    Warn,
    Fail,
    "a refusal shows a stack trace, a source path or a secret",
);
/// The same call, another answer.
pub static REPEAT: Rule = rule(
    "CALL-REPEAT-DIFFERS",
    Ignore,
    Warn,
    "a tool that says it is read-only or idempotent answers a repeated call differently",
);
/// The same list in another order.
pub static LIST_ORDER: Rule = rule(
    "LIST-ORDER-CHANGED",
    Ignore,
    Warn,
    "the tool list comes in another order each time",
);

/// Every rule that is not about a schema.
pub static RULES: [&Rule; 14] = [
    &VALID_REFUSED,
    &VALID_MOSTLY_ERRORS,
    &SLOW,
    &NOISE,
    &HANG,
    &CRASH,
    &MALFORMED,
    &REFUSED_ODDLY,
    &UNNAMED,
    &NOT_AN_OBJECT,
    &UNKNOWN_TOOL,
    &LEAK,
    &REPEAT,
    &LIST_ORDER,
];
