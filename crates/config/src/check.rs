//! The file against the table of keys: unknown keys, wrong types, words outside a set, numbers
//! outside a range. Finds all of them in one pass; each setting can be read after it.

use countersign_tape::Kind;

use super::document::{brief, suggestion};
use super::duration;
use super::keys::{Block, Form};
use super::model::ROOT;
use super::problem::{ConfigError, MAX_REPORTED, Problem};
use super::reader::Reader;

impl Reader<'_, '_> {
    /// Checks the whole file. Fails with every problem; warnings stay with the reader.
    pub(crate) fn check(&mut self) -> Result<(), ConfigError> {
        self.check_form(0, Form::Block(ROOT));
        let ignored = std::mem::take(&mut self.ignored_keys);
        if !ignored.is_empty() {
            let names: Vec<_> = ignored.into_iter().collect();
            let names = names.join(", ");
            let message = format!("not implemented in this version and ignored: {names}");
            self.warnings.push(Problem::without_hint(message));
        }
        ConfigError::if_any(std::mem::take(&mut self.problems))
    }

    /// Depth of recursion is that of the table.
    fn check_form(&mut self, index: u32, form: Form) {
        let kind = self.tape().node(index).kind();
        match (form, kind) {
            (Form::Flag, Kind::True | Kind::False)
            | (Form::Text | Form::Name | Form::TextOrTexts, Kind::String)
            | (Form::OptionalText, Kind::String | Kind::Null) => {}
            (Form::Number(min, max), Kind::Number) => self.check_number(index, min, max),
            (Form::Factor, Kind::Number) => self.check_factor(index),
            (Form::Duration, Kind::String) => self.check_duration(index),
            (Form::Choice(words), Kind::String) => self.check_choice(index, words),
            (Form::Texts | Form::TextOrTexts, Kind::Array) => {
                self.check_elements(index, Form::Text);
            }
            (Form::TextMap, Kind::Object) => self.check_values(index, Form::Text),
            (Form::TextsMap, Kind::Object) => self.check_values(index, Form::Texts),
            (Form::Block(block), Kind::Object) => self.check_block(index, block),
            (Form::Blocks(block) | Form::Servers(block), Kind::Array) => {
                self.check_elements(index, Form::Block(block));
            }
            (Form::Named(block) | Form::Servers(block), Kind::Object) => {
                self.check_values(index, Form::Block(block));
            }
            _ => self.refuse_kind(index, form),
        }
    }

    fn check_elements(&mut self, index: u32, form: Form) {
        let children: Vec<_> = self.tape().children(index).collect();
        for child in children {
            self.check_form(child, form);
        }
    }

    fn check_values(&mut self, index: u32, form: Form) {
        let members: Vec<_> = self.tape().members(index).collect();
        for (_, value) in members {
            self.check_form(value, form);
        }
    }

    fn check_block(&mut self, index: u32, block: &'static Block) {
        let members: Vec<_> = self.tape().members(index).collect();
        for (key, value) in members {
            let name = self.tape().string(key).into_owned();
            let foreign = block.foreign.iter().find(|(known, _)| *known == name);
            let is_object = self.tape().node(value).kind() == Kind::Object;
            match (block.key(&name), foreign) {
                // Where another program has a setting of the same name, its value is an object, and ours is not.
                (Some(known), None) => self.check_form(value, known.form),
                (Some(known), Some(_)) if !is_object => self.check_form(value, known.form),
                (_, Some((_, meaning))) => self.warn_of_ignored(key, value, &name, meaning),
                (None, None) => self.refuse_unknown(key, &name, block),
            }
        }
    }

    /// A key we know and ignore: a warning of its own if that has a consequence, else one of many.
    fn warn_of_ignored(&mut self, key: u32, value: u32, name: &str, meaning: &str) {
        if meaning.is_empty() || self.is_off(value) || self.warnings.len() >= MAX_REPORTED {
            self.ignored_keys.insert(name.to_owned());
            return;
        }
        let message =
            format!("\"{name}\" is not implemented in this version and is ignored: {meaning}");
        self.warn(key, Problem::without_hint(message));
    }

    /// Whether a setting asks for nothing.
    fn is_off(&self, value: u32) -> bool {
        let tape = self.tape();
        let node = tape.node(value);
        match node.kind() {
            Kind::Null | Kind::False => true,
            Kind::Array => node.count() == 0,
            Kind::Object => {
                let enabled = tape
                    .get(value, "enabled")
                    .map(|index| tape.node(index).kind());
                node.count() == 0 || enabled == Some(Kind::False)
            }
            _ => false,
        }
    }

    fn refuse_unknown(&mut self, key: u32, name: &str, block: &'static Block) {
        let allowed: Vec<_> = block.names().collect();
        let message = format!("unknown key \"{}\"", brief(name));
        self.refuse(key, message, suggestion(name, &allowed, "allowed"));
    }

    fn refuse_kind(&mut self, index: u32, form: Form) {
        let got = match self.tape().node(index).kind() {
            Kind::Null => "null",
            Kind::True | Kind::False => "a boolean",
            Kind::Number => "a number",
            Kind::String | Kind::Key => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
        };
        let expected = form.expected();
        let (message, hint) = match form {
            Form::Duration => (
                format!("expected a duration, got {got}"),
                duration::HINT.to_owned(),
            ),
            Form::Block(_) if index == 0 => (
                format!("the configuration is an object, and this is {got}"),
                "the smallest configuration is {}".to_owned(),
            ),
            Form::Choice(_) => (
                format!("expected one of {expected}, got {got}"),
                "write one of them in quotes, or leave it out".to_owned(),
            ),
            _ => (
                format!("expected {expected}, got {got}"),
                format!("write {expected}, or leave it out"),
            ),
        };
        self.refuse(index, message, hint);
    }

    fn check_number(&mut self, index: u32, min: u64, max: u64) {
        let raw = self.tape().raw(index);
        if raw.parse::<u64>().is_ok_and(|n| (min..=max).contains(&n)) {
            return;
        }
        let message = format!("{} is not a whole number from {min} to {max}", brief(raw));
        self.refuse(
            index,
            message,
            "write it in digits only, without exponent or unit",
        );
    }

    fn check_factor(&mut self, index: u32) {
        let raw = self.tape().raw(index);
        if raw.parse::<f64>().is_ok_and(|n| n.is_finite() && n > 0.0) {
            return;
        }
        let message = format!("{} is not a number greater than 0", brief(raw));
        self.refuse(index, message, "1.0 is the default");
    }

    fn check_duration(&mut self, index: u32) {
        let text = self.tape().string(index);
        if duration::parse(&text).is_none() {
            let message = format!("\"{}\" is not a duration", brief(&text));
            self.refuse(index, message, duration::HINT);
        }
    }

    fn check_choice(&mut self, index: u32, words: &'static [&'static str]) {
        let word = self.tape().string(index);
        if words.contains(&&*word) {
            return;
        }
        let message = format!("unknown value \"{}\"", brief(&word));
        self.refuse(index, message, suggestion(&word, words, "allowed"));
    }
}
