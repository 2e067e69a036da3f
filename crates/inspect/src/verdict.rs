//! The words every part of the product shares about one result: what was found, how bad it is,
//! at which stage, and what was decided. No policy lives here; a finding does not know what
//! will be done about it. Serves every stage, the audit record and the tester.

pub(crate) mod explained;
pub(crate) mod hit;
pub(crate) mod rule;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::verdict::hit::Hit;
use crate::word_enum;

word_enum! {
    /// What happens to a result. Ordered: the worst of several decisions is their maximum.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Decision("decision") {
        /// Forwarded, nothing to say about it.
        #[default]
        Allowed = "allowed",
        /// Forwarded unchanged, and recorded.
        Flagged = "flagged",
        /// Forwarded with some of its text replaced, and recorded.
        Rewritten = "rewritten",
        /// Not forwarded; the agent gets an error result instead.
        Blocked = "blocked",
    }
}

word_enum! {
    /// How strictly a contract is enforced.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Mode {
        /// Nothing is checked.
        Off = "off",
        /// Violations are forwarded unchanged and recorded.
        #[default]
        Warn = "warn",
        /// Violations are blocked and recorded.
        Strict = "strict",
    }
}

word_enum! {
    /// How bad a finding is, before any policy is applied.
    #[derive(PartialOrd, Ord)]
    pub enum Severity("severity") {
        /// Worth knowing; says nothing about right or wrong.
        Info = "info",
        /// The result breaks a contract, a guard or the protocol.
        Violation = "violation",
        /// The result carries something that only makes sense as an attack.
        Attack = "attack",
    }
}

word_enum! {
    /// Which part of the pipeline made a finding.
    #[derive(PartialOrd, Ord)]
    pub enum Stage("stage") {
        /// The message could not be held or framed.
        Transport = "transport",
        /// The result is not one MCP allows.
        Shape = "shape",
        /// A size or depth limit.
        Guard = "guard",
        /// The declared `outputSchema`.
        Contract = "contract",
        /// Control tokens, invisible characters and their kin.
        Sanitise = "sanitise",
        /// An injection classifier.
        Classify = "classify",
        /// The call's arguments against the declared `inputSchema`.
        Input = "input",
        /// Whether the caller may use what it asked for.
        Access = "access",
    }
}

/// One thing a stage noticed. It carries rules, pointers and type names, never a value from the
/// result; pointers may hold member names written by the upstream, so they are for the
/// operator's record, not for the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The stage that noticed it.
    pub stage: Stage,
    /// A stable identifier such as `schema.type` or `guard.max_bytes`.
    pub rule: Cow<'static, str>,
    /// How bad it is.
    pub severity: Severity,
    /// RFC 6901 pointer into `structuredContent` (contract), the arguments (input) or the result.
    pub instance_pointer: Option<String>,
    /// RFC 6901 pointer into the schema.
    pub schema_pointer: Option<String>,
    /// What would have been accepted.
    pub expected: Option<String>,
    /// The type (or measure) that was there instead, never the value.
    pub actual: Option<String>,
    /// One sentence for the operator.
    pub detail: Option<String>,
    /// Of a finding about text: where and how often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit: Option<Box<Hit>>,
}

impl Finding {
    /// A finding with nothing but its identity.
    pub fn new(stage: Stage, rule: impl Into<Cow<'static, str>>, severity: Severity) -> Self {
        Self {
            stage,
            rule: rule.into(),
            severity,
            instance_pointer: None,
            schema_pointer: None,
            expected: None,
            actual: None,
            detail: None,
            hit: None,
        }
    }

    /// Sets where in the instance it was found.
    #[must_use]
    pub fn with_instance_pointer(mut self, instance_pointer: impl Into<String>) -> Self {
        self.instance_pointer = Some(instance_pointer.into());
        self
    }

    /// Sets the schema keyword that failed.
    #[must_use]
    pub fn with_schema_pointer(mut self, schema_pointer: impl Into<String>) -> Self {
        self.schema_pointer = Some(schema_pointer.into());
        self
    }

    /// Sets what would have been accepted and what was there.
    #[must_use]
    pub fn expecting(mut self, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self.actual = Some(actual.into());
        self
    }

    /// Sets where in a text it was found.
    #[must_use]
    pub fn with_hit(mut self, hit: Hit) -> Self {
        self.hit = Some(Box::new(hit));
        self
    }

    /// Whether it says that a result broke what it was held to: its schema, a guard, or the shape of a result. What is only
    /// worth knowing does not.
    pub fn breaks_contract(&self) -> bool {
        matches!(self.stage, Stage::Shape | Stage::Guard | Stage::Contract)
            && self.severity >= Severity::Violation
    }

    /// How many control tokens it stands for. What is only worth knowing, as `<s>` in a page, is none.
    pub fn control_tokens(&self) -> u64 {
        let own = self.rule.starts_with("token.") && self.severity > Severity::Info;
        let hit = self.hit.as_ref();
        let listed = if own {
            hit.map_or(1, |hit| hit.count)
        } else {
            0
        };
        listed + hit.map_or(0, |hit| hit.tokens_not_listed)
    }

    /// Sets the operator's sentence.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_decision_wins() {
        let all = [
            Decision::Rewritten,
            Decision::Allowed,
            Decision::Blocked,
            Decision::Flagged,
        ];
        assert_eq!(all.iter().max(), Some(&Decision::Blocked));
        assert!(Decision::Flagged < Decision::Rewritten);
        assert_eq!(Decision::default(), Decision::Allowed);
    }

    #[test]
    fn words_are_the_same_in_json_and_in_text() {
        for decision in [
            Decision::Allowed,
            Decision::Flagged,
            Decision::Rewritten,
            Decision::Blocked,
        ] {
            let json = serde_json::to_string(&decision).unwrap();
            assert_eq!(json, format!("\"{decision}\""));
        }
        for stage in [
            Stage::Transport,
            Stage::Shape,
            Stage::Guard,
            Stage::Contract,
            Stage::Sanitise,
            Stage::Classify,
            Stage::Input,
        ] {
            assert_eq!(
                serde_json::to_string(&stage).unwrap(),
                format!("\"{stage}\"")
            );
        }
        for mode in [Mode::Off, Mode::Warn, Mode::Strict] {
            assert_eq!(serde_json::to_string(&mode).unwrap(), format!("\"{mode}\""));
        }
        for severity in [Severity::Info, Severity::Violation, Severity::Attack] {
            assert_eq!(
                serde_json::to_string(&severity).unwrap(),
                format!("\"{severity}\"")
            );
        }
    }

    #[test]
    fn a_finding_survives_json() {
        let finding = Finding::new(Stage::Contract, "schema.type", Severity::Violation)
            .with_instance_pointer("/id")
            .with_schema_pointer("/properties/id/type")
            .expecting("integer", "string")
            .detail("the id is text");
        let json = serde_json::to_string(&finding).unwrap();
        assert_eq!(serde_json::from_str::<Finding>(&json).unwrap(), finding);
    }
}
