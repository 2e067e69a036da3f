//! The methods of the protocol. What a server has to answer goes down the one path there is;
//! everything else is answered from memory.

mod call;
mod greeting;
mod level;
mod merged;
mod notice;

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::ClientEra;
use countersign_tape::{Kind, Span};
use countersign_wire::Method;
use hyper::HeaderMap;

use super::batch;
use super::client_transport::ClientTransport;
use super::listener::{Audience, Listener};
use super::message::{Message, MessageKind};
use super::subscription::Filter;
use crate::path::client::Client;
use crate::path::isolation::own_tools;
use crate::path::merged::is_merged;
use crate::path::reply::{self, Problem, Reply};
use crate::path::router;
use crate::services::{Runtime, Services};
use crate::state::{Caller, Endpoint, Snapshot, ToolListWait};
use notice::notice;
pub(super) use notice::{answer_server, give_reason};

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
    (headers, caller): (&HeaderMap, &Arc<Caller>),
    body: Bytes,
) -> SessionReply {
    if batch::is_batch(headers, &body) {
        // Boxed, like all that few requests wait for: every call would carry the room for it, and is copied with it.
        let batch = batch::answer(runtime, &snapshot, &endpoint, (headers, caller), &body);
        Box::pin(batch).await.into()
    } else {
        single(
            runtime,
            snapshot,
            endpoint,
            ClientTransport::Http(headers, caller),
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
            if method != Method::CallTool && is_merged(&self.endpoint) {
                return Box::pin(self.call_merged(method)).await;
            }
            return self.forward(method, None).await;
        }
        match method {
            "tools/list" => Box::pin(self.list()).await,
            "initialize" if !modern => Box::pin(self.initialize()).await,
            "ping" if !modern => Ok(reply::empty_result(&self.id).into()),
            "logging/setLevel" if !modern => Box::pin(self.set_level()).await,
            "server/discover" if modern => {
                let instructions = Box::pin(self.instructions()).await;
                let offer = self.offer();
                Ok(reply::discovered(&self.id, offer, instructions.as_ref()).into())
            }
            _ => Err((self.id, Problem::Method)),
        }
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
            caller: self.client.caller,
            framing: self.transport.framing(),
        };
        match listener.start(runtime) {
            Some(events) => Ok(Reply::events(events).into()),
            None => Err((self.id, Problem::Busy)),
        }
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
        let view = snapshot.for_caller(&self.client.caller);
        let listed = view.list(&self.endpoint, own.as_ref(), era);
        let tools = match (&self.endpoint, &listed) {
            (Endpoint::Router, _) => router::list(),
            (_, Some(listed)) => &**listed,
            (_, None) => return Err((self.id, Problem::Method)),
        };
        if let Some(session) = &self.client.session {
            session.show(&self.endpoint, snapshot.revision(&self.endpoint));
        }
        let ttl_ms = snapshot.ttl_ms(&self.endpoint);
        Ok(reply::list(&self.id, "tools", tools, ttl_ms, era).into())
    }
}
