//! Reads sixteen bytes of a string at once, with the vectors every processor of an architecture has.

use fearless_simd::{Level, Simd, dispatch, i8x16, prelude::*};

/// Bytes of one look.
pub(crate) const BLOCK: usize = 16;

/// Where the first byte stands that is not plain in a string: a quote, a backslash, a control character, or one
/// beyond ASCII.
#[inline(always)]
#[expect(clippy::inline_always, reason = "asked for every string")]
pub(crate) fn first_unusual(block: &[u8; BLOCK]) -> Option<usize> {
    let hits = dispatch!(Level::baseline(), vectors => unusual(vectors, *block));
    (hits != 0).then(|| hits.trailing_zeros() as usize)
}

/// Where the bytes stand that are not plain, as bits.
#[inline(always)]
#[expect(clippy::inline_always, reason = "asked for every string")]
fn unusual<S: Simd>(vectors: S, block: [u8; BLOCK]) -> u64 {
    let bytes = i8x16::simd_from(vectors, block.map(u8::cast_signed));
    // Bytes beyond ASCII are negative here, so that they go with the control characters.
    let low = bytes.simd_lt(0x20);
    let quote = bytes.simd_eq(0x22);
    let backslash = bytes.simd_eq(0x5C);
    (low | quote | backslash).to_bitmask()
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
