//! Shapes rather than literals: the generic bar token of families no list has yet, and the boundary tags of this
//! crate's own wrapper. Works on the match view, from an opening angle, over a bounded stretch.

/// Characters a bar token may have between its bars.
const MAX_INNER: usize = 48;
/// Blanks a sloppy boundary tag may have around its slash.
const MAX_BLANKS: usize = 8;
/// Bytes of attributes a boundary tag may have.
const MAX_ATTRIBUTES: usize = 512;
/// Name all boundary tags begin with.
pub(crate) const BOUNDARY: &str = "untrusted-";

/// Length of a generic bar token at the start of `view`: angle, bar, 1 to 48 characters without blanks or angles
/// of which one is a letter or digit, bar, angle. Pipe operators of functional languages have blanks or no letter.
pub(crate) fn bar_token_len(view: &[u8], steps: &mut u64) -> Option<usize> {
    let inner = view.strip_prefix(b"<|")?;
    let mut characters = 0;
    let mut wordy = false;
    for (at, &byte) in inner.iter().enumerate() {
        *steps += 1;
        match byte {
            b'|' if wordy && inner.get(at + 1) == Some(&b'>') => return Some(at + 4),
            b'<' | b'>' | b' ' | b'\t'..=b'\r' => return None,
            _ => {}
        }
        // Continuation bytes belong to the character before them.
        characters += usize::from(byte & 0xC0 != 0x80);
        if characters > MAX_INNER {
            return None;
        }
        wordy |= byte.is_ascii_alphanumeric() || !byte.is_ascii();
    }
    None
}

/// Length of a boundary tag, opening or closing, at the start of `view`.
pub(crate) fn boundary_len(view: &[u8], steps: &mut u64) -> Option<usize> {
    let rest = skip_blanks(view.strip_prefix(b"<")?);
    let rest = skip_blanks(rest.strip_prefix(b"/").unwrap_or(rest));
    let (name, rest) = rest.split_at_checked(BOUNDARY.len())?;
    if !name.eq_ignore_ascii_case(BOUNDARY.as_bytes()) {
        return None;
    }
    let id = rest
        .iter()
        .take(128)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        .count();
    let named = view.len() - rest.len() + id;
    let attributes = rest
        .iter()
        .skip(id)
        .take(MAX_ATTRIBUTES)
        .position(|byte| matches!(byte, b'<' | b'>'));
    *steps += (id + attributes.unwrap_or(MAX_ATTRIBUTES)) as u64;
    match attributes {
        Some(length) if rest.get(id + length) == Some(&b'>') => Some(named + length + 1),
        _ => Some(named),
    }
}

fn skip_blanks(bytes: &[u8]) -> &[u8] {
    let blanks = bytes
        .iter()
        .take(MAX_BLANKS)
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    bytes.get(blanks..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    fn bar_token_len(view: &[u8]) -> Option<usize> {
        super::bar_token_len(view, &mut 0)
    }

    fn boundary_len(view: &[u8]) -> Option<usize> {
        super::boundary_len(view, &mut 0)
    }

    #[test]
    fn bar_tokens_are_measured() {
        assert_eq!(bar_token_len(b"<|im_start|>x"), Some(12));
        assert_eq!(bar_token_len(b"<|a|b|>"), Some(7));
        assert_eq!(bar_token_len("<|новый|>".as_bytes()), Some(14));
        let longest = format!("<|{}|>", "x".repeat(48));
        assert_eq!(bar_token_len(longest.as_bytes()), Some(52));
    }

    #[test]
    fn operators_are_not_bar_tokens() {
        let too_long = format!("<|{}|>", "x".repeat(49));
        for text in [
            "<||>", "<|||>", "<| f |>", "x <| y", "<|>", "<|a>", "<|a<|b|>", "<|a\n|>", &too_long,
        ] {
            assert_eq!(bar_token_len(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn boundary_tags_are_found_in_sloppy_forms() {
        for whole in [
            "<untrusted-0f server=\"a\">",
            "</untrusted-0f>",
            "< / UNTRUSTED-0f >",
            "</untrusted->",
        ] {
            let text = format!("{whole} rest");
            assert_eq!(boundary_len(text.as_bytes()), Some(whole.len()), "{whole}");
        }
        assert_eq!(boundary_len(b"</untrusted-0f <b>"), Some(14));
        assert_eq!(boundary_len(b"<untrusted>"), None);
    }
}
