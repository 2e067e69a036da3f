//! The methods of the protocol. What a server has to answer goes down the one path there is;
//! everything else is answered from memory.

mod call;

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::{ClientEra, Listing};
use countersign_tape::{Kind, Span};
use countersign_wire::Capabilities;
use countersign_wire::Method;
use countersign_wire::json::member;
use hyper::HeaderMap;

use super::client::client_name;
use super::listen::Listener;
use super::message::{Message, MessageKind, text};
use super::via::Via;
use super::{batch, instructions};
use crate::path::client::Client;
use crate::path::reply::{self, LEGACY, OLDEST, Offer, Problem, Reply};
use crate::path::router;
use crate::services::{Level, Runtime, Services, Sessions};
use crate::state::{Endpoint, Settling, Snapshot};

/// A reply, and the session it opens.
pub(super) struct Answer {
    pub(super) reply: Reply,
    pub(super) session: Option<String>,
}

impl From<Reply> for Answer {
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
) -> Answer {
    if batch::is_batch(headers, &body) {
        batch::answer(runtime, &snapshot, &endpoint, headers, &body)
            .await
            .into()
    } else {
        single(runtime, snapshot, endpoint, Via::Http(headers), body).await
    }
}

/// Answers one message.
pub(super) async fn single(
    runtime: &Runtime,
    snapshot: Arc<Snapshot>,
    endpoint: Endpoint,
    via: Via<'_>,
    body: Bytes,
) -> Answer {
    match Message::read(body) {
        Ok(message) => read(runtime, snapshot, endpoint, via, message).await,
        Err(problem) => reply::problem(None, &problem, ClientEra::Unnegotiated).into(),
    }
}

/// Answers one message that has been read. Nothing below has access to the state, but for one wait for tool lists.
pub(super) async fn read(
    runtime: &Runtime,
    snapshot: Arc<Snapshot>,
    endpoint: Endpoint,
    via: Via<'_>,
    message: Message,
) -> Answer {
    let sessions = &runtime.services.sessions;
    match message.kind() {
        Ok(MessageKind::Request { id, method }) => {
            let client = match Client::from_request(&message, &method, via, sessions) {
                Ok(client) => client,
                Err(problem) => {
                    return reply::problem(Some(&id), &problem, ClientEra::Modern).into();
                }
            };
            let era = client.era;
            let request = Request {
                services: &runtime.services,
                snapshot,
                settling: runtime.state.settling(),
                endpoint,
                message,
                id,
                client,
                via,
            };
            let is_subscription = method == "subscriptions/listen" && era == ClientEra::Modern;
            let served = if is_subscription {
                request.listen(runtime)
            } else {
                request.serve(&method).await
            };
            match served {
                Ok(answer) => answer,
                Err((id, problem)) => reply::problem(Some(&id), &problem, era).into(),
            }
        }
        Ok(MessageKind::Notification { method }) => notice(sessions, &message, &method, via).into(),
        Ok(MessageKind::Response) => reply::accepted().into(),
        Err(problem) => reply::problem(None, &problem, ClientEra::Unnegotiated).into(),
    }
}

fn notice(sessions: &Sessions, message: &Message, method: &str, via: Via<'_>) -> Reply {
    match Client::from_request(message, method, via, sessions) {
        Ok(Client {
            session: Some(session),
            ..
        }) if method == "notifications/cancelled" => {
            if let Some(id) = message.param("requestId") {
                session.cancel(&id);
            }
            reply::accepted()
        }
        Err(problem @ Problem::Session) => reply::problem(None, &problem, ClientEra::Legacy),
        // A notification has no answer: what is wrong with it is not said.
        _ => reply::accepted(),
    }
}

/// One request, with everything known about it.
struct Request<'a> {
    services: &'a Arc<Services>,
    snapshot: Arc<Snapshot>,
    settling: Settling<'a>,
    endpoint: Endpoint,
    message: Message,
    id: Bytes,
    client: Client,
    via: Via<'a>,
}

type Served = Result<Answer, (Bytes, Problem)>;

impl Request<'_> {
    async fn serve(mut self, method: &str) -> Served {
        let modern = self.client.era == ClientEra::Modern;
        if let Some(method) = Method::from_name(method) {
            return self.call(method).await;
        }
        match method {
            "tools/list" => self.list().await,
            "initialize" if !modern => self.initialize().await,
            "ping" if !modern => Ok(reply::empty_result(&self.id).into()),
            "logging/setLevel" if !modern => self.set_level(),
            "server/discover" if modern => {
                let instructions = self.instructions().await;
                let offer = self.offer();
                Ok(reply::discovered(&self.id, offer, instructions.as_ref()).into())
            }
            _ => Err((self.id, Problem::Method)),
        }
    }

    fn offer(&self) -> Offer {
        let server = match &self.endpoint {
            Endpoint::Server(name) => self.capabilities(name),
            Endpoint::Router | Endpoint::Direct => None,
        };
        Offer {
            list_changes: self.endpoint != Endpoint::Router,
            server,
        }
    }

    /// What a server says it can do, if it is there.
    fn capabilities(&self, server: &str) -> Option<Capabilities> {
        self.snapshot.server(server)?.upstream.capabilities()
    }

    /// Log messages are passed on from servers that many clients share, so each client's level is
    /// kept here.
    fn set_level(self) -> Served {
        let level = self.message.param("level");
        let Some(level) = level.as_ref().and_then(Level::token) else {
            return Err((self.id, Problem::Params("unknown level")));
        };
        if let Some(session) = &self.client.session {
            session.set_level(level);
        }
        Ok(reply::empty_result(&self.id).into())
    }

    fn listen(self, runtime: &Runtime) -> Served {
        let wanted = self.message.param("notifications").is_some_and(|filter| {
            let wanted = member(&filter, Span::whole(&filter), "toolsListChanged");
            wanted.and_then(|wanted| wanted.kind(&filter)) == Some(Kind::True)
        });
        let listener = Listener {
            list_changed: wanted && self.offer().list_changes,
            endpoint: self.endpoint,
            subscription: Some(self.id.clone()),
            shown: None,
            ended: None,
            framing: self.via.framing(),
        };
        match listener.start(runtime) {
            Some(events) => Ok(Reply::events(events).into()),
            None => Err((self.id, Problem::Busy)),
        }
    }

    async fn initialize(mut self) -> Served {
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
            .chain(matches!(self.via, Via::Pipe(_)).then_some(OLDEST))
            .find(|version| *version == asked)
            .unwrap_or(LEGACY[0]);
        let name = self
            .message
            .param("clientInfo")
            .as_ref()
            .and_then(client_name);
        let instructions = self.instructions().await;
        Ok(Answer {
            session: match self.via {
                Via::Http(_) => self.services.sessions.open(name),
                Via::Pipe(_) => None,
            },
            reply: reply::initialized(&self.id, version, self.offer(), instructions.as_ref()),
        })
    }

    /// What boundaries mean, where there are some, and what the one server behind this endpoint says about itself.
    async fn instructions(&mut self) -> Option<Listing> {
        let own = match &self.endpoint {
            Endpoint::Server(name) => {
                let snapshot = Arc::clone(&self.snapshot);
                self.snapshot = self.settling.wait(snapshot, &self.endpoint).await;
                self.snapshot.server(name)?.instructions.as_ref()
            }
            Endpoint::Router | Endpoint::Direct => None,
        };
        instructions::compose(&self.snapshot.settings.config, &self.endpoint, own)
    }

    async fn list(self) -> Served {
        let cursor = self.message.param("cursor");
        if cursor.is_some_and(|cursor| Span::whole(&cursor).kind(&cursor) != Some(Kind::Null)) {
            // Everything is on one page, so no cursor of ours exists.
            return Err((self.id, Problem::Params("unknown cursor")));
        }
        let era = self.client.era;
        let snapshot = self.settling.wait(self.snapshot, &self.endpoint).await;
        let tools = match &self.endpoint {
            Endpoint::Router => router::list(),
            Endpoint::Direct => snapshot.list(era),
            Endpoint::Server(name) => match snapshot.server(name) {
                Some(server) => server.list(era),
                None => return Err((self.id, Problem::Method)),
            },
        };
        if let Some(session) = &self.client.session {
            session.show(&self.endpoint, snapshot.revision(&self.endpoint));
        }
        let ttl_ms = snapshot.ttl_ms(&self.endpoint);
        Ok(reply::tools(&self.id, tools, ttl_ms, era).into())
    }
}
