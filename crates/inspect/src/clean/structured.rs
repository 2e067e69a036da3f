//! `structuredContent`: strings and keys. In `clean`, a string with a hit of severity attack is cleaned as text is and
//! the value is held to its schema again; a key keeps its name, so a key with such a hit is refused in strict mode and
//! reported otherwise. A value without such a hit keeps its bytes. `report` keeps them always, `block` refuses.

use bytes::Bytes;
use countersign_sanitise as sanitise;
use countersign_sanitise::{Cleaned, Structured};
use countersign_tape::{Edits, Envelope, Span};

use super::{Cleaner, Outcome, TextLocation};
use crate::json::splice::splice;
use crate::json::strings::{is_key, string_content, strings};
use crate::judge::contract::{self, Contract};
use crate::policy::Policy;
use crate::verdict::Mode;
use crate::verdict::explained::ExplainedFinding;
use crate::verdict::hit::{Action, Carrier};

/// A string of a JSON text, its text, and its text without what was found in it.
pub(super) struct Rewrite {
    pub(super) string: Span,
    pub(super) before: String,
    pub(super) after: String,
}

impl Cleaner<'_> {
    pub(super) fn visit_structured(
        &mut self,
        envelope: &Envelope,
        contract: &Contract,
        policy: &Policy,
        found: &mut Vec<ExplainedFinding>,
    ) {
        let Some(value) = envelope.structured_content() else {
            return;
        };
        let text = self.text;
        let json = text.get(value.range()).unwrap_or_default();
        if self.sanitiser.passes_json(json) {
            return;
        }
        let rewrites = self.rewrites(value, policy.output.mode);
        if rewrites.is_empty() {
            return;
        }
        let Some(cleaned) = rewritten(self.bytes, value, &rewrites) else {
            self.text_findings.refuse_structured();
            return;
        };
        // A failed call owes its schema nothing, before cleaning or after.
        if envelope.is_error(self.bytes) != Some(true) {
            contract::check_cleaned(json, &cleaned, contract, &policy.output, found);
        }
        self.structured = Some(Bytes::from(cleaned));
    }

    /// Reports what is in the strings and keys of the value; gives the strings that leave in another form.
    fn rewrites(&mut self, value: Span, mode: Mode) -> Vec<Rewrite> {
        let mut rewrites = Vec::new();
        for string in strings(self.bytes, value) {
            if self
                .sanitiser
                .passes_string(string_content(self.text, string))
            {
                continue;
            }
            let text = string.string(self.bytes).unwrap_or_default();
            let cleaned = self.sanitiser.clean(&text);
            let carrier = if is_key(self.bytes, string) {
                Carrier::StructuredKey
            } else {
                Carrier::Structured
            };
            let place = TextLocation::new(carrier, None, string);
            let setting = self.sanitiser.settings().structured;
            let fate = Treatment::new(carrier, setting, mode, &cleaned);
            self.structured_has_hits |=
                self.text_findings
                    .add_with_outcome(place, &text, &cleaned, |action| fate.outcome(action));
            if fate == Treatment::Clean {
                let after = cleaned.text.into_owned();
                rewrites.push(Rewrite {
                    string,
                    before: text.into_owned(),
                    after,
                });
            }
        }
        rewrites
    }
}

/// What is done about a string or a key of `structuredContent`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Treatment {
    /// It leaves as it came.
    Keep,
    /// It leaves as it came; strict mode would refuse it.
    KeepUnlessStrict,
    /// It leaves without what was found in it.
    Clean,
    /// The result does not leave.
    Refuse,
}

impl Treatment {
    fn new(carrier: Carrier, setting: Structured, mode: Mode, cleaned: &Cleaned<'_>) -> Self {
        let is_key = carrier == Carrier::StructuredKey;
        match setting {
            Structured::Block => Self::Refuse,
            Structured::Rewrite if !is_attacked(cleaned) => Self::Keep,
            Structured::Rewrite if cleaned.blocked || (is_key && mode == Mode::Strict) => {
                Self::Refuse
            }
            Structured::Rewrite if !is_key => Self::Clean,
            // A key is never renamed: software looks members up by name, and two names could become one.
            Structured::Rewrite => Self::KeepUnlessStrict,
            Structured::Report => Self::Keep,
        }
    }

    /// What is done about something that cleaning did `action` about.
    fn outcome(self, action: Action) -> Outcome {
        match self {
            _ if action == Action::Reported => Action::Reported.into(),
            Self::Keep => Action::Reported.into(),
            Self::KeepUnlessStrict => Outcome {
                action: Action::Reported,
                blocked_in_strict: true,
            },
            Self::Clean => action.into(),
            Self::Refuse => Action::Blocked.into(),
        }
    }
}

/// Whether cleaning took something out of a text that has no honest use. A token that only has the shape of one counts:
/// some families have more tokens than any list.
pub(super) fn is_attacked(cleaned: &Cleaned<'_>) -> bool {
    let is_attack = |finding: &sanitise::Finding| {
        finding.action != sanitise::Action::Reported
            && (finding.severity == sanitise::Severity::Attack
                || finding.rule.starts_with("token."))
    };
    cleaned.blocked || cleaned.findings.iter().any(is_attack)
}

/// The value at `value` with some of its strings replaced; every other byte as it was.
pub(super) fn rewritten(bytes: &[u8], value: Span, rewrites: &[Rewrite]) -> Option<String> {
    let mut edits = Edits::new(value.bytes(bytes));
    for Rewrite {
        string,
        before,
        after,
    } in rewrites
    {
        let string = Span::new(string.start - value.start, string.end - value.start);
        splice(&mut edits, string, before, after);
    }
    String::from_utf8(edits.apply().ok()?.to_vec()).ok()
}
