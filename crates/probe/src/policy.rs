//! What a violation means for the run: one small pure function, and the overrides around it.
//!
//! Mechanical validation lives elsewhere; here is only the product decision. Lenient is the
//! default and never gates a run, strict is by choice, and an override says otherwise for one
//! tool, with a reason and an end. Nothing here looks at a clock: today is an argument.

mod date;
mod outcome;
mod overrides;

use std::fmt;

use countersign_inspect::{Finding, describe_rule, word_enum};
use serde::{Deserialize, Serialize};

pub use date::{Date, NotADate};
pub use outcome::{CallOutcome, ProtocolError};
pub use overrides::{AppliedPolicy, Override, PolicySource, Validation, glob};

word_enum! {
    /// What is done about a violation.
    #[derive(PartialOrd, Ord)]
    pub enum SchemaPolicy {
        /// It is counted, and nothing else.
        Ignore = "ignore",
        /// It is counted and shown.
        Warn = "warn",
        /// It gates the run.
        Fail = "fail",
    }
}

/// Declares the sites: their names in overrides and reports, the identifiers of their rules, and what
/// it means to break them.
macro_rules! sites {
    ($($(#[$doc:meta])* $site:ident = $name:literal, $rule:literal, $description:expr;)+) => {
        /// Where in the contract a violation lies. The numbers are the rows of the policy table; rows 2
        /// (a bug of the tester) and 17 (a gateway changed a valid result) are no verdicts on the
        /// server, so they are not sites.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Site {
            $($(#[$doc])* $site,)+
        }

        impl Site {
            /// Every site, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$site),+];

            /// The name overrides and reports use. Several rows share one.
            pub const fn name(self) -> &'static str {
                [$($name),+][self as usize]
            }

            /// The stable identifier of the rule, as reports and baselines have it.
            pub const fn rule(self) -> &'static str {
                [$($rule),+][self as usize]
            }

            /// What it means to break it, in a sentence; where the gateway has the same rule, in the
            /// gateway's words.
            pub fn description(self) -> &'static str {
                [$($description),+][self as usize]
            }
        }
    };
}

sites! {
    /// 1: arguments that a plan's author wrote into a scenario do not fit the `inputSchema`.
    Authored = "args", "ARGS-AUTHORED-INVALID",
        "arguments written into a scenario do not fit the input schema";
    /// 3: arguments that are meant not to fit.
    Deliberate = "args", "ARGS-DELIBERATE-INVALID",
        "arguments that are meant not to fit the input schema";
    /// 4: arguments that do not fit were accepted.
    Accepted = "args", "ARGS-INVALID-ACCEPTED",
        "arguments that do not fit the input schema are accepted";
    /// 5: `structuredContent` of a success does not fit the `outputSchema`.
    Result = "result", "RESULT-SCHEMA-MISMATCH", describe_rule("schema");
    /// 6: an `outputSchema` is declared and a success has no `structuredContent`.
    Missing = "missing", "RESULT-STRUCTURED-MISSING", describe_rule("contract.missing");
    /// 7: as 5, but only because of `format`.
    Format = "format", "RESULT-FORMAT-MISMATCH", "structured content breaks only a format";
    /// 8: as 5, but only because of members the schema does not allow.
    Extra = "extra", "RESULT-EXTRA-PROPERTIES",
        "structured content has members the output schema does not allow";
    /// 9: `structuredContent` of an `isError` result is missing or does not fit.
    ErrorResult = "error", "RESULT-ERROR-MISMATCH",
        "the structured content of an error is missing or does not fit";
    /// 10: a result that is not the final one yet.
    Unfinished = "result", "RESULT-NOT-FINAL", "the result is not the final one";
    /// 11: `structuredContent` of a tool that declares no `outputSchema`.
    Undeclared = "result", "RESULT-UNDECLARED", "structured content comes without an output schema";
    /// 12a: structured content that is no object, and no text block at all.
    Unmirrored = "mirror", "RESULT-TEXT-MISSING",
        "structured content that is no object comes without any text";
    /// 12b: no text block says the same as the structured content.
    Differs = "mirror", "RESULT-TEXT-DIFFERS", "no text block says what the structured content says";
    /// 13: a declared schema cannot be enforced.
    Schema = "schema", "SCHEMA-UNENFORCEABLE", describe_rule("contract.uncompilable");
    /// 14: a declared schema refers to another document.
    ExternalRef = "schema", "SCHEMA-EXTERNAL-REF", describe_rule("contract.external_ref");
    /// 15: a guard of the validator tripped.
    Guard = "schema", "SCHEMA-GUARD", "a schema or a value is too large to be checked";
    /// 16: a gateway in between denied, redacted or limited the call.
    Denied = "gateway", "GATEWAY-DENIED", "a gateway refused the call";
    /// 18: the tool list changed during the run.
    ListChanged = "list", "LIST-CHANGED", "the tool list changed during the run";
    /// 19: a tool that is not in the list was called.
    Unlisted = "list", "LIST-UNKNOWN-TOOL", "a tool that is not listed was called";
}

impl Site {
    /// The names overrides and reports use.
    pub const NAMES: [&str; 10] = [
        "args", "result", "missing", "format", "extra", "error", "mirror", "schema", "gateway",
        "list",
    ];

    /// Whether an override for this name speaks about the site. Extra members are a kind of
    /// `result`, so that name covers them too.
    pub fn is_named(self, name: &str) -> bool {
        self.name() == name || (self == Self::Extra && name == "result")
    }

    /// A mismatch of a result, made more exact by what all of its violations have in common.
    #[must_use]
    pub fn refine(self, violations: &[Finding]) -> Self {
        let all = |rules: &[&str]| {
            let one_of = |finding: &Finding| rules.contains(&finding.rule.as_ref());
            !violations.is_empty() && violations.iter().all(one_of)
        };
        match self {
            Self::Result if all(&["schema.format"]) => Self::Format,
            Self::Result if all(&EXTRA) => Self::Extra,
            site => site,
        }
    }

    /// Whether no override and no baseline may speak about it: a validator that gave up has not
    /// looked, and must not look as if it had.
    pub const fn is_never_hidden(self) -> bool {
        matches!(self, Self::Guard)
    }
}

/// The rules under which a member is one too many.
const EXTRA: [&str; 2] = [
    "schema.additionalProperties",
    "schema.unevaluatedProperties",
];

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The whole policy, as strict has it: what a violation at a site means for the run.
///
/// ```
/// use countersign_probe::policy::{SchemaPolicy, Site, classify_schema_violation, lenient};
///
/// let strict = classify_schema_violation(Site::Missing, &[]);
/// assert_eq!(strict, SchemaPolicy::Fail);
/// assert_eq!(lenient(strict), SchemaPolicy::Warn);
/// ```
pub fn classify_schema_violation(site: Site, violations: &[Finding]) -> SchemaPolicy {
    match site.refine(violations) {
        Site::Deliberate | Site::ErrorResult | Site::Unfinished | Site::Undeclared => {
            SchemaPolicy::Ignore
        }
        Site::Format | Site::Differs => SchemaPolicy::Warn,
        _ => SchemaPolicy::Fail,
    }
}

/// What lenient makes of a strict answer: one step less, and never a gate.
pub const fn lenient(strict: SchemaPolicy) -> SchemaPolicy {
    match strict {
        SchemaPolicy::Fail => SchemaPolicy::Warn,
        SchemaPolicy::Warn | SchemaPolicy::Ignore => SchemaPolicy::Ignore,
    }
}

#[cfg(test)]
mod tests;
