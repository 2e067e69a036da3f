//! Text blocks that repeat the structured content, as servers send them for older clients. Where strings
//! of the value are cleaned, the same strings of the text block are cleaned, whatever their JSON escapes.
//! Where only the form of texts changes, such a block can be left alone for clients that parse it.

use std::borrow::Cow;

use countersign_sanitise::{MirrorText, Normalisation};
use countersign_tape::{Envelope, Limits, Span, Tape};

use super::structured::{Rewrite, is_attacked, rewritten};
use super::{Cleaner, Passage};
use crate::json::strings::{is_key, string_content, strings};
use crate::open::mirror::repeats;
use crate::policy::Policy;
use crate::verdict::hit::Carrier;

/// The value that texts may repeat, read once for all of them.
pub(super) struct Twins<'a> {
    /// Nothing if it does not matter whether a text repeats it.
    value: Option<Tape<'a>>,
    limits: Limits,
    /// A twin without a hit is left alone where other texts are not.
    spared: bool,
    /// Strings of the value were cleaned.
    cleaned: bool,
}

/// What a passage says before it is cleaned as text.
pub(super) struct PassageText<'a> {
    pub(super) text: Cow<'a, str>,
    /// It is a twin whose strings were cleaned.
    pub(super) is_new: bool,
}

impl Twins<'_> {
    /// Whether a passage is left alone if nothing was found in it.
    pub(super) fn spare(&self, passage: &Passage, text: &str) -> bool {
        self.spared && self.has(passage, text)
    }

    fn has(&self, passage: &Passage, text: &str) -> bool {
        let value = self.value.as_ref();
        passage.place.carrier == Carrier::Text
            && value.is_some_and(|value| repeats(text, value, &self.limits))
    }
}

impl<'a> Cleaner<'a> {
    pub(super) fn twins(&self, envelope: &Envelope, policy: &Policy) -> Twins<'a> {
        let settings = self.sanitiser.settings();
        let changes_form =
            self.changes_every_text() || settings.normalisation != Normalisation::Preserve;
        let spared = changes_form && settings.mirror_text == MirrorText::Keep;
        let cleaned = self.structured.is_some();
        let (bytes, limits) = (self.bytes, policy.output.value_limits());
        let value = envelope
            .structured_content()
            .filter(|_| spared || cleaned)
            .and_then(|value| Tape::parse(value.bytes(bytes), &limits).ok());
        Twins {
            value,
            limits,
            spared,
            cleaned,
        }
    }

    /// The text of a passage; of a twin, with the strings cleaned that are cleaned in the value. As text alone it would
    /// keep what its JSON spells with escapes.
    pub(super) fn passage_text(&self, passage: &Passage, twins: &Twins<'_>) -> PassageText<'a> {
        let text = passage.place.string.string(self.bytes).unwrap_or_default();
        let cleaned = (twins.cleaned && twins.has(passage, &text))
            .then(|| self.clean_twin(&text))
            .flatten();
        PassageText {
            is_new: cleaned.is_some(),
            text: cleaned.map_or(text, Cow::Owned),
        }
    }

    /// Reports what was in a twin as it was received.
    pub(super) fn report_received_text(&mut self, passage: &Passage) {
        let text = passage.place.string.string(self.bytes).unwrap_or_default();
        let cleaned = self.sanitiser.clean(&text);
        self.text_findings
            .add_cleaned(passage.place, &text, &cleaned);
    }

    /// A twin without what is cleaned in the strings of the value; nothing if there is nothing.
    fn clean_twin(&self, text: &str) -> Option<String> {
        let (json, whole) = (text.as_bytes(), Span::whole(text.as_bytes()));
        let mut rewrites = Vec::new();
        for string in strings(json, whole).filter(|string| !is_key(json, *string)) {
            if self.sanitiser.passes_string(string_content(text, string)) {
                continue;
            }
            let before = string.string(json).unwrap_or_default();
            let cleaned = self.sanitiser.clean(&before);
            if is_attacked(&cleaned) {
                let after = cleaned.text.into_owned();
                rewrites.push(Rewrite {
                    string,
                    before: before.into_owned(),
                    after,
                });
            }
        }
        let any = !rewrites.is_empty();
        any.then(|| rewritten(json, whole, &rewrites)).flatten()
    }
}
