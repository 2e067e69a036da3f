//! Reads sixty-four bytes at once: each query gives one bit per byte, the first byte in the lowest bit. Used for strings
//! with escapes, and by other crates that search JSON text before it is decoded.
//!
//! Which vectors a processor has is known when the program runs, so a function that uses them takes them as an argument and is
//! compiled once for each kind: `dispatch!` chooses. All that it calls with a [`Block`] must be inlined into it.

#![expect(
    clippy::inline_always,
    reason = "instructions of a processor are used only in what is inlined into the function that was chosen for it"
)]

use fearless_simd::{Simd, i8x64, mask8x64, prelude::*, u8x64};

/// Bits at odd places.
const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

/// Sixty-four bytes, in vectors of the processor that runs the program.
///
/// ```
/// use countersign_tape::Block;
/// use fearless_simd::{Level, dispatch};
///
/// dispatch!(Level::new(), vectors => {
///     let block = Block::padded(vectors, br#"{"a":1}"#, b' ');
///     assert_eq!(block.positions([b'"']), 0b1010);
///     assert_eq!(block.positions([b'{', b'}']), 0b100_0001);
///     assert!(!block.has([b'[']));
/// });
/// ```
#[derive(Clone, Copy)]
pub struct Block<S: Simd>(u8x64<S>);

/// Bytes of a block.
pub const BLOCK_LENGTH: usize = 64;

impl<S: Simd> Block<S> {
    /// The first bytes, as many as a block has, and `filler` behind them if there are fewer.
    #[inline(always)]
    pub fn padded(vectors: S, bytes: &[u8], filler: u8) -> Self {
        let block = bytes.first_chunk().copied().unwrap_or_else(|| {
            let mut block = [filler; BLOCK_LENGTH];
            block[..bytes.len()].copy_from_slice(bytes);
            block
        });
        Self(u8x64::simd_from(vectors, block))
    }

    /// Where any of these bytes stand.
    #[inline(always)]
    pub fn positions<const N: usize>(self, bytes: [u8; N]) -> u64 {
        self.is_any(bytes).to_bitmask()
    }

    /// Whether it has any of these bytes.
    #[inline(always)]
    pub fn has<const N: usize>(self, bytes: [u8; N]) -> bool {
        self.is_any(bytes).any_true()
    }

    /// Whether it has any of these bytes, DEL, or one of a character beyond ASCII.
    #[inline(always)]
    pub fn has_or_exceeds_ascii<const N: usize>(self, bytes: [u8; N]) -> bool {
        let beyond = self.0.simd_ge(0x7F);
        (beyond | self.is_any(bytes)).any_true()
    }

    /// Where bytes between these two stand, both included.
    #[inline(always)]
    pub fn positions_between(self, first: u8, last: u8) -> u64 {
        let distance = self.0 - first;
        distance.simd_le(last.wrapping_sub(first)).to_bitmask()
    }

    /// Where bytes beyond ASCII stand.
    #[inline(always)]
    pub fn beyond_ascii(self) -> u64 {
        self.0.simd_ge(0x80).to_bitmask()
    }

    /// Where control characters and bytes beyond ASCII stand.
    #[inline(always)]
    pub(crate) fn unprintable(self) -> u64 {
        // Bytes beyond ASCII are negative here.
        let signed: i8x64<S> = self.0.bitcast();
        signed.simd_lt(0x20).to_bitmask()
    }

    #[inline(always)]
    fn is_any<const N: usize>(self, bytes: [u8; N]) -> mask8x64<S> {
        let mut any = mask8x64::splat(self.0.simd, false);
        for byte in bytes {
            any |= self.0.simd_eq(byte);
        }
        any
    }
}

impl<S: Simd> std::fmt::Debug for Block<S> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Block({})", self.0.as_slice().escape_ascii())
    }
}

/// Which bytes of a string are escaped, block by block.
#[derive(Debug, Clone, Copy, Default)]
pub struct Escapes {
    open: bool,
}

impl Escapes {
    /// Whether the next block begins with an escaped byte.
    #[inline]
    pub fn is_open(self) -> bool {
        self.open
    }

    /// Where the bytes of the next block stand that follow a backslash which is not escaped itself, given where all its
    /// backslashes stand. A run of backslashes escapes the byte behind it if its length is odd; one subtraction finds
    /// the ends of all runs.
    ///
    /// ```
    /// use countersign_tape::Escapes;
    /// // Where the backslashes of `\"a\\` stand.
    /// assert_eq!(Escapes::default().next(0b1_1001), 0b1_0010);
    /// ```
    #[inline]
    pub fn next(&mut self, backslashes: u64) -> u64 {
        let first = u64::from(self.open);
        let begins = backslashes & !first;
        let runs = ((begins << 1) | ODD).wrapping_sub(begins) ^ ODD;
        self.open = runs & backslashes & (1 << 63) != 0;
        runs ^ (backslashes | first)
    }
}

/// The places of a mask, lowest first.
///
/// ```
/// assert!(countersign_tape::each_place(0b101).eq([0, 2]));
/// ```
#[inline]
pub fn each_place(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        place
    })
}

/// Vectors of this processor: the widest, those that every processor of its kind has, and some between.
#[cfg(test)]
pub(crate) fn levels() -> impl Iterator<Item = fearless_simd::Level> {
    use fearless_simd::Level;
    #[cfg(target_arch = "x86_64")]
    let between = Level::new().as_avx2().map(Level::Avx2);
    #[cfg(not(target_arch = "x86_64"))]
    let between = None;
    [Level::new(), Level::baseline()].into_iter().chain(between)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use fearless_simd::{Level, dispatch};

    use super::*;

    #[test]
    fn every_byte_is_found_wherever_it_stands() {
        for level in levels() {
            dispatch!(level, vectors => every_byte_is_found(vectors));
        }
    }

    fn every_byte_is_found<S: Simd>(vectors: S) {
        for byte in 0..=u8::MAX {
            for place in 0..BLOCK_LENGTH {
                let mut bytes = [b'a'; BLOCK_LENGTH];
                bytes[place] = byte;
                let (block, bit) = (Block::padded(vectors, &bytes, b' '), 1 << place);
                let is = |test: bool| if test { bit } else { 0 };
                assert_eq!(block.positions([byte]) & bit, bit);
                assert_eq!(
                    block.positions([b'"', b'[']),
                    is(matches!(byte, b'"' | b'['))
                );
                assert_eq!(block.has([b'"', b'[']), matches!(byte, b'"' | b'['));
                assert_eq!(block.beyond_ascii(), is(!byte.is_ascii()));
                assert_eq!(
                    block.has_or_exceeds_ascii([b'"']),
                    byte == b'"' || byte >= 0x7F
                );
                assert_eq!(
                    block.positions_between(b'A', b'Z'),
                    is(byte.is_ascii_uppercase())
                );
                assert_eq!(block.unprintable(), is(byte < 0x20 || !byte.is_ascii()));
            }
        }
    }

    proptest! {
        #[test]
        fn escapes_are_told_from_escaped_backslashes(text in "[\\\\a]{0,300}") {
            let mut escapes = Escapes::default();
            let mut escaped = Vec::new();
            for chunk in text.as_bytes().chunks(BLOCK_LENGTH) {
                let backslashes = dispatch!(Level::new(), vectors => {
                    Block::padded(vectors, chunk, b' ').positions([b'\\'])
                });
                let mask = escapes.next(backslashes);
                escaped.extend((0..chunk.len()).map(|place| mask >> place & 1 == 1));
            }
            let (mut expected, mut is_open) = (Vec::new(), false);
            for byte in text.bytes() {
                expected.push(is_open);
                is_open = byte == b'\\' && !is_open;
            }
            prop_assert_eq!(escaped, expected);
            prop_assert_eq!(escapes.is_open(), is_open && text.len().is_multiple_of(BLOCK_LENGTH));
        }
    }
}
