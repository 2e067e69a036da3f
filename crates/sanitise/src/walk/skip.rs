//! Wide steps over text in which the walk would find nothing: plain ASCII, and letters of blocks without a folding, hidden or
//! combining character. Decides by bytes alone, so that whole chunks are judged at once.

use crate::chars::{CharKind, Chars};

/// More nonspacing marks than this on one base are not spelling.
pub(crate) const MARKS: u32 = 4;

/// A stretch of characters that need no edit, and the character that ended it.
pub(crate) struct QuietStretch {
    /// Bytes of the stretch.
    pub(crate) length: usize,
    /// Marks at its end.
    pub(crate) marks: u32,
    /// The character behind it, which the walk has to look at.
    pub(crate) found: Option<(char, CharKind)>,
}

/// Passes over characters that need nothing. A mark needs nothing behind a letter that is not ASCII. A loop of its own, with
/// nothing to keep in mind, because it is the hottest of the crate.
#[inline(never)]
pub(crate) fn skip_quiet(block: &str, chars: &Chars) -> QuietStretch {
    let mut marks = 0;
    let mut on_letter = false;
    for (length, c) in block.char_indices() {
        match chars.kind(c) {
            CharKind::Inert => {
                on_letter = !c.is_ascii();
                marks = 0;
            }
            CharKind::Mark if on_letter && marks < MARKS => marks += 1,
            kind => {
                let found = Some((c, kind));
                return QuietStretch {
                    length,
                    marks,
                    found,
                };
            }
        }
    }
    QuietStretch {
        length: block.len(),
        marks,
        found: None,
    }
}

/// Bytes judged at once.
const WIDE: usize = 32;

/// Offset of the next stretch that may have something to stop at.
pub(crate) fn skip_inert(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    let chunk = |at: usize| bytes.get(at..)?.first_chunk::<WIDE>();
    // A lead byte is judged with its successor.
    while let (Some(chunk), Some(shifted)) = (chunk(at), chunk(at + 1)) {
        if has_noteworthy(chunk, shifted) {
            break;
        }
        at += WIDE;
    }
    // The last character of an inert chunk may end in the next one; it is inert all the same.
    text.ceil_char_boundary(at)
}

/// Whether a chunk has more than plain ASCII and letters that need nothing. Reduces it to one bit without a branch.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "a branch would keep this from becoming vector instructions"
)]
fn has_noteworthy(chunk: &[u8; WIDE], shifted: &[u8; WIDE]) -> bool {
    let mut found = 0_u8;
    for (&byte, &next) in chunk.iter().zip(shifted) {
        let outside = byte.wrapping_add(1).cast_signed() < 0x21;
        let layout = (byte == b'\n') | (byte == b'\t');
        let continuation = byte.cast_signed() < -64;
        let plain = layout | continuation | is_inert_lead(byte, next);
        found |= u8::from(outside & !plain);
    }
    found != 0
}

/// Whether all characters that begin with these two bytes are inert. Only scripts with many of them are worth a
/// comparison.
#[inline]
#[expect(
    clippy::needless_bitwise_bool,
    reason = "a branch would keep this from becoming vector instructions"
)]
fn is_inert_lead(byte: u8, next: u8) -> bool {
    let latin = (byte == 0xC3) | ((byte == 0xE1) & (next == 0xBB));
    let greek = ((byte == 0xCE) & (next >= 0x88)) | ((byte == 0xCF) & (next <= 0x8E));
    let cyrillic = byte | 1 == 0xD1;
    let hebrew = (byte == 0xD7) & (next >= 0x90);
    let arabic =
        ((byte == 0xD8) & (next >= 0xA0)) | ((byte == 0xD9) & (next <= 0x8A)) | (byte == 0xDA);
    let ideographs = byte.wrapping_sub(0xE4) < 6;
    let hangul = ((byte == 0xEA) & (next >= 0xB0)) | (byte.wrapping_sub(0xEB) < 3);
    latin | greek | cyrillic | hebrew | arabic | ideographs | hangul
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_letters_are_inert() {
        let skipped: Vec<char> = ('\u{80}'..=char::MAX)
            .filter(|c| skip_inert(&format!("{c}{}", " ".repeat(80)), 0) > 0)
            .collect();
        for c in &skipped {
            assert_eq!(Chars::shared().kind(*c), CharKind::Inert, "{c:?}");
        }
        for letter in "éλяשبگ漢한ỡ".chars() {
            assert!(skipped.contains(&letter), "{letter}");
        }
    }
}
