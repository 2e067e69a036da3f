//! The client that made a call.

use std::sync::Arc;

use countersign_inspect::ClientEra;

use crate::services::Session;
use crate::state::Caller;

/// The sender of a request.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) era: ClientEra,
    /// Who it is, as the door has established it.
    pub(crate) caller: Arc<Caller>,
    /// What it calls itself.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) session: Option<Arc<Session>>,
}

impl Client {
    /// The client of a session.
    pub(crate) fn with_session(session: &Arc<Session>, caller: &Arc<Caller>) -> Self {
        Self {
            era: ClientEra::Legacy,
            caller: Arc::clone(caller),
            name: session.client.clone(),
            session: Some(Arc::clone(session)),
        }
    }
}
