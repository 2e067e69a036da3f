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

/// A client that tried to change something with the clients' key.
pub(crate) struct NotAdmin {
    pub(crate) header: &'static str,
}

impl NotAdmin {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.not_admin);
        tracing::warn!(
            header = self.header,
            "refused a change that was sent with the api_key; it needs the admin_key"
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

/// A connection that had not shown the key was closed, because too many newer ones came.
pub(crate) struct Evicted;

impl Evicted {
    pub(crate) fn emit(&self, events: &Events) {
        let Self = self;
        count(&events.evicted);
        tracing::debug!("closed a connection without a key to make room");
    }
}
