//! A 24-bit digest of a member name, computed while parsing and by whoever builds a lookup table.
//! It sees the length, the first and the last eight bytes, so equal names always agree and different
//! names may collide: every user compares the bytes too. It has no seed and promises no resistance.

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
        _ => short(decoded),
    }
}

/// Fewer than eight bytes: the zero-padded word counts as head and tail.
#[inline]
fn short(decoded: &[u8]) -> u32 {
    let mut word = 0;
    for (place, &byte) in decoded.iter().enumerate() {
        word |= u64::from(byte) << (8 * place);
    }
    mix(word, word, decoded.len())
}

/// The fingerprint of `bytes[start..end]` when the eight bytes at `start` may be loaded whole.
#[inline]
pub(crate) fn fingerprint_within(bytes: &[u8], start: usize, end: usize) -> u32 {
    let length = end - start;
    let word = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<8>());
    let Some(head) = word(start).map(|head| u64::from_le_bytes(*head)) else {
        return fingerprint(bytes.get(start..end).unwrap_or_default());
    };
    if length < 8 {
        let word = head & ((1 << (8 * length)) - 1);
        return mix(word, word, length);
    }
    let tail = word(end - 8).map_or(0, |tail| u64::from_le_bytes(*tail));
    mix(head, tail, length)
}

#[inline]
fn mix(head: u64, tail: u64, length: usize) -> u32 {
    let folded =
        (head ^ tail.rotate_left(29) ^ (length as u64).wrapping_mul(SECOND)).wrapping_mul(FIRST);
    let mixed = (folded ^ (folded >> 32)).wrapping_mul(SECOND);
    // The shift leaves 24 bits.
    u32::try_from(mixed >> 40).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree_for_every_length() {
        let text = "abcdefghijklmnopqrstuvwxyz0123456789";
        for end in 0..text.len() {
            let within = fingerprint_within(text.as_bytes(), 0, end);
            assert_eq!(within, fingerprint(&text.as_bytes()[..end]), "length {end}");
        }
    }

    #[test]
    fn short_names_near_the_end_agree() {
        let text = b"xxid";
        assert_eq!(fingerprint_within(text, 2, 4), fingerprint(b"id"));
    }
}
