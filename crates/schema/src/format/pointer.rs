//! `json-pointer` (RFC 6901, the string form) and `relative-json-pointer` (the draft's form
//! without index manipulation). Pointers are checked, never followed.

/// Whether `text` is a JSON pointer.
pub(super) fn is_pointer(text: &str) -> bool {
    if !text.is_empty() && !text.starts_with('/') {
        return false;
    }
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'~' && !matches!(bytes.next(), Some(b'0' | b'1')) {
            return false;
        }
    }
    true
}

/// Whether `text` is a relative JSON pointer: a count without leading zeros, then `#` or a
/// pointer.
pub(super) fn is_relative_pointer(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (count, rest) = text.split_at(digits);
    let counts = !count.is_empty() && (count == "0" || !count.starts_with('0'));
    counts && (rest == "#" || is_pointer(rest))
}
