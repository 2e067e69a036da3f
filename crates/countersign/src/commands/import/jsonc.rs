//! JSON as editors write it: comments and trailing commas become spaces, byte for byte, so that every position in what
//! is left is the position in the original. Any other deviation from JSON is an error.

/// The same text without comments and trailing commas, exactly as long.
pub(super) fn blanked(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    blank(&mut bytes, 0, at);
    // The last comma that nothing but space has followed yet.
    let mut comma = None;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        let end = match (byte, next) {
            (b'"', _) => {
                comma = None;
                string_end(&bytes, at)
            }
            (b'/', Some(b'/')) => comment(&mut bytes, at, b"\n", 0),
            (b'/', Some(b'*')) => comment(&mut bytes, at, b"*/", 2),
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    blank(&mut bytes, comma, comma + 1);
                }
                at + 1
            }
            (b',', _) => {
                comma = Some(at);
                at + 1
            }
            (b' ' | b'\t' | b'\r' | b'\n', _) => at + 1,
            _ => {
                comma = None;
                at + 1
            }
        };
        at = end;
    }
    // Whole characters were replaced, each by as many spaces as it has bytes.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Blanks a comment up to `end` and `kept` bytes of that; gives where it ends.
fn comment(bytes: &mut [u8], start: usize, end: &[u8], kept: usize) -> usize {
    let rest = bytes.get(start + 2..).unwrap_or_default();
    let length = rest.windows(end.len()).position(|window| window == end);
    let stop = length.map_or(bytes.len(), |length| start + 2 + length + kept);
    blank(bytes, start, stop);
    stop
}

fn blank(bytes: &mut [u8], start: usize, end: usize) {
    for byte in bytes.get_mut(start..end).unwrap_or_default() {
        if !matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

fn string_end(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::blanked;

    #[test]
    fn what_editors_add_becomes_space() {
        for (text, expected) in [
            (r#"{"a": 1}"#, r#"{"a": 1}"#),
            ("{// x\n\"a\":1,}", "{    \n\"a\":1 }"),
            ("[1, /* é */ 2 , ]", "[1,          2   ]"),
            ("[1, // last\n]", "[1         \n]"),
            (r#"["//", "/*", "\",]"]"#, r#"["//", "/*", "\",]"]"#),
            ("/* open", "       "),
            ("{\"a\":\"open", "{\"a\":\"open"),
            ("\u{feff}{}", "   {}"),
            ("[,]", "[ ]"),
            ("{\"a\":1,,}", "{\"a\":1, }"),
        ] {
            let blanked = blanked(text);
            assert_eq!(blanked, expected);
            assert_eq!(blanked.len(), text.len());
        }
    }
}
