//! Cleans every string of a result and keeps the new form for `conclude`. Strings that only software
//! reads are reported and left alone: `uri`s, `_meta` and annotations. Strings of `structuredContent`
//! are cleaned only where they carry an attack. Decides nothing.

mod blocks;
mod key;
pub(crate) mod listing;
pub(crate) mod note;
mod other;
mod structured;
mod text_findings;
mod twin;

use bytes::Bytes;
use countersign_sanitise::{Sanitiser, Wrap};
use countersign_tape::{Envelope, Kind, RawElements, RawMembers, Span, elements, members};

use crate::json::strings::{is_key, strings};
use crate::judge::contract::Contract;
use crate::policy::Policy;
use crate::tool::ToolName;
use crate::verdict::explained::ExplainedFinding;
use crate::verdict::hit::Carrier;

pub(crate) use key::renamed;
pub(crate) use text_findings::{Outcome, TextFindings, TextLocation, excerpt, text_finding};
use twin::PassageText;

/// The changes that cleaning asks for.
pub(crate) struct Cleaning {
    /// The tool that returned the texts.
    pub(crate) tool: ToolName,
    /// Texts that leave changed, or inside a boundary.
    pub(crate) passages: Vec<Passage>,
    /// `structuredContent` without what was found in it, if it is to be replaced.
    pub(crate) structured: Option<Bytes>,
    /// Something was found in `structuredContent` that would be changed in a text.
    pub(crate) structured_has_hits: bool,
    /// A few harmless letters around the worst hit.
    pub(crate) excerpt: Option<String>,
}

/// One text of a result.
pub(crate) struct Passage {
    pub(crate) place: TextLocation,
    /// Its new form; nothing if it stays as it is.
    pub(crate) text: Option<String>,
    /// May be cut and put between boundaries.
    pub(crate) can_be_wrapped: bool,
}

impl Cleaning {
    /// The new form of the text at a place.
    pub(crate) fn text_at(&self, string: Span) -> Option<&str> {
        let by_place = |passage: &Passage| passage.place.string;
        let index = self.passages.binary_search_by_key(&string, by_place).ok()?;
        self.passages.get(index)?.text.as_deref()
    }
}

/// Cleans every text of a scanned message.
pub(crate) fn clean_message(
    text: &str,
    envelope: &Envelope,
    contract: &Contract,
    policy: &Policy,
    found: &mut Vec<ExplainedFinding>,
) -> Option<Box<Cleaning>> {
    let sanitiser = policy.sanitisation.sanitiser()?;
    let mut cleaner = Cleaner {
        text,
        bytes: text.as_bytes(),
        sanitiser,
        text_findings: TextFindings::default(),
        passages: Vec::new(),
        structured: None,
        structured_has_hits: false,
        ready: Vec::new(),
    };
    if let Some(error) = envelope.error() {
        cleaner.visit_error(error);
    }
    if let Some(result) = envelope.result() {
        cleaner.visit_structured(envelope, contract, policy, found);
        cleaner.visit_result(envelope, result);
    }
    cleaner.clean_passages(envelope, policy);
    cleaner.ready.sort_by_key(|passage| passage.place.string);
    let (value, prefix) = match (envelope.result(), envelope.error()) {
        (Some(result), _) => (result, ""),
        (None, Some(error)) => (error, "/error"),
        (None, None) => (envelope.root(), ""),
    };
    let changes_every_text = cleaner.changes_every_text();
    let excerpt = cleaner.text_findings.finish(text, value, prefix, found);
    // Most results need no change.
    let any = changes_every_text || !cleaner.ready.is_empty() || excerpt.is_some();
    any.then(|| {
        Box::new(Cleaning {
            tool: contract.tool().clone(),
            passages: cleaner.ready,
            structured: cleaner.structured,
            structured_has_hits: cleaner.structured_has_hits,
            excerpt,
        })
    })
}

/// The state of cleaning one message.
struct Cleaner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    sanitiser: &'a Sanitiser,
    text_findings: TextFindings,
    /// Texts met so far.
    passages: Vec<Passage>,
    /// Those that leave changed, or inside a boundary.
    ready: Vec<Passage>,
    structured: Option<Bytes>,
    structured_has_hits: bool,
}

impl<'a> Cleaner<'a> {
    fn visit_result(&mut self, envelope: &Envelope, result: Span) {
        let content = envelope.content();
        let passes = |content| self.sanitiser.passes_blocks(self.raw(content));
        if let Some(content) = content
            && (self.changes_every_text() || self.structured.is_some() || !passes(content))
        {
            self.visit_content(content);
        }
        let passes = || self.rest_passes(result, content, envelope.structured_content());
        // Texts of prompts and resources are framed too, whether there is a hit in them or not.
        if !self.changes_every_text() && passes() {
            return;
        }
        let first = [content, envelope.structured_content()];
        for (key, value) in self.members_of(result, None) {
            self.clean_string(Carrier::Other, None, key);
            match key.string(self.bytes).as_deref() {
                _ if first.contains(&Some(value)) => {}
                Some("content") => self.visit_content(value),
                Some("messages") => self.visit_messages(value),
                Some("contents") => self.visit_resources(value),
                Some("prompts" | "resources" | "resourceTemplates") => self.visit_list(value),
                Some("description") if value.kind(self.bytes) == Some(Kind::String) => {
                    self.add_passage(Carrier::Text, None, value, false);
                }
                Some("_meta") if self.is_left_alone(Some("_meta"), value) => {
                    self.report_strings(value, None);
                }
                _ => self.clean_value(value, None),
            }
        }
    }

    /// The members of an object. What should be an object and is none is cleaned as a whole.
    fn members_of(&mut self, object: Span, block: Option<usize>) -> RawMembers<'a> {
        if object.kind(self.bytes) != Some(Kind::Object) {
            self.clean_value(object, block);
        }
        members(self.bytes, object)
    }

    /// The elements of a list. What should be a list and is none is cleaned as a whole.
    fn elements_of(&mut self, list: Span) -> RawElements<'a> {
        if list.kind(self.bytes) != Some(Kind::Array) {
            self.clean_value(list, None);
        }
        elements(self.bytes, list)
    }

    /// Whether nothing is to be found between and around the two large members. Usually that is their names.
    fn rest_passes(&self, result: Span, content: Option<Span>, structured: Option<Span>) -> bool {
        let nothing = Span::new(result.start, result.start);
        let mut known = [content.unwrap_or(nothing), structured.unwrap_or(nothing)];
        known.sort_unstable();
        let mut at = result.start;
        for span in known.into_iter().chain([Span::new(result.end, result.end)]) {
            let gap = Span::new(at, span.start.max(at));
            // Messages and resources stand here where there is no `content`, and a host may join their texts.
            if !self.sanitiser.passes_blocks(self.raw(gap)) {
                return false;
            }
            at = span.end;
        }
        true
    }

    /// Cleans the message and data of a JSON-RPC error.
    fn visit_error(&mut self, error: Span) {
        if self.sanitiser.passes_json(self.raw(error)) {
            return;
        }
        for (key, value) in members(self.bytes, error) {
            self.clean_string(Carrier::Error, None, key);
            for string in strings(self.bytes, value) {
                if is_key(self.bytes, string) {
                    self.clean_string(Carrier::Error, None, string);
                } else {
                    self.add_passage(Carrier::Error, None, string, false);
                }
            }
        }
    }

    fn raw(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Whether texts without a hit are changed too: cut, or put between boundaries.
    fn changes_every_text(&self) -> bool {
        let settings = self.sanitiser.settings();
        settings.wrap == Wrap::Delimit || settings.max_text_chars.is_some()
    }

    fn add_passage(
        &mut self,
        carrier: Carrier,
        block: Option<usize>,
        string: Span,
        can_be_wrapped: bool,
    ) {
        self.passages.push(Passage {
            place: TextLocation::new(carrier, block, string),
            text: None,
            can_be_wrapped,
        });
    }

    /// Cleans the texts together, because a token may begin in one and end in the next.
    fn clean_passages(&mut self, envelope: &Envelope, policy: &Policy) {
        let passages = std::mem::take(&mut self.passages);
        if passages.is_empty() {
            return;
        }
        let twins = self.twins(envelope, policy);
        let texts: Vec<PassageText<'_>> = passages
            .iter()
            .map(|passage| self.passage_text(passage, &twins))
            .collect();
        let segments: Vec<&str> = texts.iter().map(|text| text.text.as_ref()).collect();
        let cleaned = self.sanitiser.clean_segments(&segments);
        for ((mut passage, cleaned), received) in passages.into_iter().zip(cleaned).zip(&texts) {
            let mut acted = received.is_new;
            if received.is_new {
                self.report_received_text(&passage);
            }
            let findings = &mut self.text_findings;
            acted |= findings.add_cleaned(passage.place, &received.text, &cleaned);
            if !acted && twins.spare(&passage, &received.text) {
                continue;
            }
            let changed = received.is_new || cleaned.is_changed();
            passage.text = changed.then(|| cleaned.text.into_owned());
            if passage.text.is_some() || (passage.can_be_wrapped && self.changes_every_text()) {
                self.ready.push(passage);
            }
        }
    }
}
