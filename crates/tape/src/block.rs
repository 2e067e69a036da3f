//! Reads sixteen bytes of a string at once, with the vectors every processor of an architecture has.

use wide::i8x16;

/// Bytes of one look.
pub(crate) const BLOCK: usize = 16;

/// Where the first byte stands that is not plain in a string: a quote, a backslash, a control character, or one
/// beyond ASCII.
#[inline(always)]
#[expect(clippy::inline_always, reason = "asked for every string")]
pub(crate) fn first_unusual(block: &[u8; BLOCK]) -> Option<usize> {
    let bytes = i8x16::from_ne_bytes(*block);
    // Bytes beyond ASCII are negative here, so that they go with the control characters.
    let low = bytes.simd_lt(i8x16::splat(0x20));
    let quote = bytes.simd_eq(i8x16::splat(0x22));
    let backslash = bytes.simd_eq(i8x16::splat(0x5C));
    let hits = (low | quote | backslash).to_bitmask();
    (hits != 0).then(|| hits.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_plain_or_not_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for place in 0..BLOCK {
                let mut block = [b'a'; BLOCK];
                block[place] = byte;
                let plain = matches!(byte, b' '..=b'~' | 0x7F) && !matches!(byte, b'"' | b'\\');
                let expected = (!plain).then_some(place);
                assert_eq!(first_unusual(&block), expected, "{byte:#x} at {place}");
            }
        }
    }

    #[test]
    fn the_first_of_several_counts() {
        let mut block = [b'"'; BLOCK];
        for place in 0..BLOCK {
            assert_eq!(first_unusual(&block), Some(place));
            block[place] = b'.';
        }
        assert_eq!(first_unusual(&block), None);
    }
}
