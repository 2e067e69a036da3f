//! Strings that no model should read and software does: addresses, metadata, annotations, names of members, blocks of
//! unknown types. Looked at, reported, never changed: an address that was rewritten silently would be another one.

use countersign_tape::Span;

use super::{Place, Stage};
use crate::hit::Carrier;
use crate::strings::{inside, strings};

impl Stage<'_> {
    /// Reports what is in the strings of a value.
    pub(super) fn look(&mut self, value: Span, block: Option<usize>) {
        if self.sanitiser.passes_json(self.raw(value)) {
            return;
        }
        for string in strings(self.bytes, value) {
            if self.sanitiser.passes_string(inside(self.text, string)) {
                continue;
            }
            let text = string.string(self.bytes).unwrap_or_default();
            let place = Place {
                carrier: Carrier::Other,
                block,
                string,
            };
            let findings = self.sanitiser.scan(&text);
            self.notices.seen(place, &text, &findings);
        }
    }
}
