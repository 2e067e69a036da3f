//! The blocks of a result: which of their members are texts that a model reads one after the other. Texts are cleaned
//! together and may be put between boundaries; every other string is cleaned by itself. A type that is missing or
//! unknown is no reason to look away.

use countersign_tape::{Kind, Span, elements, members};

use super::Cleaner;
use crate::clean::listing::PROSE;
use crate::json::strings::{is_key, strings};
use crate::verdict::hit::Carrier;

impl Cleaner<'_> {
    /// `content`: a list of blocks. What it should not be is cleaned as well, since some client may show it.
    pub(super) fn visit_content(&mut self, content: Span) {
        match content.kind(self.bytes) {
            Some(Kind::Array) => {
                for (index, block) in elements(self.bytes, content).enumerate() {
                    self.visit_block(Some(index), block);
                }
            }
            Some(Kind::Object | Kind::String) => self.visit_block(None, content),
            _ => {}
        }
    }

    /// `messages` of a prompt: each has one block, or several.
    pub(super) fn visit_messages(&mut self, messages: Span) {
        for message in self.elements_of(messages) {
            for (key, value) in self.members_of(message, None) {
                self.clean_string(Carrier::Other, None, key);
                match key.string(self.bytes).as_deref() {
                    Some("content") => self.visit_content(value),
                    _ => self.clean_value(value, None),
                }
            }
        }
    }

    /// `contents` of a resource.
    pub(super) fn visit_resources(&mut self, contents: Span) {
        for (index, resource) in self.elements_of(contents).enumerate() {
            self.visit_resource(Some(index), resource);
        }
    }

    /// A list of prompts, resources or templates: descriptions and titles are prose.
    pub(super) fn visit_list(&mut self, list: Span) {
        for entry in self.elements_of(list) {
            for (key, value) in self.members_of(entry, None) {
                self.clean_string(Carrier::Other, None, key);
                let name = key.string(self.bytes);
                if self.is_left_alone(name.as_deref(), value) {
                    self.report_strings(value, None);
                } else {
                    self.visit_entry_member(name.as_deref(), value);
                }
            }
        }
    }

    /// A member of a list entry, with what describes its parts.
    fn visit_entry_member(&mut self, name: Option<&str>, value: Span) {
        let is_prose = |name: Option<&str>| name.is_some_and(|name| PROSE.contains(&name));
        let mut prose = is_prose(name);
        for string in strings(self.bytes, value) {
            if is_key(self.bytes, string) {
                prose = is_prose(string.string(self.bytes).as_deref());
                self.clean_string(Carrier::Other, None, string);
            } else if std::mem::take(&mut prose) {
                self.add_passage(Carrier::ResourceLink, None, string, false);
            } else {
                self.clean_string(Carrier::Other, None, string);
            }
        }
    }

    fn visit_block(&mut self, index: Option<usize>, block: Span) {
        match block.kind(self.bytes) {
            Some(Kind::Object) => {}
            Some(Kind::String) => return self.add_passage(Carrier::Text, index, block, true),
            _ => return self.clean_value(block, index),
        }
        let kind = self.block_type(block);
        let kind = kind.as_deref();
        for (key, value) in members(self.bytes, block) {
            self.clean_string(Carrier::Other, index, key);
            let is = |kind| value.kind(self.bytes) == Some(kind);
            match (kind, key.string(self.bytes).as_deref()) {
                (Some("text") | None, Some("text")) if is(Kind::String) => {
                    self.add_passage(Carrier::Text, index, value, true);
                }
                // A host may join the texts of all blocks without a look at their types.
                (_, Some("text")) if is(Kind::String) => {
                    self.add_passage(Carrier::Other, index, value, false);
                }
                (Some("resource") | None, Some("resource")) if is(Kind::Object) => {
                    self.visit_resource(index, value);
                }
                (Some("resource_link"), Some("name" | "title" | "description"))
                    if is(Kind::String) =>
                {
                    self.add_passage(Carrier::ResourceLink, index, value, false);
                }
                // Only a link has an address.
                (kind, Some("uri" | "uriTemplate")) if kind != Some("resource_link") => {
                    self.clean_value(value, index);
                }
                (_, name) if self.is_left_alone(name, value) => self.report_strings(value, index),
                _ => self.clean_value(value, index),
            }
        }
    }

    fn visit_resource(&mut self, index: Option<usize>, resource: Span) {
        for (key, value) in self.members_of(resource, index) {
            self.clean_string(Carrier::Other, index, key);
            let is_string = value.kind(self.bytes) == Some(Kind::String);
            match key.string(self.bytes).as_deref() {
                Some("text") if is_string => {
                    self.add_passage(Carrier::Resource, index, value, true);
                }
                Some("name" | "title" | "description") if is_string => {
                    self.add_passage(Carrier::ResourceLink, index, value, false);
                }
                name if self.is_left_alone(name, value) => self.report_strings(value, index),
                _ => self.clean_value(value, index),
            }
        }
    }

    /// The type a reader would take the block for: the last one it names.
    fn block_type(&self, block: Span) -> Option<String> {
        let mut kind = None;
        for (key, value) in members(self.bytes, block) {
            if key.is_text(self.bytes, "type") {
                kind = value.string(self.bytes);
            }
        }
        kind.map(std::borrow::Cow::into_owned)
    }
}
