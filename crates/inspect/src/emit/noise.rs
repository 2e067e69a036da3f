//! What nobody can guess, as an argument: this crate has no randomness of its own. Serves stage 4f.

/// Where boundaries get their nonces from.
pub trait Noise {
    /// Sixteen fresh bytes from a cryptographic source; nothing where there are none to be had.
    fn fresh(&self) -> Option<[u8; 16]>;

    /// The secret of this process, for nonces that are the same for the same text; nothing if there is none.
    fn secret(&self) -> Option<[u8; 32]>;
}

/// No randomness at all. Where the settings ask for a boundary, the result is refused: one that can be guessed would be
/// worse than none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence;

impl Noise for Silence {
    fn fresh(&self) -> Option<[u8; 16]> {
        None
    }

    fn secret(&self) -> Option<[u8; 32]> {
        None
    }
}
