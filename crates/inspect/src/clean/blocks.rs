//! The blocks of a result: which of their members a model reads as text, and which only software does. A type that
//! is missing is no reason to look away; one that is unknown belongs to somebody who knows it.

use countersign_tape::{Kind, Span, elements, members};

use super::Stage;
use crate::hit::Carrier;
use crate::listing::PROSE;
use crate::strings::{is_key, strings};

impl Stage<'_> {
    /// `content`: a list of blocks. What it should not be is cleaned as well, since somebody may read it.
    pub(super) fn content(&mut self, content: Span) {
        match content.kind(self.bytes) {
            Some(Kind::Array) => {
                for (index, block) in elements(self.bytes, content).enumerate() {
                    self.block(Some(index), block);
                }
            }
            Some(Kind::Object | Kind::String) => self.block(None, content),
            _ => {}
        }
    }

    /// `messages` of a prompt: each has one block, or several.
    pub(super) fn messages(&mut self, messages: Span) {
        for message in elements(self.bytes, messages) {
            for (key, value) in members(self.bytes, message) {
                self.look(key, None);
                match key.string(self.bytes).as_deref() {
                    Some("content") => self.content(value),
                    _ => self.look(value, None),
                }
            }
        }
    }

    /// `contents` of a resource.
    pub(super) fn resources(&mut self, contents: Span) {
        for (index, resource) in elements(self.bytes, contents).enumerate() {
            self.resource(Some(index), resource);
        }
    }

    /// A list of what a server has: descriptions and titles are prose, the rest is for software.
    pub(super) fn listed(&mut self, list: Span) {
        let mut prose = false;
        for string in strings(self.bytes, list) {
            if is_key(self.bytes, string) {
                prose = string
                    .string(self.bytes)
                    .is_some_and(|name| PROSE.contains(&name.as_ref()));
            } else if std::mem::take(&mut prose) {
                self.passage(Carrier::ResourceLink, None, string, false);
                continue;
            }
            self.look(string, None);
        }
    }

    fn block(&mut self, index: Option<usize>, block: Span) {
        if block.kind(self.bytes) == Some(Kind::String) {
            self.passage(Carrier::Text, index, block, true);
            return;
        }
        let kind = self.kind(block);
        let kind = kind.as_deref();
        for (key, value) in members(self.bytes, block) {
            self.look(key, index);
            let is = |kind| value.kind(self.bytes) == Some(kind);
            match (kind, key.string(self.bytes).as_deref()) {
                (Some("text") | None, Some("text")) if is(Kind::String) => {
                    self.passage(Carrier::Text, index, value, true);
                }
                (Some("resource") | None, Some("resource")) if is(Kind::Object) => {
                    self.resource(index, value);
                }
                (Some("resource_link"), Some("name" | "title" | "description"))
                    if is(Kind::String) =>
                {
                    self.passage(Carrier::ResourceLink, index, value, false);
                }
                // Bytes for eyes and ears; whether they decode was asked before.
                (Some("image" | "audio"), Some("data")) if is(Kind::String) => {}
                _ => self.look(value, index),
            }
        }
    }

    fn resource(&mut self, index: Option<usize>, resource: Span) {
        for (key, value) in members(self.bytes, resource) {
            self.look(key, index);
            let is_string = value.kind(self.bytes) == Some(Kind::String);
            match key.string(self.bytes).as_deref() {
                Some("text") if is_string => self.passage(Carrier::Resource, index, value, true),
                Some("name" | "title" | "description") if is_string => {
                    self.passage(Carrier::ResourceLink, index, value, false);
                }
                Some("blob") if is_string => {}
                _ => self.look(value, index),
            }
        }
    }

    /// The type a reader would take the block for: the last one it names.
    fn kind(&self, block: Span) -> Option<String> {
        let mut kind = None;
        for (key, value) in members(self.bytes, block) {
            if key.string(self.bytes).as_deref() == Some("type") {
                kind = value.string(self.bytes);
            }
        }
        kind.map(std::borrow::Cow::into_owned)
    }
}
