//! `logging/setLevel`: each client's level is kept here, and set at the servers that it is connected to.

use std::sync::Arc;

use countersign_client::{NoteSink, ServerHandle};
use countersign_inspect::Era;
use countersign_wire::{Capabilities, Capability, Subject};
use tokio::task::JoinSet;

use super::{Request, ServeResult};
use crate::path::isolation::private_server;
use crate::path::merged::is_merged;
use crate::path::reply::{self, Problem};
use crate::services::Level;
use crate::state::Server;

impl Request<'_> {
    /// Each client's level is kept here, because a server may be shared; the server is told too.
    pub(super) async fn set_level(self) -> ServeResult {
        let level = self.message.param("level");
        let Some(level) = level.as_ref().and_then(Level::token) else {
            return Err((self.id, Problem::Params("unknown level")));
        };
        if let Some(session) = &self.client.session {
            session.set_level(level);
        }
        self.tell_level(level).await;
        Ok(reply::empty_result(&self.id).into())
    }

    /// Sets the level at the legacy servers behind the endpoint: for a client with a connection of its own as it says, for
    /// the others the lowest that any of them has set. What a server makes of it is not the client's concern.
    async fn tell_level(&self, level: Level) {
        let Some(word) = level.name() else {
            return;
        };
        let mut told = JoinSet::new();
        for server in self.snapshot.reachable_servers(&self.endpoint) {
            let has_logging = |capabilities: Capabilities| capabilities.has(Capability::Logging);
            let is_told = server.upstream.era() == Some(Era::Legacy)
                && server.upstream.capabilities().is_some_and(has_logging);
            if !is_told {
                continue;
            }
            let Some(upstream) = self.levelled_connection(server, level).await else {
                continue;
            };
            let params = format!(r#"{{"level":"{word}"}}"#);
            told.spawn(async move {
                let params = |_, _| Ok(params.clone().into_bytes());
                let subject = Subject::method("logging/setLevel");
                let _told = upstream.call(&subject, params, &NoteSink::closed()).await;
            });
        }
        told.join_all().await;
    }

    /// The connection whose level is to be set. Where servers are merged, no connection begins because of a level.
    async fn levelled_connection(
        &self,
        server: &Server,
        level: Level,
    ) -> Option<Arc<ServerHandle>> {
        let (services, settings) = (self.services, &self.snapshot.settings);
        let private = if is_merged(&self.endpoint) {
            let session = self.client.session.as_ref();
            session.and_then(|session| session.private_server(&server.upstream))
        } else {
            let private = private_server(services, settings, &server.upstream, &self.client).await;
            private.ok().flatten()
        };
        if let Some(private) = private {
            return Some(Arc::clone(&private.upstream));
        }
        let is_lower = services.levels.lower(server.upstream.name(), level);
        is_lower.then(|| Arc::clone(&server.upstream))
    }
}
