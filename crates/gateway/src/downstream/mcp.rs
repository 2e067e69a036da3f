//! The methods of the protocol. Everything but a tool call is answered from memory; a tool call
//! goes down the one path there is.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::{ClientEra, Listing};
use countersign_tape::{Kind, Span};
use hyper::HeaderMap;
use tokio::sync::oneshot;

use super::client::{Client, client_name};
use super::message::{Message, Sort, text};
use crate::call::{self, Call};
use crate::reply::{self, LEGACY, Problem, Reply};
use crate::route::Endpoint;
use crate::router;
use crate::shared::Shared;
use crate::upstream::NoteSink;

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

/// Answers one message.
pub(super) async fn answer(
    shared: &Arc<Shared>,
    endpoint: Endpoint,
    headers: &HeaderMap,
    body: Bytes,
) -> Answer {
    let message = match Message::read(body) {
        Ok(message) => message,
        Err(problem) => return reply::problem(None, &problem, ClientEra::Unnegotiated).into(),
    };
    match message.sort() {
        Ok(Sort::Request { id, method }) => {
            let client = match Client::of(&message, &method, headers, &shared.sessions) {
                Ok(client) => client,
                Err(problem) => {
                    return reply::problem(Some(&id), &problem, ClientEra::Modern).into();
                }
            };
            let era = client.era;
            let request = Request {
                shared,
                endpoint,
                message,
                id,
                client,
            };
            match request.serve(&method).await {
                Ok(answer) => answer,
                Err((id, problem)) => reply::problem(Some(&id), &problem, era).into(),
            }
        }
        Ok(Sort::Notification { method }) => notice(shared, &message, &method, headers).into(),
        Ok(Sort::Response) => reply::accepted().into(),
        Err(problem) => reply::problem(None, &problem, ClientEra::Unnegotiated).into(),
    }
}

fn notice(shared: &Shared, message: &Message, method: &str, headers: &HeaderMap) -> Reply {
    match Client::of(message, method, headers, &shared.sessions) {
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
    shared: &'a Arc<Shared>,
    endpoint: Endpoint,
    message: Message,
    id: Bytes,
    client: Client,
}

type Served = Result<Answer, (Bytes, Problem)>;

impl Request<'_> {
    async fn serve(self, method: &str) -> Served {
        let modern = self.client.era == ClientEra::Modern;
        match method {
            "tools/call" => self.call().await,
            "tools/list" => self.list().await,
            "initialize" if !modern => self.initialize().await,
            "ping" if !modern => Ok(reply::pong(&self.id).into()),
            "server/discover" if modern => {
                let instructions = self.instructions().await;
                Ok(reply::discovered(&self.id, instructions.as_ref()).into())
            }
            _ => Err((self.id, Problem::Method)),
        }
    }

    async fn initialize(self) -> Served {
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
            .find(|version| *version == asked)
            .unwrap_or(LEGACY[0]);
        let name = self
            .message
            .param("clientInfo")
            .as_ref()
            .and_then(client_name);
        let instructions = self.instructions().await;
        Ok(Answer {
            session: self.shared.sessions.open(name),
            reply: reply::initialized(&self.id, version, instructions.as_ref()),
        })
    }

    /// What the one server behind this endpoint says about itself.
    async fn instructions(&self) -> Option<Listing> {
        let Endpoint::Server(name) = &self.endpoint else {
            return None;
        };
        let snapshot = self.shared.settled(&self.endpoint).await;
        let text = snapshot.server(name)?.instructions.clone()?;
        Some(Listing::admit(text))
    }

    async fn list(self) -> Served {
        let cursor = self.message.param("cursor");
        if cursor.is_some_and(|cursor| Span::whole(&cursor).kind(&cursor) != Some(Kind::Null)) {
            // Everything is on one page, so no cursor of ours exists.
            return Err((self.id, Problem::Params("unknown cursor")));
        }
        let era = self.client.era;
        let snapshot = self.shared.settled(&self.endpoint).await;
        let tools = match &self.endpoint {
            Endpoint::Router => router::list(),
            Endpoint::Direct => snapshot.list(era),
            Endpoint::Server(name) => match snapshot.server(name) {
                Some(server) => server.list(era),
                None => return Err((self.id, Problem::Method)),
            },
        };
        Ok(reply::tools(&self.id, tools, era).into())
    }

    async fn call(self) -> Served {
        let (Some(name), Ok(Some(params))) = (self.message.name(), self.message.params()) else {
            return Err((self.id, Problem::Params("name is missing")));
        };
        let meta = self.message.meta();
        let is_object = |value: &Bytes| Span::whole(value).kind(value) == Some(Kind::Object);
        if !meta.as_ref().is_none_or(is_object) {
            return Err((self.id, Problem::Params("_meta is not an object")));
        }
        let (keep, gone) = oneshot::channel();
        // Held to the end: when the client goes away this is dropped, and the call learns it.
        let _under_way = match &self.client.session {
            None => Err(keep),
            Some(session) => match session.begin(self.id.clone(), keep) {
                Some(under_way) => Ok(under_way),
                None => return Err((self.id, Problem::Invalid("the id is in use"))),
            },
        };
        let call = Call {
            id: self.id,
            endpoint: self.endpoint,
            client: self.client,
            name,
            params,
            arguments: self.message.arguments(),
            meta,
            notes: NoteSink::closed(),
        };
        Ok(call::make(Arc::clone(self.shared), call, gone).await.into())
    }
}
