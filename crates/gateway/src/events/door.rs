//! About requests that were turned away before anybody read them.

use super::{Events, count};

/// Somebody without the key.
pub(crate) struct Unauthorised {
    pub(crate) header: &'static str,
}

impl Unauthorised {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.unauthorised);
        tracing::info!(
            header = self.header,
            "refused a request without a valid key"
        );
    }
}

/// A request that another site's page may have sent.
pub(crate) struct Foreign {
    pub(crate) header: &'static str,
}

impl Foreign {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.foreign);
        tracing::warn!(
            header = self.header,
            "refused a request from a foreign host"
        );
    }
}
