//! Randomness: for tokens that cannot be guessed and pauses that differ between connections.

use std::sync::OnceLock;

use countersign_inspect::{Randomness, encode_hex};

/// The randomness of this process, for the boundaries around texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessRandomness;

impl Randomness for ProcessRandomness {
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

/// `length` random bytes as hexadecimal digits; `None` if the system gives no randomness.
pub(crate) fn token(length: usize) -> Option<String> {
    let mut bytes = vec![0; length];
    getrandom::fill(&mut bytes).ok()?;
    Some(encode_hex(&bytes))
}

/// A number between 0 and 1; a half if the system gives no randomness.
pub(crate) fn fraction() -> f64 {
    getrandom::u32().map_or(0.5, |bits| f64::from(bits) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_as_long_as_asked_and_differ() {
        let (one, other) = (token(16).expect("noise"), token(16).expect("noise"));
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
        assert!((0.0..=1.0).contains(&fraction()));
    }
}
