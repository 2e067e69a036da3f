//! What an upstream says about itself: names, descriptions, instructions, whole tool objects. A
//! model reads these as readily as results, so they have a type of their own and (once there is
//! a sanitiser) are cleaned when they are captured.

use std::fmt;

use bytes::Bytes;

/// Text of an upstream's own description that may be shown.
pub struct Listing {
    bytes: Bytes,
}

impl Listing {
    /// Admits a piece of a listing, as JSON or as plain text.
    pub fn admit(text: impl Into<Bytes>) -> Self {
        Self { bytes: text.into() }
    }

    /// What may be sent.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing")
            .field("len", &self.bytes.len())
            .finish()
    }
}
