//! Strings outside the known texts of a result. They are cleaned too, because a model may read them.
//! Three kinds are reported and left alone: `uri`s, because a rewritten address is another address, and
//! `_meta` and `annotations`, which hosts do not show to models.

use countersign_tape::{Kind, Span};

use super::key::renamed;
use super::{Cleaner, Passage, TextLocation};
use crate::json::strings::{is_key, string_content, strings};
use crate::verdict::hit::Carrier;

impl Cleaner<'_> {
    /// Whether a member of a block, a resource or a list entry is one that is left alone. What only has the name of
    /// one, like an address that is an object, is not.
    pub(super) fn is_left_alone(&self, name: Option<&str>, value: Span) -> bool {
        let kind = value.kind(self.bytes);
        match name {
            Some("uri" | "uriTemplate") => kind == Some(Kind::String),
            Some("_meta" | "annotations") => kind == Some(Kind::Object),
            _ => false,
        }
    }

    /// Reports what is in the strings of a value.
    pub(super) fn report_strings(&mut self, value: Span, block: Option<usize>) {
        if self.sanitiser.passes_json(self.raw(value)) {
            return;
        }
        for string in strings(self.bytes, value) {
            if self
                .sanitiser
                .passes_string(string_content(self.text, string))
            {
                continue;
            }
            let text = string.string(self.bytes).unwrap_or_default();
            let place = TextLocation::new(Carrier::Other, block, string);
            let findings = self.sanitiser.scan(&text);
            self.text_findings.add_reported(place, &text, &findings);
        }
    }

    /// Cleans the strings and names of a value, each by itself.
    pub(super) fn clean_value(&mut self, value: Span, block: Option<usize>) {
        if self.sanitiser.passes_json(self.raw(value)) {
            return;
        }
        for string in strings(self.bytes, value) {
            self.clean_string(Carrier::Other, block, string);
        }
    }

    /// Cleans one string, or one name, by itself. It changes only if something in it is acted on: software may compare
    /// it, so it is not normalised.
    pub(super) fn clean_string(&mut self, carrier: Carrier, block: Option<usize>, string: Span) {
        if self
            .sanitiser
            .passes_string(string_content(self.text, string))
        {
            return;
        }
        let text = string.string(self.bytes).unwrap_or_default();
        let cleaned = self.sanitiser.clean(&text);
        let place = TextLocation::new(carrier, block, string);
        if !self.text_findings.add_cleaned(place, &text, &cleaned) {
            return;
        }
        let new = if is_key(self.bytes, string) {
            renamed(&cleaned)
        } else {
            cleaned.text.into_owned()
        };
        self.ready.push(Passage {
            place,
            text: Some(new),
            can_be_wrapped: false,
        });
    }
}
