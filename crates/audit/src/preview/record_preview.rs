//! What strict mode makes of one record. A call and the decision about it are two records, and each is looked at by itself: a
//! result that something was decided about has its findings in the decision, any other has them in the call.

use countersign_inspect::{Overrides, decide};

use super::PreviewCounts;
use crate::record::{Decision, Finding, Kind, Mode, Record, Severity, Stage, Status};

/// What one record adds to the preview.
#[derive(Default)]
pub(super) struct RecordPreview<'r> {
    pub(super) counts: PreviewCounts,
    pub(super) rules: Vec<&'r str>,
}

impl<'r> RecordPreview<'r> {
    pub(super) fn from_record(record: &'r Record, overrides: Overrides) -> Self {
        if record.kind() == Kind::PolicyDecision {
            Self::of_decision(record, overrides)
        } else {
            Self::of_call(record, overrides)
        }
    }

    /// A call that nothing was decided about may still be one that strict mode blocks: the configuration says so.
    fn of_call(record: &'r Record, overrides: Overrides) -> Self {
        let mut preview = Self::default();
        // A call that went nowhere; where its arguments were refused, the decision says so.
        if record.status() == Status::Rejected {
            return preview;
        }
        preview.counts.calls = 1;
        let is_unchecked = matches!(record.mode, None | Some(Mode::Off));
        preview.counts.unknown = u64::from(is_unchecked && record.response_bytes.is_some());
        let rule = record.unvalidated.as_deref().filter(|rule| {
            let finding = Finding::new(Stage::Contract, (*rule).to_owned(), Severity::Info);
            blocks(&finding, overrides)
        });
        preview.counts.would_be_blocked = u64::from(rule.is_some());
        preview.rules.extend(rule);
        preview
    }

    fn of_decision(record: &'r Record, overrides: Overrides) -> Self {
        let mut preview = Self::default();
        let was_blocked = record.decision() == Some(Decision::Blocked);
        let findings = record.findings.iter();
        if findings
            .clone()
            .any(|finding| finding.stage == Stage::Access)
        {
            // No mode decides which callers may call.
            return preview;
        }
        if has_only_input_findings(record) {
            // Arguments have a mode of their own, which stays as it is.
            preview.counts.calls = u64::from(was_blocked);
        } else {
            let blocking = findings.filter(|finding| blocks(finding, overrides));
            preview.rules.extend(blocking.map(|finding| &*finding.rule));
        }
        let is_blocked = !preview.rules.is_empty() || (was_blocked && !was_by_override(record));
        if is_blocked && preview.rules.is_empty() {
            let first = record.findings.first();
            preview.rules.extend(first.map(|finding| &*finding.rule));
        }
        preview.rules.sort_unstable();
        preview.rules.dedup();
        preview.counts.would_be_blocked = u64::from(is_blocked);
        preview.counts.already_blocked = u64::from(is_blocked && was_blocked);
        preview
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.counts == PreviewCounts::default()
    }
}

/// Whether a record adds a call: one that reached its server, or the decision that refused its arguments.
pub(super) fn is_counted_call(record: &Record) -> bool {
    match record.kind() {
        Kind::PolicyDecision => {
            record.decision() == Some(Decision::Blocked) && has_only_input_findings(record)
        }
        kind => kind.is_call() && record.status() != Status::Rejected,
    }
}

/// Whether a decision is about the arguments of a call.
fn has_only_input_findings(record: &Record) -> bool {
    let mut findings = record.findings.iter();
    !record.findings.is_empty() && findings.all(|finding| finding.stage == Stage::Input)
}

/// Whether strict mode blocks a result because of this finding.
fn blocks(finding: &Finding, overrides: Overrides) -> bool {
    finding.stage != Stage::Input && decide(finding, Mode::Strict, &overrides) == Decision::Blocked
}

/// Whether a result was blocked in strict mode only because an override said so, which may say something else today.
fn was_by_override(record: &Record) -> bool {
    let has = |test: &dyn Fn(&Finding) -> bool| record.findings.iter().any(test);
    record.mode == Some(Mode::Strict)
        && has(&|finding| {
            matches!(
                &*finding.rule,
                "contract.missing" | "contract.uncompilable"
            )
        })
        // Whether a classifier's finding blocks is not told by the finding.
        && !has(&|finding| finding.stage == Stage::Classify)
}
