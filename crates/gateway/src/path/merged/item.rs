//! One element of a list of prompts, resources or templates, read just far enough to be renamed. All its other bytes stay.

use bytes::Bytes;
use countersign_tape::{Edits, Kind, Span, members, quote};

/// An element of a list.
pub(super) struct Item<'a> {
    raw: &'a Bytes,
    /// The member that names it.
    at: Span,
    pub(super) text: String,
}

impl<'a> Item<'a> {
    /// Reads a checked JSON value. Nothing if it is not an object with a name that can be read one way only.
    pub(super) fn read(raw: &'a Bytes, key: &str) -> Option<Self> {
        let whole = Span::whole(raw);
        if whole.kind(raw) != Some(Kind::Object) {
            return None;
        }
        let is_it = |name: Span| name.is_text(raw, key);
        let mut found = members(raw, whole).filter(|(name, _)| is_it(*name));
        let (_, at) = found.next()?;
        let text = at.string(raw)?.into_owned();
        let is_alone = found.next().is_none() && !text.is_empty();
        is_alone.then_some(Self { raw, at, text })
    }

    /// The element under another name.
    pub(super) fn with_text(&self, text: &str) -> Vec<u8> {
        if text == self.text {
            return self.raw.to_vec();
        }
        let mut edits = Edits::new(self.raw);
        edits.replace(self.at, quote(text));
        // A single edit cannot collide with another one.
        edits
            .apply()
            .map_or_else(|_| self.raw.to_vec(), |edited| edited.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_keeps_every_byte_but_its_name() {
        let raw = Bytes::from_static(br#"{ "x": 1.0,"uri" : "a\u003a1","y":{"uri":"z"} }"#);
        let item = Item::read(&raw, "uri").expect("an element");
        assert_eq!(item.text, "a:1");
        assert_eq!(item.with_text("a:1"), raw);
        let renamed = br#"{ "x": 1.0,"uri" : "b","y":{"uri":"z"} }"#;
        assert_eq!(item.with_text("b"), renamed);
        for bad in [
            "5",
            "[]",
            "{}",
            r#"{"uri":5}"#,
            r#"{"uri":""}"#,
            r#"{"uri":"a","uri":"b"}"#,
        ] {
            assert!(Item::read(&Bytes::from(bad), "uri").is_none(), "{bad}");
        }
    }
}
