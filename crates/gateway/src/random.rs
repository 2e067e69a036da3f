//! Randomness: for tokens that cannot be guessed and pauses that differ between connections.

use std::sync::OnceLock;

use countersign_inspect::Randomness;
pub(crate) use countersign_login::random_token as token;

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

/// A number between 0 and 1; a half if the system gives no randomness.
pub(crate) fn fraction() -> f64 {
    getrandom::u32().map_or(0.5, |bits| f64::from(bits) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_is_between_0_and_1() {
        assert!((0.0..=1.0).contains(&fraction()));
    }
}
