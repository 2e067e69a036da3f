//! Randomness for boundary tags, as an argument: this crate has no source of randomness of its own.

/// A source of nonces for boundary tags.
pub trait Randomness {
    /// Sixteen fresh bytes from a cryptographic source; `None` if the source fails.
    fn fresh(&self) -> Option<[u8; 16]>;

    /// The secret of this process, for nonces that are the same for the same text; `None` if there is none.
    fn secret(&self) -> Option<[u8; 32]>;
}

/// No randomness. Where the settings ask for a boundary, the result is refused, because a boundary that can be guessed
/// gives false safety.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRandomness;

impl Randomness for NoRandomness {
    fn fresh(&self) -> Option<[u8; 16]> {
        None
    }

    fn secret(&self) -> Option<[u8; 32]> {
        None
    }
}
