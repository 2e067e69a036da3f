//! A request that a server answers: checked as far as the client alone can be wrong, and made a
//! call of. Whoever goes away cancels it.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::ClientEra;
use countersign_tape::{Kind, Span};
use countersign_wire::Method;
use countersign_wire::json::member;
use countersign_wire::meta::LOG_LEVEL;
use tokio::sync::oneshot;

use super::{Request, Served};
use crate::downstream::level::Level;
use crate::downstream::relay::{self, Heard};
use crate::downstream::session::UnderWay;
use crate::downstream::via::Via;
use crate::path::call::{self, Call};
use crate::path::reply::{self, Problem};
use crate::state::Endpoint;
use crate::upstream::{NoteSink, notes};

impl Request<'_> {
    /// Makes the call and waits for its reply, or for the first word before it.
    pub(super) async fn call(self, method: Method) -> Served {
        if !self.has(method) {
            return Err((self.id, Problem::Method));
        }
        let name = match method.named_by() {
            None => Some(method.as_str().to_owned()),
            Some(member) => self.message.named(member),
        };
        let Some(name) = name else {
            return Err((self.id, Problem::Params("name or uri is missing")));
        };
        let Ok(params) = self.message.params() else {
            return Err((self.id, Problem::Params("not an object")));
        };
        if method == Method::CallTool && !self.repeats_arguments(&name) {
            return Err((self.id, Problem::Header("Mcp-Param")));
        }
        let meta = self.message.meta();
        let is_object = |value: &Bytes| Span::whole(value).kind(value) == Some(Kind::Object);
        if !meta.as_ref().is_none_or(is_object) {
            return Err((self.id, Problem::Params("_meta is not an object")));
        }
        let (keep, gone) = oneshot::channel();
        // Held to the end: when the client goes away this is dropped, and the call learns it.
        let under_way = match &self.client.session {
            None => Err(keep),
            Some(session) => match session.begin(self.id.clone(), keep) {
                Some(under_way) => Ok(under_way),
                None => return Err((self.id, Problem::Invalid("the id is in use"))),
            },
        };
        let cancelled = under_way.as_ref().ok().map(UnderWay::cancelled);
        let (notes, heard) = self.hearing(meta.as_ref());
        let call = Call {
            id: self.id,
            endpoint: self.endpoint,
            client: self.client,
            method,
            name,
            params: params.unwrap_or_else(|| Bytes::from_static(b"{}")),
            arguments: self.message.arguments(),
            notes,
        };
        let call = call::make(Arc::clone(self.shared), call, gone);
        let call = async move {
            let reply = call.await;
            match cancelled {
                // A client that has cancelled its request is not to be sent an answer to it.
                Some(cancelled) if cancelled.is_set() => reply::unanswered(),
                _ => reply,
            }
        };
        Ok(match heard {
            None => call.await.into(),
            Some(heard) => relay::reply(Box::pin(call), heard, under_way, self.via.framing())
                .await
                .into(),
        })
    }

    /// Whether the endpoint has this method. What a server that is away can do is not known.
    fn has(&self, method: Method) -> bool {
        match &self.endpoint {
            _ if method == Method::CallTool => true,
            Endpoint::Server(name) => {
                let abilities = self.abilities(name);
                abilities.is_none_or(|abilities| abilities.has(method.capability()))
            }
            Endpoint::Router | Endpoint::Direct => false,
        }
    }

    /// Whether a modern client's headers repeat the arguments that the tool's schema marks.
    fn repeats_arguments(&self, name: &str) -> bool {
        let Via::Http(headers) = self.via else {
            return true;
        };
        if self.client.era != ClientEra::Modern {
            return true;
        }
        let snapshot = self.shared.snapshot();
        let tool = match &self.endpoint {
            Endpoint::Server(server) => snapshot.server(server).and_then(|it| it.tools.get(name)),
            Endpoint::Direct => snapshot.by_wire_name(name).map(|(_, tool)| tool),
            Endpoint::Router => None,
        };
        let arguments = self.message.arguments();
        tool.is_none_or(|tool| tool.mirrored().agree(arguments.as_deref(), headers))
    }

    /// Where the notes of a call go: nowhere, unless the client reads more than the reply.
    fn hearing(&self, meta: Option<&Bytes>) -> (NoteSink, Option<Heard>) {
        if !self.via.hears_notes() {
            return (NoteSink::closed(), None);
        }
        let said = |name| {
            let meta = meta?;
            let value = member(meta, Span::whole(meta), name)?;
            Some(meta.slice_ref(value.bytes(meta)))
        };
        let least = match (self.client.era, &self.client.session) {
            // A modern client asks with each request, or hears nothing.
            (ClientEra::Modern, _) => said(LOG_LEVEL).as_ref().and_then(Level::token),
            (_, Some(session)) => Some(session.level()),
            (_, None) => Some(Level::default()),
        };
        let least = least.unwrap_or(Level::SILENT);
        // Who has a session asked once; anybody else asks in the request itself, or not at all.
        let standing = self.client.session.as_ref().and_then(|_| least.name());
        let (sink, notes) = notes::channel(said("progressToken"), standing);
        (sink, Some(Heard { notes, least }))
    }
}
