//! The rules that a server can break apart from its schemas, each with a stable identifier.

use crate::policy::SchemaPolicy;

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
    pub description: &'static str,
}

/// Declares rules: identifier, what lenient and strict do about it, description.
macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $lenient:ident, $strict:ident, $text:literal;)+) => {
        $($(#[$doc])*
        pub static $name: Rule = Rule {
            id: $id,
            lenient: SchemaPolicy::$lenient,
            strict: SchemaPolicy::$strict,
            description: $text,
        };)+

        /// Every rule that is not about a schema.
        pub static RULES: &[&Rule] = &[$(&$name),+];
    };
}

rules! {
    /// Valid arguments were answered with a JSON-RPC error.
    VALID_REFUSED = "CALL-VALID-REFUSED", Warn, Fail,
        "valid arguments are answered with a JSON-RPC error";
    /// Most valid arguments of a tool are answered with `isError`.
    VALID_MOSTLY_ERRORS = "CALL-VALID-MOSTLY-ERRORS", Ignore, Warn,
        "most valid arguments end in an error: the schema promises more than the tool takes";
    /// An answer came later than the caller's timeout.
    SLOW = "CALL-SLOW", Warn, Warn,
        "an answer comes later than --timeout allows";
    /// Something on stdout is not MCP.
    NOISE = "STDOUT-NOISE", Warn, Warn,
        "lines on stdout are not MCP messages; logs belong to stderr";
    /// No answer came.
    HANG = "CALL-HANG", Fail, Fail,
        "the server does not answer";
    /// The server ended.
    CRASH = "CALL-CRASH", Fail, Fail,
        "the server ends or drops the connection";
    /// What came is not an answer.
    MALFORMED = "CALL-MALFORMED", Fail, Fail,
        "the answer is not one the protocol allows";
    /// Invalid arguments were refused with a code that means something else.
    REFUSED_ODDLY = "ARGS-REFUSED-ODDLY", Ignore, Warn,
        "invalid arguments are refused in an unusual way";
    /// A refusal does not say what is wrong.
    UNNAMED = "ARGS-REFUSED-UNNAMED", Ignore, Warn,
        "the refusal does not name the argument that is wrong";
    /// Arguments that are no object were accepted.
    NOT_AN_OBJECT = "ARGS-NOT-AN-OBJECT-ACCEPTED", Warn, Fail,
        "arguments that are not an object are accepted";
    /// A tool that does not exist answered.
    UNKNOWN_TOOL = "CALL-UNKNOWN-TOOL-ANSWERED", Warn, Fail,
        "a tool that is not listed answers";
    /// A refusal shows the server's inside.
    LEAK = "ARGS-REFUSAL-LEAKS", Warn, Fail,
        "a refusal shows a stack trace, a source path or a secret";
    /// The same call got another answer.
    REPEAT = "CALL-REPEAT-DIFFERS", Ignore, Warn,
        "a tool that says it is read-only or idempotent answers a repeated call differently";
    /// The same list came in another order.
    LIST_ORDER = "LIST-ORDER-CHANGED", Ignore, Warn,
        "the tool list comes in another order each time";
}
