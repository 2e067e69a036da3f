//! Arguments of a call: JSON that is the same every time, or has places for values from a feeder
//! or from an earlier result. A text that is nothing but one reference becomes the value itself;
//! inside a longer text the value's text is put. Nothing else of the author's bytes is touched.

use std::collections::BTreeMap;

use bytes::Bytes;
use countersign_tape::{Kind, ScanLimits, Span, escape_into, scan};
use thiserror::Error;
use toml::Value;

use super::feeder::Row;

/// Values taken from earlier results, as raw JSON.
pub type TakenValues = BTreeMap<String, Bytes>;

/// Arguments, perhaps with places in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Bytes),
    /// A whole JSON value.
    Value(Reference),
    /// Text inside a JSON string.
    Inside(Reference),
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reference {
    Feed(String),
    Take(String),
}

/// Why arguments cannot be used, or made.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TemplateError {
    /// They are not JSON.
    #[error("arguments_json is not JSON")]
    NotJson,
    /// JSON has no such number.
    #[error("JSON has no number that is infinite or not a number")]
    Number,
    /// A reference to something that is neither.
    #[error("${{{0}}} is not a reference: expected ${{feed:COLUMN}} or ${{take:NAME}}")]
    Reference(String),
    /// A column or a taken value that is not there.
    #[error("there is no value for ${{{0}}}")]
    Missing(String),
}

impl Template {
    /// Arguments written as TOML.
    pub(super) fn from_toml(value: &Value) -> Result<Self, TemplateError> {
        let mut writer = Writer::default();
        writer.value(value)?;
        Ok(writer.finish())
    }

    /// Arguments written as JSON, kept byte for byte but for references.
    pub(super) fn from_json(text: &str) -> Result<Self, TemplateError> {
        scan(text.as_bytes(), &ScanLimits::default()).map_err(|_| TemplateError::NotJson)?;
        let mut writer = Writer::default();
        let mut rest = text;
        // A quote that is not inside a string starts one; strings are scanned as a whole.
        while let Some(start) = rest.find('"') {
            let (before, string) = rest.split_at(start);
            writer.text(before.as_bytes());
            let end = string_end(string).ok_or(TemplateError::NotJson)?;
            let (string, after) = string.split_at(end);
            writer.json_string(string)?;
            rest = after;
        }
        writer.text(rest.as_bytes());
        Ok(writer.finish())
    }

    /// The bytes, if they are the same every time.
    pub fn fixed(&self) -> Option<&Bytes> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The references, as they are written.
    pub fn references(&self) -> Vec<String> {
        let references = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Value(reference) | Piece::Inside(reference) => Some(reference.to_string()),
        });
        references.collect()
    }

    /// The arguments of one call.
    pub fn render(&self, row: Option<&Row>, taken: &TakenValues) -> Result<Bytes, TemplateError> {
        if let Some(fixed) = self.fixed() {
            return Ok(fixed.clone());
        }
        let mut out = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Value(reference) => {
                    out.extend_from_slice(&reference.find(row, taken)?);
                }
                Piece::Inside(reference) => {
                    let raw = reference.find(row, taken)?;
                    match Span::whole(&raw).kind(&raw) {
                        Some(Kind::String) => {
                            out.extend_from_slice(raw.get(1..raw.len() - 1).unwrap_or_default());
                        }
                        _ => escape_into(&String::from_utf8_lossy(&raw), &mut out),
                    }
                }
            }
        }
        Ok(out.into())
    }
}

impl Reference {
    fn read(text: &str) -> Result<Self, TemplateError> {
        match text.split_once(':') {
            Some(("feed", name)) if !name.is_empty() => Ok(Self::Feed(name.to_owned())),
            Some(("take", name)) if !name.is_empty() => Ok(Self::Take(name.to_owned())),
            _ => Err(TemplateError::Reference(text.to_owned())),
        }
    }

    fn find(&self, row: Option<&Row>, taken: &TakenValues) -> Result<Bytes, TemplateError> {
        let found = match self {
            Self::Feed(column) => row.and_then(|row| row.get(column)).cloned(),
            Self::Take(name) => taken.get(name).cloned(),
        };
        found.ok_or_else(|| TemplateError::Missing(self.to_string()))
    }
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Feed(name) => write!(f, "feed:{name}"),
            Self::Take(name) => write!(f, "take:{name}"),
        }
    }
}

/// The end of the JSON string that a text starts with, its quotes included.
fn string_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[derive(Default)]
struct Writer {
    pieces: Vec<Piece>,
    open: Vec<u8>,
}

impl Writer {
    fn text(&mut self, bytes: &[u8]) {
        self.open.extend_from_slice(bytes);
    }

    fn push_piece(&mut self, piece: Piece) {
        self.flush();
        self.pieces.push(piece);
    }

    fn flush(&mut self) {
        if !self.open.is_empty() {
            let text = Bytes::from(std::mem::take(&mut self.open));
            self.pieces.push(Piece::Text(text));
        }
    }

    fn finish(mut self) -> Template {
        self.flush();
        Template {
            pieces: self.pieces,
        }
    }

    /// A JSON string as written, quotes included.
    fn json_string(&mut self, string: &str) -> Result<(), TemplateError> {
        let inside = string
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .unwrap_or_default();
        if let Some(only) = inside
            .strip_prefix("${")
            .and_then(|rest| rest.strip_suffix('}'))
            && !only.contains("${")
        {
            self.push_piece(Piece::Value(Reference::read(only)?));
            return Ok(());
        }
        self.text(b"\"");
        let mut rest = inside;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else {
                break;
            };
            self.text(before.as_bytes());
            self.push_piece(Piece::Inside(Reference::read(name)?));
            rest = after;
        }
        self.text(rest.as_bytes());
        self.text(b"\"");
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), TemplateError> {
        let quoted = countersign_tape::quote(text);
        self.json_string(&String::from_utf8_lossy(&quoted))
    }

    /// TOML nests no deeper than its reader allows, so the recursion is bounded.
    fn value(&mut self, value: &Value) -> Result<(), TemplateError> {
        match value {
            Value::String(text) => self.string(text)?,
            Value::Integer(number) => self.text(number.to_string().as_bytes()),
            Value::Float(number) if number.is_finite() => {
                self.text(format!("{number:?}").as_bytes());
            }
            Value::Float(_) => return Err(TemplateError::Number),
            Value::Boolean(truth) => self.text(truth.to_string().as_bytes()),
            Value::Datetime(moment) => self.string(&moment.to_string())?,
            Value::Array(elements) => {
                self.text(b"[");
                for (position, element) in elements.iter().enumerate() {
                    if position > 0 {
                        self.text(b",");
                    }
                    self.value(element)?;
                }
                self.text(b"]");
            }
            Value::Table(members) => {
                self.text(b"{");
                for (position, (name, member)) in members.iter().enumerate() {
                    if position > 0 {
                        self.text(b",");
                    }
                    self.text(&countersign_tape::quote(name));
                    self.text(b":");
                    self.value(member)?;
                }
                self.text(b"}");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(values: &[(&str, &'static str)]) -> TakenValues {
        let pair = |(name, raw): &(&str, &'static str)| {
            ((*name).to_owned(), Bytes::from_static(raw.as_bytes()))
        };
        values.iter().map(pair).collect()
    }

    fn rendered(template: &Template, values: &[(&str, &'static str)]) -> String {
        let bytes = template.render(None, &taken(values)).expect("all there");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    #[test]
    fn toml_becomes_json_in_its_order() {
        let value: Value = toml::from_str(
            "z = 1.0\na = [true, 2026-12-31, \"q\\\"\"]\nm = { n = 9007199254740993 }",
        )
        .expect("TOML");
        let template = Template::from_toml(&value).expect("arguments");
        assert_eq!(
            template.fixed().expect("no places"),
            &br#"{"z":1.0,"a":[true,"2026-12-31","q\""],"m":{"n":9007199254740993}}"#[..]
        );
        let infinite: Value = toml::from_str("x = inf").expect("TOML");
        assert_eq!(Template::from_toml(&infinite), Err(TemplateError::Number));
    }

    #[test]
    fn json_is_kept_as_it_is_written() {
        let text = r#"{ "n" : 1.0, "s":"\"${x", "e": 1E2 }"#;
        let template = Template::from_json(text).expect("JSON");
        assert_eq!(template.fixed().expect("no places"), text.as_bytes());
        assert_eq!(Template::from_json("{"), Err(TemplateError::NotJson));
    }

    #[test]
    fn references_become_values_or_texts() {
        let text = r#"{"id":"${take:id}","path":"/a/${take:id}/${take:name}","k":1}"#;
        let template = Template::from_json(text).expect("JSON");
        assert_eq!(template.references(), ["take:id", "take:id", "take:name"]);
        assert_eq!(
            rendered(&template, &[("id", "7"), ("name", r#""x\"y""#)]),
            r#"{"id":7,"path":"/a/7/x\"y","k":1}"#
        );
        assert_eq!(
            rendered(&template, &[("id", r#"{"a":"b"}"#), ("name", "null")]),
            r#"{"id":{"a":"b"},"path":"/a/{\"a\":\"b\"}/null","k":1}"#
        );
        assert_eq!(
            template.render(None, &TakenValues::new()),
            Err(TemplateError::Missing("take:id".to_owned()))
        );
        for wrong in ["${id}", "${take:}", "x ${env:HOME}"] {
            let json = format!(r#"{{"a":"{wrong}"}}"#);
            assert!(
                matches!(Template::from_json(&json), Err(TemplateError::Reference(_))),
                "{wrong}"
            );
        }
    }
}
