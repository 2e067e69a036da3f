//! The verdict words of the inspection pipeline, as the record uses them: decision, mode, stage, finding.
//!
//! Adds what a log needs and a pipeline does not: parsing with the list of allowed words, and the integers the index stores.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::closed::{Status, UnknownValue};

macro_rules! closed_verdict {
    ($(#[$meta:meta])* $name:ident { $($variant:ident $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "the words are explained by the pipeline's documentation")]
        pub enum $name { $(#[serde(rename = $text)] $variant,)+ }

        impl $name {
            /// The word, as written in records.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

closed_verdict! {
    /// What was done with a result; the worst finding wins.
    Decision { Allowed "allowed", Flagged "flagged", Rewritten "rewritten", Blocked "blocked" }
}
closed_verdict! {
    /// How strictly a policy is applied.
    Mode { Off "off", Warn "warn", Strict "strict" }
}
closed_verdict! {
    /// How bad a finding is.
    Severity { Info "info", Violation "violation", Attack "attack" }
}
closed_verdict! {
    /// Which stage of the pipeline found it.
    Stage {
        Transport "transport", Shape "shape", Guard "guard", Contract "contract", Sanitise "sanitise",
        Classify "classify", Input "input"
    }
}

/// One thing found in one result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The stage that found it.
    pub stage: Stage,
    /// The rule's id, such as `schema.type`.
    pub rule: Cow<'static, str>,
    /// How bad it is.
    pub severity: Severity,
    /// Where in the result, as a JSON pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_pointer: Option<String>,
    /// Where in the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_pointer: Option<String>,
    /// What was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was there, as a type name, never a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// Anything else an operator needs to judge it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Every decision.
pub(crate) const DECISIONS: [Decision; 4] = [
    Decision::Allowed,
    Decision::Flagged,
    Decision::Rewritten,
    Decision::Blocked,
];
/// Every stage, in pipeline order.
pub(crate) const STAGES: [Stage; 7] = [
    Stage::Transport,
    Stage::Shape,
    Stage::Guard,
    Stage::Contract,
    Stage::Sanitise,
    Stage::Classify,
    Stage::Input,
];

/// Rules that stand alone, as filters may name them.
const RULES: [&str; 18] = [
    "transport.too_large",
    "transport.not_json",
    "transport.not_utf8",
    "transport.bad_id",
    "shape.content",
    "shape.block",
    "shape.base64",
    "shape.surrogate",
    "shape.is_error",
    "guard.max_bytes",
    "guard.max_depth",
    "contract.missing",
    "contract.uncompilable",
    "contract.external_ref",
    "contract.exhausted",
    "contract.duplicate_key",
    "ansi",
    "encoded_token",
];
const MORE_RULES: [&str; 2] = ["boundary_forgery", "truncated"];
/// Rules that come in families; what follows the prefix is open.
const FAMILIES: [(&str, &str); 5] = [
    ("schema.", "schema.<keyword>"),
    ("token.", "token.<family>"),
    ("invisible.", "invisible.<class>"),
    ("classifier.", "classifier.<name>"),
    ("input.schema.", "input.schema.<keyword>"),
];

/// The decision with this name; the error lists all of them.
pub fn parse_decision(text: &str) -> Result<Decision, UnknownValue> {
    find(&DECISIONS, text, Decision::as_str).ok_or_else(|| {
        UnknownValue::new("decision", text, DECISIONS.map(Decision::as_str).to_vec())
    })
}

/// The stage with this name; the error lists all of them.
pub fn parse_stage(text: &str) -> Result<Stage, UnknownValue> {
    find(&STAGES, text, Stage::as_str)
        .ok_or_else(|| UnknownValue::new("stage", text, STAGES.map(Stage::as_str).to_vec()))
}

/// `text`, if the pipeline has such a rule; the error lists rules and families.
pub fn parse_rule(text: &str) -> Result<&str, UnknownValue> {
    let family = FAMILIES.iter().any(|(prefix, _)| {
        text.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty())
    });
    let alone = || RULES.iter().chain(&MORE_RULES);
    if family || alone().any(|rule| *rule == text) {
        return Ok(text);
    }
    let allowed = alone()
        .copied()
        .chain(FAMILIES.iter().map(|(_, shown)| *shown))
        .collect();
    Err(UnknownValue::new("rule", text, allowed))
}

fn find<T: Copy>(all: &[T], text: &str, name: fn(T) -> &'static str) -> Option<T> {
    all.iter().copied().find(|item| name(*item) == text)
}

pub(crate) fn decision_code(decision: Decision) -> i64 {
    match decision {
        Decision::Allowed => 0,
        Decision::Flagged => 1,
        Decision::Rewritten => 2,
        Decision::Blocked => 3,
    }
}

pub(crate) fn stage_code(stage: Stage) -> i64 {
    match stage {
        Stage::Transport => 0,
        Stage::Shape => 1,
        Stage::Guard => 2,
        Stage::Contract => 3,
        Stage::Sanitise => 4,
        Stage::Classify => 5,
        Stage::Input => 6,
    }
}

/// The status of a policy decision is the decision.
pub(crate) fn status_of(decision: Decision) -> Status {
    match decision {
        Decision::Allowed => Status::Success,
        Decision::Flagged => Status::Flagged,
        Decision::Rewritten => Status::Rewritten,
        Decision::Blocked => Status::Blocked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip() {
        for decision in DECISIONS {
            assert_eq!(parse_decision(decision.as_str()), Ok(decision));
        }
        for stage in STAGES {
            assert_eq!(parse_stage(stage.as_str()), Ok(stage));
        }
        let codes: std::collections::BTreeSet<i64> =
            STAGES.iter().map(|s| stage_code(*s)).collect();
        assert_eq!(codes.len(), STAGES.len());
    }

    #[test]
    fn unknown_words_list_the_allowed_ones() {
        let error = parse_decision("block")
            .expect_err("not a decision")
            .to_string();
        assert_eq!(
            error,
            "unknown decision `block`; allowed: allowed, flagged, rewritten, blocked"
        );
        assert!(
            parse_stage("schema")
                .expect_err("not a stage")
                .to_string()
                .contains("contract")
        );
        assert!(parse_rule("schema.type").is_ok() && parse_rule("truncated").is_ok());
        let error = parse_rule("schema.").expect_err("no keyword").to_string();
        assert!(
            error.contains("guard.max_depth") && error.contains("schema.<keyword>"),
            "{error}"
        );
    }
}
