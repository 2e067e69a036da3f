//! Wide steps over text in which the walk would find nothing: plain ASCII, and letters of blocks without a folding, hidden or
//! combining character. Decides by bytes alone, so that whole chunks are judged at once.

/// Offset of the next stretch that may have something to stop at.
pub(crate) fn skip_inert(text: &str, mut at: usize) -> usize {
    const WIDE: usize = 32;
    while let Some(chunk) = text.as_bytes().get(at..at + WIDE) {
        if has_noteworthy(chunk) {
            break;
        }
        at += WIDE;
    }
    // The last character of an inert chunk may end in the next one; it is inert all the same.
    text.ceil_char_boundary(at)
}

/// Whether a chunk has more than plain ASCII and the letters of blocks that are inert throughout: Cyrillic to U+047F,
/// ideographs from U+4000, Hangul from U+B000. Reduces it to one bit without a branch.
fn has_noteworthy(chunk: &[u8]) -> bool {
    let mut found = 0_u8;
    for &byte in chunk {
        let outside = byte.wrapping_add(1).cast_signed() < 0x21;
        let layout = byte == b'\n' || byte == b'\t';
        let inert_lead =
            byte | 1 == 0xD1 || byte.wrapping_sub(0xE4) < 6 || byte.wrapping_sub(0xEB) < 2;
        let continuation = byte.cast_signed() < -64;
        found |= u8::from(outside && !layout && !inert_lead && !continuation);
    }
    found != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chars::{Chars, Sort};

    #[test]
    fn skipped_letters_are_inert() {
        let skipped = ('\u{80}'..=char::MAX).filter(|c| !has_noteworthy(c.to_string().as_bytes()));
        let mut count = 0;
        for c in skipped {
            assert_eq!(Chars::shared().sort(c), Sort::Inert, "{c:?}");
            count += 1;
        }
        assert_eq!(count, 128 + 6 * 4096 + 2 * 4096);
    }
}
