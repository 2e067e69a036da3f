//! The methods of the protocol. What a server has to answer goes down the one path there is;
//! everything else is answered from memory.

mod call;
mod merged;

use std::sync::Arc;

use bytes::Bytes;
use countersign_client::{NoteSink, ServerHandle};
use countersign_inspect::{ClientEra, Era, Listing};
use countersign_tape::{Kind, Span};
use countersign_wire::{Capabilities, Capability, Method, Subject};
use hyper::HeaderMap;
use tokio::task::JoinSet;

use super::client::client_name;
use super::client_transport::ClientTransport;
use super::listener::{Audience, Listener};
use super::message::{Message, MessageKind, text};
use super::subscription::Filter;
use super::{batch, instructions};
use crate::path::client::Client;
use crate::path::isolation::{own_tools, private_server};
use crate::path::merged::is_merged;
use crate::path::reply::{self, EndpointCapabilities, LEGACY, OLDEST, Problem, Reply};
use crate::path::{router, server_instructions};
use crate::services::{Level, NewSession, Runtime, Services, Session, Sessions};
use crate::state::{Endpoint, Server, Snapshot, ToolListWait};

/// A reply, and the session it opens.
pub(super) struct SessionReply {
    pub(super) reply: Reply,
    pub(super) session: Option<String>,
}

impl From<Reply> for SessionReply {
    fn from(reply: Reply) -> Self {
        Self {
            reply,
            session: None,
        }
    }
}

/// Answers what a client sent: a message, or several where its version has that.
pub(super) async fn answer(
    runtime: &Runtime,
    snapshot: Arc<Snapshot>,
    endpoint: Endpoint,
    headers: &HeaderMap,
    body: Bytes,
) -> SessionReply {
    if batch::is_batch(headers, &body) {
        batch::answer(runtime, &snapshot, &endpoint, headers, &body)
            .await
            .into()
    } else {
        single(
            runtime,
            snapshot,
            endpoint,
            ClientTransport::Http(headers),
            body,
        )
        .await
    }
}

/// Answers one message.
pub(super) async fn single(
    runtime: &Runtime,
    snapshot: Arc<Snapshot>,
    endpoint: Endpoint,
    transport: ClientTransport<'_>,
    body: Bytes,
) -> SessionReply {
    match Message::read(body) {
        Ok(message) => read(runtime, snapshot, endpoint, transport, message).await,
        Err(problem) => reply::problem(None, &problem, ClientEra::Unnegotiated).into(),
    }
}

/// Answers one message that has been read. Nothing below has access to the state, but for one wait for tool lists.
pub(super) async fn read(
    runtime: &Runtime,
    snapshot: Arc<Snapshot>,
    endpoint: Endpoint,
    transport: ClientTransport<'_>,
    message: Message,
) -> SessionReply {
    let sessions = &runtime.services.sessions;
    match message.kind() {
        Ok(MessageKind::Request { id, method }) => {
            let client = match Client::from_request(&message, &method, transport, sessions) {
                Ok(client) => client,
                Err(problem) => {
                    return reply::problem(Some(&id), &problem, ClientEra::Modern).into();
                }
            };
            let era = client.era;
            let request = Request {
                services: &runtime.services,
                snapshot,
                tool_list_wait: runtime.state.tool_list_wait(),
                endpoint,
                message,
                id,
                client,
                transport,
            };
            let is_subscription = method == "subscriptions/listen" && era == ClientEra::Modern;
            let served = if is_subscription {
                Box::pin(request.listen(runtime)).await
            } else {
                request.serve(&method).await
            };
            match served {
                Ok(answer) => answer,
                Err((id, problem)) => reply::problem(Some(&id), &problem, era).into(),
            }
        }
        Ok(MessageKind::Notification { method }) => {
            notice(sessions, &endpoint, &message, &method, transport).into()
        }
        Ok(MessageKind::Response) => {
            // An answer to what a server asked.
            if let Ok(client) = Client::from_request(&message, "", transport, sessions)
                && let Some(session) = &client.session
            {
                answer_server(session, &message);
            }
            reply::accepted().into()
        }
        Err(problem) => reply::problem(None, &problem, ClientEra::Unnegotiated).into(),
    }
}

/// Gives a client's answer to the server that asked, under the server's own id.
pub(super) fn answer_server(session: &Session, message: &Message) {
    let asked = message
        .id()
        .and_then(|id| session.server_requests.take(&id));
    if let Some((server, id)) = asked
        && let Some(answer) = message.with_id(&id)
    {
        server.tell(&answer);
    }
}

fn notice(
    sessions: &Sessions,
    endpoint: &Endpoint,
    message: &Message,
    method: &str,
    transport: ClientTransport<'_>,
) -> Reply {
    match Client::from_request(message, method, transport, sessions) {
        Ok(Client {
            session: Some(session),
            ..
        }) if method == "notifications/cancelled" => {
            if let Some(id) = message.param("requestId") {
                session.cancel(&id);
            }
            reply::accepted()
        }
        Ok(Client {
            session: Some(session),
            ..
        }) => {
            pass_on(&session, endpoint, message, method);
            reply::accepted()
        }
        Err(problem @ Problem::Session) => reply::problem(None, &problem, ClientEra::Legacy),
        // A notification has no answer: what is wrong with it is not said.
        _ => reply::accepted(),
    }
}

/// Passes on what a client says of its own accord, to the servers that know this client. A progress token is one server's
/// own, so it is not shown to others.
fn pass_on(session: &Session, endpoint: &Endpoint, message: &Message, method: &str) {
    let peers = match (method, endpoint) {
        ("notifications/roots/list_changed" | "notifications/progress", Endpoint::Server(name)) => {
            session.peers(Some(name))
        }
        ("notifications/roots/list_changed", _) => session.peers(None),
        _ => return,
    };
    for peer in peers {
        peer.tell(message.bytes());
    }
}

/// One request, with everything known about it.
struct Request<'a> {
    services: &'a Arc<Services>,
    snapshot: Arc<Snapshot>,
    tool_list_wait: ToolListWait<'a>,
    endpoint: Endpoint,
    message: Message,
    id: Bytes,
    client: Client,
    transport: ClientTransport<'a>,
}

type ServeResult = Result<SessionReply, (Bytes, Problem)>;

impl Request<'_> {
    async fn serve(mut self, method: &str) -> ServeResult {
        let modern = self.client.era == ClientEra::Modern;
        if let Some(method) = Method::from_name(method) {
            return self.call(method).await;
        }
        match method {
            "tools/list" => self.list().await,
            "initialize" if !modern => self.initialize().await,
            "ping" if !modern => Ok(reply::empty_result(&self.id).into()),
            "logging/setLevel" if !modern => self.set_level().await,
            "server/discover" if modern => {
                let instructions = self.instructions().await;
                let offer = self.offer();
                Ok(reply::discovered(&self.id, offer, instructions.as_ref()).into())
            }
            _ => Err((self.id, Problem::Method)),
        }
    }

    fn offer(&self) -> EndpointCapabilities {
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
    fn tells_of_resources(&self, server: &str) -> bool {
        let upstream = self.snapshot.server(server).map(|server| &server.upstream);
        let era = upstream.and_then(|upstream| upstream.era());
        let is_modern = self.client.era == ClientEra::Modern;
        era.is_some_and(|era| (era == Era::Modern) == is_modern)
            && self
                .capabilities(server)
                .is_some_and(|capabilities| capabilities.resource_updates)
    }

    /// What a server says it can do, if it is there.
    fn capabilities(&self, server: &str) -> Option<Capabilities> {
        self.snapshot.server(server)?.upstream.capabilities()
    }

    /// Each client's level is kept here, because a server may be shared; the server is told too.
    async fn set_level(self) -> ServeResult {
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

    async fn listen(self, runtime: &Runtime) -> ServeResult {
        let asked = self.message.param("notifications");
        let asked = asked.as_ref().map(Filter::read).unwrap_or_default();
        let offer = self.offer();
        let watched = self.watched_resources(&asked.uris).await;
        let listener = Listener {
            endpoint: self.endpoint,
            audience: Audience::Subscription {
                id: self.id.clone(),
                filter: asked.offered(offer.list_changes, offer.server, &watched),
                watched,
            },
            framing: self.transport.framing(),
        };
        match listener.start(runtime) {
            Some(events) => Ok(Reply::events(events).into()),
            None => Err((self.id, Problem::Busy)),
        }
    }

    async fn initialize(mut self) -> ServeResult {
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
        let instructions = self.instructions().await;
        Ok(SessionReply {
            session: match self.transport {
                ClientTransport::Http(_) => self.services.sessions.open(
                    NewSession {
                        client: name,
                        endpoint: Some(self.endpoint.clone()),
                        capabilities: self.message.param("capabilities"),
                    },
                    self.snapshot.settings.config.session_lifetime,
                ),
                ClientTransport::Pipe(_) => None,
            },
            reply: reply::initialized(&self.id, version, self.offer(), instructions.as_ref()),
        })
    }

    /// What boundaries mean, where there are some, and what the one server behind this endpoint says about itself.
    async fn instructions(&mut self) -> Option<Listing> {
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

    async fn list(self) -> ServeResult {
        let cursor = self.message.param("cursor");
        if cursor.is_some_and(|cursor| Span::whole(&cursor).kind(&cursor) != Some(Kind::Null)) {
            // The gateway answers with one page, so it never gave out a cursor.
            return Err((self.id, Problem::Params("unknown cursor")));
        }
        let era = self.client.era;
        let snapshot = self
            .tool_list_wait
            .wait(self.snapshot, &self.endpoint)
            .await;
        let own = own_tools(self.services, &snapshot, &self.endpoint, &self.client).await;
        let own = own.map(|tools| tools.list(era));
        let tools = match &self.endpoint {
            Endpoint::Router => router::list(),
            Endpoint::Direct => snapshot.list(era),
            Endpoint::Server(name) => match snapshot.server(name) {
                Some(server) => own.as_ref().unwrap_or_else(|| server.list(era)),
                None => return Err((self.id, Problem::Method)),
            },
        };
        if let Some(session) = &self.client.session {
            session.show(&self.endpoint, snapshot.revision(&self.endpoint));
        }
        let ttl_ms = snapshot.ttl_ms(&self.endpoint);
        Ok(reply::list(&self.id, "tools", tools, ttl_ms, era).into())
    }
}
