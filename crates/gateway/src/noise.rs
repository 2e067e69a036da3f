//! Randomness, and bytes as hexadecimal digits: for names nobody can guess and pauses nobody shares.

use std::sync::OnceLock;

use countersign_inspect::Noise;

/// The randomness of this process, for the boundaries around texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessNoise;

impl Noise for ProcessNoise {
    fn fresh(&self) -> Option<[u8; 16]> {
        let mut noise = [0; 16];
        getrandom::fill(&mut noise).ok()?;
        Some(noise)
    }

    fn secret(&self) -> Option<[u8; 32]> {
        static SECRET: OnceLock<Option<[u8; 32]>> = OnceLock::new();
        *SECRET.get_or_init(|| {
            let mut secret = [0; 32];
            getrandom::fill(&mut secret).ok()?;
            Some(secret)
        })
    }
}

/// So many random bytes, as digits; nothing where there is no randomness to be had.
pub(crate) fn token(bytes: usize) -> Option<String> {
    let mut noise = vec![0; bytes];
    getrandom::fill(&mut noise).ok()?;
    Some(hex(&noise))
}

/// A number between 0 and 1; a half where there is no randomness to be had.
pub(crate) fn fraction() -> f64 {
    getrandom::u32().map_or(0.5, |bits| f64::from(bits) / f64::from(u32::MAX))
}

/// Bytes as hexadecimal digits. On the path of every call, so without the machinery of `format!`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
    let mut text = vec![0; bytes.len() * 2];
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_as_long_as_asked_and_differ() {
        assert_eq!(hex(&[0, 0xab, 0xff]), "00abff");
        let (one, other) = (token(16).expect("noise"), token(16).expect("noise"));
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
        assert!((0.0..=1.0).contains(&fraction()));
    }
}
