//! Reads sixty-four bytes at once: each query gives one bit per byte, the first byte in the lowest bit. Used for strings
//! with escapes, and by other crates that search JSON text before it is decoded.

use wide::{i8x64, u8x64};

/// Bits at odd places.
const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

/// Sixty-four bytes, in the widest vectors that the build may use.
///
/// ```
/// use countersign_tape::Block;
/// let block = Block::padded(br#"{"a":1}"#, b' ');
/// assert_eq!(block.positions([b'"']), 0b1010);
/// assert_eq!(block.positions([b'{', b'}']), 0b100_0001);
/// assert!(!block.has([b'[']));
/// ```
#[derive(Clone, Copy)]
pub struct Block(u8x64);

impl Block {
    /// Bytes of a block.
    pub const LENGTH: usize = 64;

    /// The bytes of a block.
    #[inline]
    pub fn new(bytes: &[u8; Self::LENGTH]) -> Self {
        Self(u8x64::from_ne_bytes(*bytes))
    }

    /// At most as many bytes as a block has, and `filler` behind them.
    #[inline]
    pub fn padded(bytes: &[u8], filler: u8) -> Self {
        let mut block = [filler; Self::LENGTH];
        let length = bytes.len().min(Self::LENGTH);
        block[..length].copy_from_slice(&bytes[..length]);
        Self::new(&block)
    }

    /// Where any of these bytes stand.
    #[inline]
    pub fn positions<const N: usize>(self, bytes: [u8; N]) -> u64 {
        self.is_any(bytes).to_bitmask()
    }

    /// Whether it has any of these bytes.
    #[inline]
    pub fn has<const N: usize>(self, bytes: [u8; N]) -> bool {
        self.is_any(bytes).any()
    }

    /// Whether it has any of these bytes, DEL, or one of a character beyond ASCII.
    #[inline]
    pub fn has_or_exceeds_ascii<const N: usize>(self, bytes: [u8; N]) -> bool {
        // One more than DEL has the highest bit, as one more than any other byte of UTF-8 beyond ASCII.
        let beyond = self.0 + u8x64::splat(1);
        (beyond | self.is_any(bytes)).any()
    }

    /// Where bytes between these two stand, both included.
    #[inline]
    pub fn positions_between(self, first: u8, last: u8) -> u64 {
        let distance = self.0 - u8x64::splat(first);
        let most = u8x64::splat(last.wrapping_sub(first));
        distance.min(most).simd_eq(distance).to_bitmask()
    }

    /// Where bytes beyond ASCII stand.
    #[inline]
    pub fn beyond_ascii(self) -> u64 {
        self.0.to_bitmask()
    }

    /// Where control characters and bytes beyond ASCII stand.
    #[inline]
    pub(crate) fn unprintable(self) -> u64 {
        // Bytes beyond ASCII are negative here.
        let signed = i8x64::from_ne_bytes(self.0.to_ne_bytes());
        signed.simd_lt(i8x64::splat(0x20)).to_bitmask()
    }

    #[inline]
    fn is_any<const N: usize>(self, bytes: [u8; N]) -> u8x64 {
        // By reference: arrays handed on by value are copied wherever the optimiser stops short of inlining all of it.
        let mut any = u8x64::ZERO;
        for byte in &bytes {
            any |= self.0.simd_eq(u8x64::splat(*byte));
        }
        any
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.0.to_ne_bytes();
        write!(out, "Block({})", bytes.escape_ascii())
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
    /// use countersign_tape::{Block, Escapes};
    /// let block = Block::padded(br#"\"a\\"#, b' ');
    /// assert_eq!(Escapes::default().next(block.positions([b'\\'])), 0b1_0010);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_is_found_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for place in 0..Block::LENGTH {
                let mut bytes = [b'a'; Block::LENGTH];
                bytes[place] = byte;
                let (block, bit) = (Block::new(&bytes), 1 << place);
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
                    byte == b'"' || (0x7F..0xFF).contains(&byte)
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
            for chunk in text.as_bytes().chunks(Block::LENGTH) {
                let mask = escapes.next(Block::padded(chunk, b' ').positions([b'\\']));
                escaped.extend((0..chunk.len()).map(|place| mask >> place & 1 == 1));
            }
            let (mut expected, mut is_open) = (Vec::new(), false);
            for byte in text.bytes() {
                expected.push(is_open);
                is_open = byte == b'\\' && !is_open;
            }
            prop_assert_eq!(escaped, expected);
            prop_assert_eq!(escapes.is_open(), is_open && text.len().is_multiple_of(Block::LENGTH));
        }
    }
}
