//! A JSON text on one line: the whitespace between its tokens dropped, its strings untouched.
//! For transports that frame by newline. Valid strings cannot contain a raw newline, so this is enough.

use std::borrow::Cow;

use crate::grammar::{Text, skip_space};
use crate::string::end_of_string;

/// Drop the whitespace outside strings of a checked JSON text. Borrows when there is none.
///
/// ```
/// use countersign_tape::compact;
/// assert_eq!(&*compact(b"{ \"a b\" :\n[1, 2] }\n"), b"{\"a b\":[1,2]}");
/// ```
pub fn compact(bytes: &[u8]) -> Cow<'_, [u8]> {
    let text = Text { bytes };
    let mut out = Vec::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {
                out.extend_from_slice(bytes.get(kept..at).unwrap_or_default());
                at = skip_space(bytes, at);
                kept = at;
            }
            b'"' => {
                // Text that is not JSON after all is kept from here on.
                let behind = end_of_string(text, text.from(at + 1));
                at = behind.map_or(bytes.len(), |(behind, _)| text.offset(behind));
            }
            _ => at += 1,
        }
    }
    if kept == 0 {
        return Cow::Borrowed(bytes);
    }
    out.extend_from_slice(bytes.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}
