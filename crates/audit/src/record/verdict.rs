//! The verdict words of the inspection pipeline, as the record uses them: decision, mode, stage, finding.
//!
//! Adds what a log needs and a pipeline does not: parsing with the list of allowed words, and the integers the index stores.

use countersign_inspect::config::Posture;
pub use countersign_inspect::{Decision, Finding, Mode, Severity, Stage};
use countersign_inspect::{Overrides, decide};

use super::closed::{Status, UnknownValue};

/// Every decision.
pub const DECISIONS: [Decision; 4] = [
    Decision::Allowed,
    Decision::Flagged,
    Decision::Rewritten,
    Decision::Blocked,
];
/// Every stage, in pipeline order.
pub const STAGES: [Stage; 7] = [
    Stage::Transport,
    Stage::Shape,
    Stage::Guard,
    Stage::Contract,
    Stage::Sanitise,
    Stage::Classify,
    Stage::Input,
];

/// Rules that stand alone.
const RULES: [&str; 4] = ["ansi", "encoded_token", "boundary_forgery", "truncated"];
/// Rules that come in families; what follows the prefix belongs to the pipeline.
const FAMILIES: [(&str, &str); 9] = [
    ("transport.", "transport.<rule>"),
    ("shape.", "shape.<rule>"),
    ("guard.", "guard.<limit>"),
    ("contract.", "contract.<rule>"),
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

/// `text`, if the pipeline may have such a rule; the error lists families and rules.
pub fn parse_rule(text: &str) -> Result<&str, UnknownValue> {
    let family = FAMILIES.iter().any(|(prefix, _)| {
        text.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty())
    });
    if family || RULES.contains(&text) {
        return Ok(text);
    }
    let allowed = FAMILIES
        .iter()
        .map(|(_, shown)| *shown)
        .chain(RULES)
        .collect();
    Err(UnknownValue::new("rule", text, allowed))
}

fn find<T: Copy>(all: &[T], text: &str, name: fn(T) -> &'static str) -> Option<T> {
    all.iter().copied().find(|item| name(*item) == text)
}

/// The integers under which the index has the records of a decision. A result that was rewritten and would have been
/// flagged without it has an integer of its own and is found by either word.
pub(crate) fn decision_codes(decision: Decision) -> &'static [i64] {
    match decision {
        Decision::Allowed => &[0],
        Decision::Flagged => &[1, REWRITTEN_AND_FLAGGED],
        Decision::Rewritten => &[2, REWRITTEN_AND_FLAGGED],
        Decision::Blocked => &[3],
    }
}

/// The integer of one record's decision.
pub(crate) fn decision_code(decision: Decision, is_also_flagged: bool) -> i64 {
    match decision {
        Decision::Allowed => 0,
        Decision::Flagged => 1,
        Decision::Rewritten if is_also_flagged => REWRITTEN_AND_FLAGGED,
        Decision::Rewritten => 2,
        Decision::Blocked => 3,
    }
}

const REWRITTEN_AND_FLAGGED: i64 = 4;

/// Whether something other than rewritten text was found in a result whose decision is `rewritten`: each finding by itself
/// leads to a decision, the record has the worst of them, and `rewritten` is worse than `flagged`.
pub(crate) fn is_also_flagged(
    decision: Option<Decision>,
    mode: Option<Mode>,
    findings: &[Finding],
) -> bool {
    // What a classifier found is flagged here; had it been blocked, the decision would be `blocked`.
    let overrides = Overrides {
        missing: Posture::Allow,
        uncompilable: Posture::Allow,
        classifier: Posture::Allow,
    };
    let is_flagged = |finding: &Finding| {
        decide(finding, mode.unwrap_or_default(), &overrides) == Decision::Flagged
    };
    decision == Some(Decision::Rewritten) && findings.iter().any(is_flagged)
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
            "unknown decision `block`; allowed: allowed, flagged, rewritten, blocked; did you mean `blocked`?"
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
            error.contains("guard.<limit>") && error.contains("schema.<keyword>"),
            "{error}"
        );
    }
}
