//! Cleans every string of a result and keeps the new form for `conclude`. Strings that only software
//! reads are reported and left alone: `uri`s, `_meta` and annotations. Strings of `structuredContent`
//! are cleaned only where they carry an attack. Decides nothing.

mod blocks;
mod key;
pub(crate) mod listing;
pub(crate) mod note;
mod notice;
mod other;
mod structured;
mod twin;

use bytes::Bytes;
use countersign_sanitise::{Sanitiser, Wrap};
use countersign_tape::{Envelope, Kind, Span, members};

use crate::json::strings::{is_key, strings};
use crate::judge::contract::Contract;
use crate::policy::Policy;
use crate::tool::ToolName;
use crate::verdict::found::Found;
use crate::verdict::hit::Carrier;

pub(crate) use key::renamed;
pub(crate) use notice::{Notices, Outcome, Place, excerpt, found};
use twin::Said;

/// The changes that cleaning asks for.
pub(crate) struct Cleaning {
    /// The tool that returned the texts.
    pub(crate) tool: ToolName,
    /// Texts that leave changed, or inside a boundary.
    pub(crate) passages: Vec<Passage>,
    /// `structuredContent` without what was found in it, if it is to be replaced.
    pub(crate) structured: Option<Bytes>,
    /// Something was found in `structuredContent` that would be changed in a text.
    pub(crate) structured_is_dirty: bool,
    /// A few harmless letters around the worst hit.
    pub(crate) excerpt: Option<String>,
}

/// One text of a result.
pub(crate) struct Passage {
    pub(crate) carrier: Carrier,
    pub(crate) block: Option<usize>,
    /// Where it stands, with its quotes.
    pub(crate) string: Span,
    /// Its new form; nothing if it stays as it is.
    pub(crate) text: Option<String>,
    /// May be cut and put between boundaries.
    pub(crate) framed: bool,
}

impl Passage {
    pub(crate) fn place(&self) -> Place {
        Place {
            carrier: self.carrier,
            block: self.block,
            string: self.string,
        }
    }
}

impl Cleaning {
    /// The new form of the text at a place.
    pub(crate) fn text_at(&self, string: Span) -> Option<&str> {
        let by_place = |passage: &Passage| passage.string;
        let index = self.passages.binary_search_by_key(&string, by_place).ok()?;
        self.passages.get(index)?.text.as_deref()
    }
}

/// Cleans every text of a scanned message.
pub(crate) fn stage(
    text: &str,
    envelope: &Envelope,
    contract: &Contract,
    policy: &Policy,
    found: &mut Vec<Found>,
) -> Option<Box<Cleaning>> {
    let sanitiser = policy.sanitisation.sanitiser()?;
    let mut stage = Stage {
        text,
        bytes: text.as_bytes(),
        sanitiser,
        notices: Notices::default(),
        passages: Vec::new(),
        structured: None,
        structured_is_dirty: false,
        ready: Vec::new(),
    };
    if let Some(error) = envelope.error() {
        stage.error(error);
    }
    if let Some(result) = envelope.result() {
        stage.structured(envelope, contract, policy, found);
        stage.result(envelope, result);
    }
    stage.clean_passages(envelope, policy);
    stage.ready.sort_by_key(|passage| passage.string);
    let (value, prefix) = match (envelope.result(), envelope.error()) {
        (Some(result), _) => (result, ""),
        (None, Some(error)) => (error, "/error"),
        (None, None) => (envelope.root(), ""),
    };
    let frames = stage.frames();
    let excerpt = stage.notices.finish(text, value, prefix, found);
    // Most results need no change.
    let any = frames || !stage.ready.is_empty() || excerpt.is_some();
    any.then(|| {
        Box::new(Cleaning {
            tool: contract.tool().clone(),
            passages: stage.ready,
            structured: stage.structured,
            structured_is_dirty: stage.structured_is_dirty,
            excerpt,
        })
    })
}

/// The state of cleaning one message.
struct Stage<'a> {
    text: &'a str,
    bytes: &'a [u8],
    sanitiser: &'a Sanitiser,
    notices: Notices,
    /// Texts met so far.
    passages: Vec<Passage>,
    /// Those that leave changed, or inside a boundary.
    ready: Vec<Passage>,
    structured: Option<Bytes>,
    structured_is_dirty: bool,
}

impl Stage<'_> {
    fn result(&mut self, envelope: &Envelope, result: Span) {
        let content = envelope.content();
        let passes = |content| self.sanitiser.passes_blocks(self.raw(content));
        if let Some(content) = content
            && (self.frames() || self.structured.is_some() || !passes(content))
        {
            self.content(content);
        }
        if self.rest_passes(result, content, envelope.structured_content()) {
            return;
        }
        let first = [content, envelope.structured_content()];
        if result.kind(self.bytes) != Some(Kind::Object) {
            self.clean_value(result, None);
        }
        for (key, value) in members(self.bytes, result) {
            self.clean_string(Carrier::Other, None, key);
            match key.string(self.bytes).as_deref() {
                _ if first.contains(&Some(value)) => {}
                Some("content") => self.content(value),
                Some("messages") => self.messages(value),
                Some("contents") => self.resources(value),
                Some("prompts" | "resources" | "resourceTemplates") => self.listed(value),
                Some("description") if value.kind(self.bytes) == Some(Kind::String) => {
                    self.passage(Carrier::Text, None, value, false);
                }
                Some("_meta") if self.is_left_alone(Some("_meta"), value) => self.look(value, None),
                _ => self.clean_value(value, None),
            }
        }
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
    fn error(&mut self, error: Span) {
        if self.sanitiser.passes_json(self.raw(error)) {
            return;
        }
        for (key, value) in members(self.bytes, error) {
            self.clean_string(Carrier::Error, None, key);
            for string in strings(self.bytes, value) {
                if is_key(self.bytes, string) {
                    self.clean_string(Carrier::Error, None, string);
                } else {
                    self.passage(Carrier::Error, None, string, false);
                }
            }
        }
    }

    fn raw(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Whether texts without a hit are changed too: cut, or put between boundaries.
    fn frames(&self) -> bool {
        let settings = self.sanitiser.settings();
        settings.wrap == Wrap::Delimit || settings.max_text_chars.is_some()
    }

    fn passage(&mut self, carrier: Carrier, block: Option<usize>, string: Span, framed: bool) {
        self.passages.push(Passage {
            carrier,
            block,
            string,
            text: None,
            framed,
        });
    }

    /// Cleans the texts together, because a token may begin in one and end in the next.
    fn clean_passages(&mut self, envelope: &Envelope, policy: &Policy) {
        let passages = std::mem::take(&mut self.passages);
        if passages.is_empty() {
            return;
        }
        let twins = self.twins(envelope, policy);
        let said: Vec<Said<'_>> = passages
            .iter()
            .map(|passage| self.said(passage, &twins))
            .collect();
        let segments: Vec<&str> = said.iter().map(|said| said.text.as_ref()).collect();
        let cleaned = self.sanitiser.clean_segments(&segments);
        for ((mut passage, cleaned), said) in passages.into_iter().zip(cleaned).zip(&said) {
            let mut acted = said.is_new;
            if said.is_new {
                self.note_received(&passage);
            }
            acted |= self.notices.cleaned(passage.place(), &said.text, &cleaned);
            if !acted && twins.spare(&passage, &said.text) {
                continue;
            }
            let changed = said.is_new || cleaned.is_changed();
            passage.text = changed.then(|| cleaned.text.into_owned());
            if passage.text.is_some() || (passage.framed && self.frames()) {
                self.ready.push(passage);
            }
        }
    }
}
