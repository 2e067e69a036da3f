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
pub use overrides::{Applied, Override, Validation, Why, glob};

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

/// Where in the contract a violation lies. The numbers are the rows of the policy table; rows 2
/// (a bug of the tester) and 17 (a gateway changed a valid result) are no verdicts on the server,
/// so they are outcomes and not sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Site {
    /// 1: arguments a person wrote into a scenario do not fit the `inputSchema`.
    Authored,
    /// 3: arguments that are meant not to fit.
    Deliberate,
    /// 4: arguments that do not fit were accepted.
    Accepted,
    /// 5: `structuredContent` of a success does not fit the `outputSchema`.
    Result,
    /// 6: an `outputSchema` is declared and a success has no `structuredContent`.
    Missing,
    /// 7: as 5, but only because of `format`.
    Format,
    /// 8: as 5, but only because of members the schema does not allow.
    Extra,
    /// 9: `structuredContent` of an `isError` result is missing or does not fit.
    ErrorResult,
    /// 10: a result that is not the final one yet.
    Unfinished,
    /// 11: `structuredContent` of a tool that declares no `outputSchema`.
    Undeclared,
    /// 12a: structured content that is no object, and no text block at all.
    Unmirrored,
    /// 12b: no text block says the same as the structured content.
    Differs,
    /// 13: a declared schema cannot be enforced.
    Schema,
    /// 14: a declared schema refers to another document.
    ExternalRef,
    /// 15: a guard of the validator tripped.
    Guard,
    /// 16: a gateway in between denied, redacted or limited the call.
    Denied,
    /// 18: the tool list changed during the run.
    ListChanged,
    /// 19: a tool that is not in the list was called.
    Unlisted,
}

impl Site {
    /// Every site, in the order of the table.
    pub const ALL: [Self; 18] = [
        Self::Authored,
        Self::Deliberate,
        Self::Accepted,
        Self::Result,
        Self::Missing,
        Self::Format,
        Self::Extra,
        Self::ErrorResult,
        Self::Unfinished,
        Self::Undeclared,
        Self::Unmirrored,
        Self::Differs,
        Self::Schema,
        Self::ExternalRef,
        Self::Guard,
        Self::Denied,
        Self::ListChanged,
        Self::Unlisted,
    ];

    /// The names overrides and reports use.
    pub const NAMES: [&str; 10] = [
        "args", "result", "missing", "format", "extra", "error", "mirror", "schema", "gateway",
        "list",
    ];

    /// The name overrides and reports use. Several rows share one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Authored | Self::Deliberate | Self::Accepted => "args",
            Self::Result | Self::Undeclared | Self::Unfinished => "result",
            Self::Missing => "missing",
            Self::Format => "format",
            Self::Extra => "extra",
            Self::ErrorResult => "error",
            Self::Unmirrored | Self::Differs => "mirror",
            Self::Schema | Self::ExternalRef | Self::Guard => "schema",
            Self::Denied => "gateway",
            Self::ListChanged | Self::Unlisted => "list",
        }
    }

    /// Whether an override for this name speaks about the site. Extra members are a kind of
    /// `result`, so that name covers them too.
    pub fn is_named(self, name: &str) -> bool {
        self.name() == name || (self == Self::Extra && name == "result")
    }

    /// The stable identifier of the rule, as reports and baselines have it.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Authored => "ARGS-AUTHORED-INVALID",
            Self::Deliberate => "ARGS-DELIBERATE-INVALID",
            Self::Accepted => "ARGS-INVALID-ACCEPTED",
            Self::Result => "RESULT-SCHEMA-MISMATCH",
            Self::Missing => "RESULT-STRUCTURED-MISSING",
            Self::Format => "RESULT-FORMAT-MISMATCH",
            Self::Extra => "RESULT-EXTRA-PROPERTIES",
            Self::ErrorResult => "RESULT-ERROR-MISMATCH",
            Self::Unfinished => "RESULT-NOT-FINAL",
            Self::Undeclared => "RESULT-UNDECLARED",
            Self::Unmirrored => "RESULT-TEXT-MISSING",
            Self::Differs => "RESULT-TEXT-DIFFERS",
            Self::Schema => "SCHEMA-UNENFORCEABLE",
            Self::ExternalRef => "SCHEMA-EXTERNAL-REF",
            Self::Guard => "SCHEMA-GUARD",
            Self::Denied => "GATEWAY-DENIED",
            Self::ListChanged => "LIST-CHANGED",
            Self::Unlisted => "LIST-UNKNOWN-TOOL",
        }
    }

    /// What it means to break it, in a sentence; where the gateway has the same rule, in the gateway's words.
    pub fn says(self) -> &'static str {
        match self {
            Self::Authored => "arguments written into a scenario do not fit the input schema",
            Self::Deliberate => "arguments that are meant not to fit the input schema",
            Self::Accepted => "arguments that do not fit the input schema are accepted",
            Self::Result => describe_rule("schema"),
            Self::Missing => describe_rule("contract.missing"),
            Self::Format => "structured content breaks only a format",
            Self::Extra => "structured content has members the output schema does not allow",
            Self::ErrorResult => "the structured content of an error is missing or does not fit",
            Self::Unfinished => "the result is not the final one",
            Self::Undeclared => "structured content comes without an output schema",
            Self::Unmirrored => "structured content that is no object comes without any text",
            Self::Differs => "no text block says what the structured content says",
            Self::Schema => describe_rule("contract.uncompilable"),
            Self::ExternalRef => describe_rule("contract.external_ref"),
            Self::Guard => "a schema or a value is too large to be checked",
            Self::Denied => "a gateway refused the call",
            Self::ListChanged => "the tool list changed during the run",
            Self::Unlisted => "a tool that is not listed was called",
        }
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
