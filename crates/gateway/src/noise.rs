//! Randomness, and bytes as hexadecimal digits: for names nobody can guess and pauses nobody shares.

use std::fmt::Write as _;

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

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
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
