//! The `requestState` of a call in several rounds. A server gives it to a client, which sends it back with its answers. Where
//! there are several callers, the gateway binds it to the caller, so that no other one can go on with the call. Any gateway
//! with the same `session_key` knows what it bound.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::ClientEra;
use countersign_tape::{Edits, Span, members, quote};

use super::client::Client;
use super::reply::{REQUEST_STATE, Reply, replace_request_state};
use crate::services::Services;
use crate::state::{Caller, Settings};

/// Binds the states of one call to its caller.
pub(crate) struct StateBinding {
    services: Arc<Services>,
    caller: Arc<Caller>,
}

/// A request state that was not given to this caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ForeignState;

impl StateBinding {
    /// For a modern client of a gateway that knows several callers. Nothing otherwise: a state can only come back from the one
    /// caller that there is.
    pub(crate) fn new(
        services: &Arc<Services>,
        settings: &Settings,
        client: &Client,
    ) -> Option<Self> {
        let has_several = settings.tokens.is_some() || !settings.config.callers.is_empty();
        let is_bound = has_several && client.era == ClientEra::Modern;
        is_bound.then(|| Self {
            services: Arc::clone(services),
            caller: Arc::clone(&client.caller),
        })
    }

    /// The parameters of a request with the server's own state.
    pub(crate) fn release(&self, params: Bytes) -> Result<Bytes, ForeignState> {
        let mut edits = Edits::new(&params);
        for (key, value) in members(&params, Span::whole(&params)) {
            if !key.is_text(&params, REQUEST_STATE) {
                continue;
            }
            let bound = value.string(&params).ok_or(ForeignState)?;
            let sessions = &self.services.sessions;
            let state = sessions.release_state(&self.caller.name, &bound);
            edits.replace(value, quote(state.ok_or(ForeignState)?));
        }
        if edits.is_empty() {
            return Ok(params);
        }
        let edited = edits.apply().map_err(|_| ForeignState)?;
        Ok(Bytes::from(edited.to_vec()))
    }

    /// The reply with its state bound to the caller.
    pub(crate) fn bind(&self, reply: Reply) -> Reply {
        let sessions = &self.services.sessions;
        replace_request_state(reply, |state| sessions.bind_state(&self.caller.name, state))
    }
}
