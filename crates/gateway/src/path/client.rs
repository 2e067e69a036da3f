//! The client that made a call.

use std::sync::Arc;

use countersign_inspect::ClientEra;

use crate::services::Session;

/// The sender of a request.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) era: ClientEra,
    /// What it calls itself.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) session: Option<Arc<Session>>,
}

impl Client {
    /// The client of a session.
    pub(crate) fn with_session(session: &Arc<Session>) -> Self {
        Self {
            era: ClientEra::Legacy,
            name: session.client.clone(),
            session: Some(Arc::clone(session)),
        }
    }
}
