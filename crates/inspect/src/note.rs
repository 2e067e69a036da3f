//! A progress or log message from an upstream. It may reach a model like any other text, so it
//! has a type of its own: bounded in size, and (once there is a sanitiser) cleaned.

use std::fmt;

use bytes::Bytes;

/// The largest note that is passed on, in bytes.
pub const MAX_NOTE_BYTES: usize = 64 * 1024;

/// A notification that may be passed on.
pub struct Note {
    bytes: Bytes,
}

impl Note {
    /// Admits a notification; `None` if it is too large, in which case it is dropped.
    pub fn admit(message: impl Into<Bytes>) -> Option<Self> {
        let bytes = message.into();
        (bytes.len() <= MAX_NOTE_BYTES).then_some(Self { bytes })
    }

    /// What may be sent.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

impl fmt::Debug for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Note")
            .field("len", &self.bytes.len())
            .finish()
    }
}
