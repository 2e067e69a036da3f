//! The verdict words of the inspection pipeline, as the record uses them: decision, mode, stage, finding.
//!
//! Adds what a log needs and a pipeline does not: the rules a filter may name, and the integers the index stores.

use countersign_inspect::config::Posture;
pub use countersign_inspect::{Decision, Finding, Mode, Severity, Stage};
use countersign_inspect::{Overrides, UnknownWord, decide};

use super::closed::Status;

/// Rules that a finding may have. What follows a prefix belongs to the pipeline.
const RULES: &[&str] = &[
    "transport.<rule>",
    "shape.<rule>",
    "guard.<limit>",
    "contract.<rule>",
    "schema.<keyword>",
    "token.<family>",
    "invisible.<class>",
    "classifier.<name>",
    "input.schema.<keyword>",
    "access.<rule>",
    "ansi",
    "encoded_token",
    "boundary_forgery",
    "truncated",
];

/// `text`, if the pipeline may have such a rule; the error lists families and rules.
pub fn parse_rule(text: &str) -> Result<&str, UnknownWord> {
    let is_named = |rule: &&str| match rule.split_once('<') {
        Some((prefix, _)) => text.len() > prefix.len() && text.starts_with(prefix),
        None => *rule == text,
    };
    let known = RULES.iter().any(is_named);
    known
        .then_some(text)
        .ok_or_else(|| UnknownWord::new("rule", text, RULES))
}

/// The integer of a decision `rewritten` about a result that would have been flagged without it. Any other decision has
/// its place in the pipeline's list, to which new ones are added at the end.
pub(crate) const REWRITTEN_AND_FLAGGED: i64 = 4;

/// The integers under which the index has the records of a decision.
pub(crate) fn decision_codes(decision: Decision) -> impl Iterator<Item = i64> {
    let is_either = matches!(decision, Decision::Flagged | Decision::Rewritten);
    std::iter::once(decision as i64).chain(is_either.then_some(REWRITTEN_AND_FLAGGED))
}

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
    fn stages_and_decisions_have_the_codes_of_existing_files() {
        let stages = [
            Stage::Transport,
            Stage::Contract,
            Stage::Input,
            Stage::Access,
        ];
        assert_eq!(stages.map(|stage| stage as i64), [0, 3, 6, 7]);
        let decisions = Decision::ALL.iter().flat_map(|one| decision_codes(*one));
        assert_eq!(decisions.collect::<Vec<_>>(), [0, 1, 4, 2, 4, 3]);
    }

    #[test]
    fn an_unknown_rule_lists_the_allowed_ones() {
        assert!(parse_rule("schema.type").is_ok() && parse_rule("truncated").is_ok());
        let error = parse_rule("schema.").expect_err("no keyword").to_string();
        assert!(
            error.contains("guard.<limit>") && error.contains("schema.<keyword>"),
            "{error}"
        );
    }
}
