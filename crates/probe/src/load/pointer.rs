//! A value out of a result by JSON pointer, without building anything.

use bytes::Bytes;
use countersign_tape::{Kind, Span, elements, members};

/// The raw value at an RFC 6901 pointer, if it is there.
pub(super) fn value_at(result: &Bytes, pointer: &str) -> Option<Bytes> {
    let mut value = Span::whole(result);
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        value = match value.kind(result)? {
            Kind::Object => {
                let mut found = members(result, value);
                let is_it = |key: Span| key.is_text(result, &part);
                found.find(|(key, _)| is_it(*key))?.1
            }
            Kind::Array => elements(result, value).nth(part.parse().ok()?)?,
            _ => return None,
        };
    }
    Some(result.slice_ref(value.bytes(result)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_pointer() {
        let result = Bytes::from_static(br#"{"a":[{"b/c":1.0},"x"],"":{"~":null}}"#);
        for (pointer, expected) in [
            ("/a/0/b~1c", Some("1.0")),
            ("/a/1", Some("\"x\"")),
            ("//~0", Some("null")),
            ("/a/2", None),
            ("/a/x", None),
            ("/a/1/y", None),
            ("/b", None),
        ] {
            let found = value_at(&result, pointer);
            let found = found.map(|raw| String::from_utf8_lossy(&raw).into_owned());
            assert_eq!(found.as_deref(), expected, "{pointer}");
        }
        assert_eq!(value_at(&result, ""), Some(result));
    }
}
