//! Changes to single members of a reply that is written already. All other bytes stay.

use bytes::Bytes;
use countersign_tape::{Edits, ScanLimits, Span, scan};
use memchr::memmem;

use super::{Body, Reply};

impl Reply {
    /// The reply with what `edit` changes in its result, which it is given with the message. A stream stays as it is, and so
    /// does a reply without a result.
    pub(super) fn edit_result(self, edit: impl FnOnce(&[u8], Span, &mut Edits<'_>)) -> Self {
        if !matches!(self.body, Body::Whole { .. }) {
            return self;
        }
        let message = self.body.into_bytes();
        let edited = edited(&message, edit);
        Self {
            status: self.status,
            scopes: self.scopes,
            body: Body::from(edited.unwrap_or(message)),
        }
    }
}

impl Body {
    /// Whether a member can be in it whose name ends like this, the closing quote included. The name of a member is never cut
    /// in two, and an escaped name is looked for too.
    pub(super) fn may_have_member(&self, name_end: &[u8]) -> bool {
        let has_member = |part: &Bytes| {
            memmem::find(part, name_end).is_some() || memmem::find(part, b"\\u00").is_some()
        };
        match self {
            Self::Whole { parts, .. } => parts.iter().any(has_member),
            Self::Stream(_) | Self::Download(_) => false,
        }
    }
}

/// The edited message; nothing if nothing changes.
fn edited(message: &Bytes, edit: impl FnOnce(&[u8], Span, &mut Edits<'_>)) -> Option<Bytes> {
    let hard = ScanLimits {
        max_bytes: usize::MAX,
        ..ScanLimits::default()
    };
    let result = scan(message, &hard).ok()?.result()?;
    let mut edits = Edits::new(message);
    edit(message, result, &mut edits);
    if edits.is_empty() {
        return None;
    }
    Some(edits.apply().ok()?.to_vec().into())
}
