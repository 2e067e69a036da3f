//! What to do about a finding: one pure function over one table. Stages report and do not decide; the
//! code that applies a decision does not judge. `docs/reference/decision-table.md` has the same table.

use crate::config::{OutputValidation, Posture};
use crate::verdict::hit::Action;
use crate::verdict::{Decision, Finding, Mode, Severity, Stage};

/// What an operator set beside the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrides {
    /// A declared schema but nothing to hold against it.
    pub missing: Posture,
    /// A declared schema that cannot be enforced.
    pub uncompilable: Posture,
    /// A classifier called it an injection.
    pub classifier: Posture,
}

impl From<&OutputValidation> for Overrides {
    fn from(config: &OutputValidation) -> Self {
        Self {
            missing: config.missing_structured_content,
            uncompilable: config.uncompilable_schema,
            classifier: Posture::Allow,
        }
    }
}

/// One cell of the table: what a finding leads to in one mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Consequence {
    Forward,
    Record,
    Block,
    /// Forward, or block if the operator said so.
    Missing,
    /// Forward, or block if the operator said so.
    Uncompilable,
    /// Record, or block if the classifier's action is to block.
    Classifier,
    /// What the sanitiser's settings made of it, which the finding says.
    Sanitiser,
    /// Parts of the envelope were cut: a decision if they made another message of it.
    Envelope,
}

/// One row: a stage, a rule (or every rule of the stage), and what to do in `off`, `warn` and `strict`.
type Row = (Stage, &'static str, [Consequence; 3]);

/// The first row that matches decides. A rule of `""` matches every rule of its stage, so each
/// stage's last row has one. The sanitiser and the classifiers have switches of their own; the
/// validation mode does not silence them.
static TABLE: [Row; 11] = {
    use Consequence::{
        Block, Classifier, Envelope, Forward, Missing, Record, Sanitiser, Uncompilable,
    };
    use Stage::{Access, Classify, Contract, Guard, Input, Sanitise, Shape, Transport};
    let uncompilable = [Forward, Forward, Uncompilable];
    [
        (Transport, "transport.foreign_member", [Envelope; 3]),
        (Transport, "", [Block; 3]),
        (Shape, "", [Forward, Record, Block]),
        (Guard, "", [Forward, Record, Block]),
        (Contract, "contract.missing", [Forward, Forward, Missing]),
        (Contract, "contract.uncompilable", uncompilable),
        (Contract, "", [Forward, Record, Block]),
        (Sanitise, "", [Sanitiser; 3]),
        (Classify, "", [Classifier; 3]),
        (Input, "", [Forward, Record, Block]),
        (Access, "", [Block; 3]),
    ]
};

/// What happens because of one finding.
///
/// ```
/// use countersign_inspect::config::OutputValidation;
/// use countersign_inspect::{Decision, Finding, Mode, Overrides, Severity, Stage, decide};
///
/// let finding = Finding::new(Stage::Contract, "schema.type", Severity::Violation);
/// let overrides = Overrides::from(&OutputValidation::default());
/// assert_eq!(decide(&finding, Mode::Warn, &overrides), Decision::Flagged);
/// assert_eq!(decide(&finding, Mode::Strict, &overrides), Decision::Blocked);
/// ```
pub fn decide(finding: &Finding, mode: Mode, overrides: &Overrides) -> Decision {
    let matches = |(stage, rule, _): &&Row| {
        *stage == finding.stage && (rule.is_empty() || *rule == finding.rule)
    };
    let row = TABLE.iter().find(matches);
    // Every stage has a row; should one ever be forgotten, the cautious answer is the right one.
    let act = row.map_or(
        Consequence::Block,
        |(_, _, [off, warn, strict])| match mode {
            Mode::Off => *off,
            Mode::Warn => *warn,
            Mode::Strict => *strict,
        },
    );
    let ask = |posture, otherwise| match posture {
        Posture::Allow => otherwise,
        Posture::Block => Decision::Blocked,
    };
    match act {
        Consequence::Forward => Decision::Allowed,
        Consequence::Record => Decision::Flagged,
        Consequence::Block => Decision::Blocked,
        Consequence::Missing => ask(overrides.missing, Decision::Allowed),
        Consequence::Uncompilable => ask(overrides.uncompilable, Decision::Allowed),
        Consequence::Classifier => ask(overrides.classifier, Decision::Flagged),
        Consequence::Sanitiser if mode == Mode::Strict && is_blocked_in_strict(finding) => {
            Decision::Blocked
        }
        Consequence::Sanitiser => decide_sanitised(finding),
        Consequence::Envelope if finding.severity == Severity::Info => Decision::Allowed,
        Consequence::Envelope => Decision::Rewritten,
    }
}

/// Whether the finding was made in a milder mode and says that strict mode would not let it pass.
fn is_blocked_in_strict(finding: &Finding) -> bool {
    let hit = finding.hit.as_ref();
    hit.is_some_and(|hit| hit.blocked_in_strict)
}

/// What a finding about text leads to. The sanitiser's settings decided what was done; this only names it. What is only
/// worth knowing and still there, as `<s>` in a page, leads to nothing.
pub(crate) fn decide_sanitised(finding: &Finding) -> Decision {
    match finding.hit.as_ref().map(|hit| hit.action) {
        None | Some(Action::Reported) if finding.severity == Severity::Info => Decision::Allowed,
        None | Some(Action::Reported) => Decision::Flagged,
        Some(Action::Removed | Action::Replaced | Action::Truncated) => Decision::Rewritten,
        Some(Action::Blocked) => Decision::Blocked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGES: [Stage; 8] = [
        Stage::Transport,
        Stage::Shape,
        Stage::Guard,
        Stage::Contract,
        Stage::Sanitise,
        Stage::Classify,
        Stage::Input,
        Stage::Access,
    ];

    fn overrides(posture: Posture) -> Overrides {
        Overrides {
            missing: posture,
            uncompilable: posture,
            classifier: posture,
        }
    }

    /// One line per rule: the decision in off, warn and strict, with every posture at allow and
    /// then with every posture at block.
    fn line(stage: Stage, rule: &'static str) -> String {
        let finding = Finding::new(stage, rule, Severity::Violation);
        let cells = [Posture::Allow, Posture::Block].map(|posture| {
            let at = |mode| decide(&finding, mode, &overrides(posture));
            let [off, warn, strict] = [Mode::Off, Mode::Warn, Mode::Strict].map(at);
            format!("{off:<8} {warn:<8} {strict:<8}")
        });
        format!("{rule:<22} {}", cells.join(" "))
            .trim_end()
            .to_owned()
    }

    #[test]
    fn the_table_says_what_the_documentation_says() {
        let lines = [
            line(Stage::Transport, "transport.not_json"),
            line(Stage::Shape, "shape.base64"),
            line(Stage::Guard, "guard.max_bytes"),
            line(Stage::Contract, "contract.missing"),
            line(Stage::Contract, "contract.uncompilable"),
            line(Stage::Contract, "contract.external_ref"),
            line(Stage::Contract, "contract.exhausted"),
            line(Stage::Contract, "contract.duplicate_key"),
            line(Stage::Contract, "schema.required"),
            line(Stage::Sanitise, "token.chatml"),
            line(Stage::Classify, "classifier.local"),
            line(Stage::Input, "input.schema.type"),
            line(Stage::Access, "access.denied"),
        ]
        .join("\n");
        insta::assert_snapshot!(lines, @r#"
        transport.not_json     blocked  blocked  blocked  blocked  blocked  blocked
        shape.base64           allowed  flagged  blocked  allowed  flagged  blocked
        guard.max_bytes        allowed  flagged  blocked  allowed  flagged  blocked
        contract.missing       allowed  allowed  allowed  allowed  allowed  blocked
        contract.uncompilable  allowed  allowed  allowed  allowed  allowed  blocked
        contract.external_ref  allowed  flagged  blocked  allowed  flagged  blocked
        contract.exhausted     allowed  flagged  blocked  allowed  flagged  blocked
        contract.duplicate_key allowed  flagged  blocked  allowed  flagged  blocked
        schema.required        allowed  flagged  blocked  allowed  flagged  blocked
        token.chatml           flagged  flagged  flagged  flagged  flagged  flagged
        classifier.local       flagged  flagged  flagged  blocked  blocked  blocked
        input.schema.type      allowed  flagged  blocked  allowed  flagged  blocked
        access.denied          blocked  blocked  blocked  blocked  blocked  blocked
        "#);
    }

    #[test]
    fn every_stage_ends_in_a_row_for_all_its_rules() {
        for stage in STAGES {
            let last = TABLE.iter().rfind(|row| row.0 == stage);
            assert_eq!(last.map(|row| row.1), Some(""), "{stage}");
        }
    }

    #[test]
    fn no_row_hides_behind_an_earlier_one() {
        for (index, row) in TABLE.iter().enumerate() {
            let hidden = TABLE
                .iter()
                .take(index)
                .any(|earlier| earlier.0 == row.0 && earlier.1.is_empty());
            assert!(!hidden, "{row:?}");
        }
    }

    #[test]
    fn a_stricter_mode_never_decides_less() {
        for (stage, rule, _) in &TABLE {
            let finding = Finding::new(*stage, *rule, Severity::Violation);
            for posture in [Posture::Allow, Posture::Block] {
                let at = |mode| decide(&finding, mode, &overrides(posture));
                assert!(at(Mode::Off) <= at(Mode::Warn) && at(Mode::Warn) <= at(Mode::Strict));
            }
        }
    }
}
