//! `structuredContent`: strings and keys. By default its bytes are a promise and only looked at; the operator may have
//! a result with a hit refused, or cleaned and held to its schema again.

use bytes::Bytes;
use countersign_sanitise::{Cleaned, Structured};
use countersign_schema::{Fuel, Outcome};
use countersign_tape::{Edits, Envelope, Limits, Span, Tape};

use super::{Place, Stage};
use crate::config::OutputValidation;
use crate::contract::Contract;
use crate::examine::Policy;
use crate::hit::{Action, Carrier};
use crate::scratch::with_tape;
use crate::splice::splice;
use crate::strings::{inside, is_key, strings};

impl Stage<'_> {
    pub(super) fn structured(&mut self, envelope: &Envelope, contract: &Contract, policy: &Policy) {
        let Some(value) = envelope.structured_content() else {
            return;
        };
        if self.sanitiser.passes_json(self.raw(value)) {
            return;
        }
        let rewrites = self.hits(value);
        self.structured_is_dirty = !rewrites.is_empty();
        if self.sanitiser.settings().structured != Structured::Rewrite || rewrites.is_empty() {
            return;
        }
        let rewritten = rewrite(value.bytes(self.bytes), value, &rewrites);
        let sound = |value: &str| is_sound(value, contract, &policy.output);
        match rewritten.filter(|new| !sound(self.raw(value)) || sound(new)) {
            Some(new) => self.structured = Some(Bytes::from(new)),
            None => self.notices.refuse_structured(),
        }
    }

    /// Every string with something in it that cleaning changes, as it was and as it would be.
    fn hits(&mut self, value: Span) -> Vec<(Span, String, String)> {
        let mut rewrites = Vec::new();
        for string in strings(self.bytes, value) {
            if self.sanitiser.passes_string(inside(self.text, string)) {
                continue;
            }
            let text = string.string(self.bytes).unwrap_or_default();
            let cleaned = self.sanitiser.clean(&text);
            let carrier = if is_key(self.bytes, string) {
                Carrier::StructuredKey
            } else {
                Carrier::Structured
            };
            let place = Place {
                carrier,
                block: None,
                string,
            };
            let policy = self.sanitiser.settings().structured;
            let acted = self.notices.weighed(place, &text, &cleaned, |action| {
                weigh(action, policy, &cleaned)
            });
            if acted {
                let new = cleaned.text.into_owned();
                rewrites.push((string, text.into_owned(), new));
            }
        }
        rewrites
    }
}

/// What becomes of something that cleaning acts on.
fn weigh(action: Action, policy: Structured, cleaned: &Cleaned<'_>) -> Action {
    match policy {
        _ if action == Action::Reported => Action::Reported,
        Structured::Report => Action::Reported,
        Structured::Block => Action::Blocked,
        Structured::Rewrite if cleaned.blocked => Action::Blocked,
        Structured::Rewrite => action,
    }
}

/// The value with some of its strings replaced; every other byte as it was.
fn rewrite(value: &[u8], at: Span, rewrites: &[(Span, String, String)]) -> Option<String> {
    let mut edits = Edits::new(value);
    for (string, before, after) in rewrites {
        let string = Span::new(string.start - at.start, string.end - at.start);
        splice(&mut edits, string, before, after);
    }
    String::from_utf8(edits.apply().ok()?.to_vec()).ok()
}

/// Whether a value is one that the schema, if there is one, and every reader agree about.
fn is_sound(value: &str, contract: &Contract, config: &OutputValidation) -> bool {
    let limits = Limits {
        max_bytes: usize::try_from(config.max_bytes).unwrap_or(usize::MAX),
        max_depth: config.max_depth,
    };
    let schema = contract
        .output()
        .and_then(|declared| declared.schema().ok());
    let judge = |tape: &Tape<'_>| {
        let mut fuel = Fuel::for_instance(tape, config.fuel_factor);
        let conforms = |schema: &countersign_schema::Schema| {
            matches!(schema.validate(tape, &mut fuel), Outcome::Valid)
        };
        tape.duplicate_keys().is_empty() && schema.is_none_or(conforms)
    };
    with_tape(value, &limits, judge).unwrap_or(false)
}
