//! What a client is told when it begins: the version, what the endpoint can do, and instructions. A legacy client gets a session
//! with it.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::{ClientEra, Era, Listing};
use countersign_wire::Capabilities;

use super::{Request, ServeResult, SessionReply, merged};
use crate::downstream::client::client_name;
use crate::downstream::client_transport::ClientTransport;
use crate::downstream::instructions;
use crate::downstream::message::text;
use crate::path::reply::{self, EndpointCapabilities, LEGACY, OLDEST, Problem};
use crate::path::server_instructions;
use crate::services::NewSession;
use crate::state::Endpoint;

/// What a client declares is kept for as long as its session.
const MAX_CAPABILITIES: usize = 16 * 1024;

impl Request<'_> {
    pub(super) fn offer(&self) -> EndpointCapabilities {
        let server = match &self.endpoint {
            Endpoint::Server(name) => self.capabilities(name).map(|mut server| {
                server.resource_updates = self.tells_of_resources(name);
                server
            }),
            Endpoint::Router | Endpoint::Direct => Some(merged::capabilities()),
        };
        EndpointCapabilities {
            list_changes: self.endpoint != Endpoint::Router,
            server,
        }
    }

    /// Whether a server can tell the client of single resources: a subscription is made in the era of the server.
    pub(super) fn tells_of_resources(&self, server: &str) -> bool {
        let upstream = self.snapshot.server(server).map(|server| &server.upstream);
        let era = upstream.and_then(|upstream| upstream.era());
        let is_modern = self.client.era == ClientEra::Modern;
        era.is_some_and(|era| (era == Era::Modern) == is_modern)
            && self
                .capabilities(server)
                .is_some_and(|capabilities| capabilities.resource_updates)
    }

    /// What a server says it can do, if it is there.
    pub(super) fn capabilities(&self, server: &str) -> Option<Capabilities> {
        self.snapshot.server(server)?.upstream.capabilities()
    }

    pub(super) async fn initialize(mut self) -> ServeResult {
        let asked = self
            .message
            .param("protocolVersion")
            .as_ref()
            .and_then(text);
        let Some(asked) = asked else {
            return Err((self.id, Problem::Params("protocolVersion is missing")));
        };
        let version = LEGACY
            .into_iter()
            .chain(matches!(self.transport, ClientTransport::Pipe(_)).then_some(OLDEST))
            .find(|version| *version == asked)
            .unwrap_or(LEGACY[0]);
        let name = self
            .message
            .param("clientInfo")
            .as_ref()
            .and_then(client_name);
        let capabilities = self.message.param("capabilities");
        if capabilities
            .as_ref()
            .is_some_and(|said| said.len() > MAX_CAPABILITIES)
        {
            return Err((self.id, Problem::Params("capabilities are too large")));
        }
        let instructions = self.instructions().await;
        Ok(SessionReply {
            session: match self.transport {
                ClientTransport::Http(..) => self.services.sessions.open(
                    NewSession {
                        caller: Arc::clone(&self.client.caller.name),
                        client: name,
                        endpoint: Some(self.endpoint.clone()),
                        // A copy: a slice would keep the message, and the memory it counts for, as long as the session.
                        capabilities: capabilities.map(|said| Bytes::copy_from_slice(&said)),
                    },
                    self.snapshot.settings.config.session_lifetime,
                ),
                ClientTransport::Pipe(_) => None,
            },
            reply: reply::initialized(&self.id, version, self.offer(), instructions.as_ref()),
        })
    }

    /// What boundaries mean, where there are some, and what the one server behind this endpoint says about itself.
    pub(super) async fn instructions(&mut self) -> Option<Listing> {
        let own = match &self.endpoint {
            Endpoint::Server(name) => {
                let snapshot = Arc::clone(&self.snapshot);
                self.snapshot = self.tool_list_wait.wait(snapshot, &self.endpoint).await;
                let settings = &self.snapshot.settings;
                match &self.snapshot.server(name)?.instructions {
                    Some(own) => {
                        server_instructions::shown(self.services, settings, name, own).await
                    }
                    None => None,
                }
            }
            Endpoint::Router | Endpoint::Direct => None,
        };
        instructions::compose(&self.snapshot.settings.config, &self.endpoint, own.as_ref())
    }
}
