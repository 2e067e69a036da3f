//! A 24-bit digest of a member name, computed while parsing and when a lookup table is built.
//! It sees the length, the first and the last eight bytes, so equal names always agree and different
//! names may collide: every user compares the bytes too. It has no seed and promises no resistance.

use crate::kind::{FINGERPRINT_SHIFT, Kind, NON_ASCII, SHORT};

const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND: u64 = 0xD6E8_FEB8_6659_FD93;

/// The 24-bit fingerprint of a decoded member name.
///
/// ```
/// use countersign_tape::fingerprint;
/// assert_eq!(fingerprint(b"id"), fingerprint("id".as_bytes()));
/// assert!(fingerprint(b"id") < 1 << 24);
/// ```
#[inline]
pub fn fingerprint(decoded: &[u8]) -> u32 {
    match (decoded.first_chunk::<8>(), decoded.last_chunk::<8>()) {
        (Some(head), Some(tail)) => mix(
            u64::from_le_bytes(*head),
            u64::from_le_bytes(*tail),
            decoded.len(),
        ),
        _ => MixedName::short(decoded).fingerprint(),
    }
}

/// A member name of fewer than eight bytes, as a [`Sink`](crate::Sink) is told of it.
#[derive(Debug, Clone, Copy)]
pub struct ShortName {
    pub(crate) length: usize,
    /// Its bytes, the first in the lowest place, and zeros.
    pub(crate) word: u64,
}

impl ShortName {
    /// How many bytes it has.
    #[inline]
    pub const fn length(self) -> usize {
        self.length
    }

    /// The first `length` bytes, if they are fewer than eight and eight can be read.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "asked for every member")]
    pub(crate) fn read(inside: &[u8], length: usize) -> Option<Self> {
        let window = u64::from_le_bytes(*inside.first_chunk()?);
        (length < 8).then(|| Self {
            length,
            word: window & ((1 << (8 * length)) - 1),
        })
    }
}

/// A name of fewer than eight bytes, mixed. An odd factor loses nothing, so the lowest 56 bits still are the name; the
/// highest 24 of those are its fingerprint, and what is above them means nothing.
#[derive(Clone, Copy)]
pub(crate) struct MixedName(u64);

impl MixedName {
    /// Mixes a name of fewer than eight bytes.
    #[inline]
    pub(crate) fn short(name: &[u8]) -> Self {
        let bytes = name.iter().rev();
        Self::from_word(bytes.fold(0, |word, &byte| word << 8 | u64::from(byte)))
    }

    /// Mixes a word with the first byte in the lowest place, and zeros.
    #[inline]
    pub(crate) const fn from_word(word: u64) -> Self {
        Self(word.wrapping_mul(FIRST))
    }

    #[inline]
    pub(crate) const fn fingerprint(self) -> u32 {
        self.high() & ((1 << 24) - 1)
    }

    /// As a key's node has it: kind, flags and fingerprint, and the bits below the fingerprint.
    #[inline]
    pub(crate) const fn parts(self, flags: u32) -> (u32, u32) {
        let meta = self.high() << FINGERPRINT_SHIFT | Kind::Key as u32 | SHORT | flags;
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
        (meta, self.0 as u32)
    }

    #[inline]
    const fn high(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Tells short member names apart at one look: a key without escapes has the tag of a name if, and only if, it is
/// that name.
///
/// ```
/// use countersign_tape::{Limits, NameTag, Tape};
/// let tape = Tape::parse(br#"{"id":7}"#, &Limits::default())?;
/// assert_eq!(Some(tape.node(1).tag()), NameTag::from_name("id"));
/// assert_ne!(Some(tape.node(1).tag()), NameTag::from_name("ID"));
/// assert_eq!(NameTag::from_name("identifier"), None);
/// # Ok::<(), countersign_tape::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameTag(u64);

impl NameTag {
    /// The tag of no key.
    pub const NONE: Self = Self(0);

    /// The tag of a name, if it has fewer than eight bytes and no NUL, which only an escape can write.
    pub fn from_name(name: &str) -> Option<Self> {
        if name.len() >= 8 || name.contains('\0') {
            return None;
        }
        let flags = if name.is_ascii() { 0 } else { NON_ASCII };
        let (meta, next) = MixedName::short(name.as_bytes()).parts(flags);
        Some(Self::from_parts(meta, next))
    }

    #[inline]
    pub(crate) const fn from_parts(meta: u32, next: u32) -> Self {
        Self((meta as u64) << 32 | next as u64)
    }
}

#[inline]
fn mix(head: u64, tail: u64, length: usize) -> u32 {
    let folded = head ^ tail.rotate_left(29) ^ (length as u64).wrapping_mul(SECOND);
    // The highest bits of a product depend on every bit of its factors. The shift leaves 24.
    u32::try_from(folded.wrapping_mul(FIRST) >> 40).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_fingerprints_agree() {
        for name in ["", "a", "id", "é", "seven77"] {
            let tag = NameTag::from_name(name).expect("it is short");
            let digest = u64::from(fingerprint(name.as_bytes()));
            assert_eq!(tag.0 >> (32 + FINGERPRINT_SHIFT), digest, "{name}");
        }
    }

    #[test]
    fn a_name_with_a_nul_is_not_taken_for_a_shorter_one() {
        assert_eq!(NameTag::from_name("a\0"), None);
        assert_eq!(NameTag::from_name("\0"), None);
    }

    #[test]
    fn different_names_have_different_tags() {
        let names = [
            "", "a", "b", "ab", "ba", "abcdef", "abcdefg", "abcdefh", "bbcdefg",
        ];
        for (index, one) in names.iter().enumerate() {
            for other in &names[..index] {
                assert_ne!(NameTag::from_name(one), NameTag::from_name(other));
            }
        }
    }
}
