//! Nonces for the tags around texts, from the operating system.

use std::sync::OnceLock;

use countersign_inspect::Randomness;

/// The operating system's randomness.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn fresh(&self) -> Option<[u8; 16]> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(bytes)
    }

    fn secret(&self) -> Option<[u8; 32]> {
        static SECRET: OnceLock<Option<[u8; 32]>> = OnceLock::new();
        *SECRET.get_or_init(|| {
            let mut bytes = [0; 32];
            getrandom::fill(&mut bytes).ok()?;
            Some(bytes)
        })
    }
}
