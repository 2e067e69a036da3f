//! A request that a server answers: checked for the mistakes of the client, and made a call of. A client that goes away
//! cancels its call.

use std::sync::Arc;

use bytes::Bytes;
use countersign_client::{NoteSink, notes};
use countersign_inspect::ClientEra;
use countersign_tape::{Kind, Span};
use countersign_wire::Method;
use countersign_wire::json::member;
use countersign_wire::meta::LOG_LEVEL;
use tokio::sync::oneshot;

use super::{Request, Served};
use crate::downstream::relay::{self, CallNotes};
use crate::downstream::via::Via;
use crate::path::call::{self, Call};
use crate::path::reply::{self, Problem};
use crate::path::route::waits_for_lists;
use crate::services::{ActiveRequest, Level};
use crate::state::{Endpoint, Snapshot};

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
        let meta = self.message.meta();
        let is_object = |value: &Bytes| Span::whole(value).kind(value) == Some(Kind::Object);
        if !meta.as_ref().is_none_or(is_object) {
            return Err((self.id, Problem::Params("_meta is not an object")));
        }
        let (keep, gone) = oneshot::channel();
        // Held to the end: when the client goes away this is dropped, and the call learns it.
        let active = match &self.client.session {
            None => Err(keep),
            Some(session) => match session.begin(self.id.clone(), keep) {
                Some(active) => Ok(active),
                None => return Err((self.id, Problem::Invalid("the id is in use"))),
            },
        };
        let cancelled = active.as_ref().ok().map(ActiveRequest::cancelled);
        let (notes, heard) = self.note_channel(meta.as_ref());
        let mut snapshot = self.snapshot;
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
        if waits_for_lists(&snapshot, &call) {
            snapshot = self.settling.wait(snapshot, &call.endpoint).await;
        }
        if !repeats_arguments(&snapshot, &call, self.via) {
            return Err((call.id, Problem::Header("Mcp-Param")));
        }
        let call = call::make(Arc::clone(self.services), snapshot, call, gone);
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
            Some(heard) => relay::reply(Box::pin(call), heard, active, self.via.framing())
                .await
                .into(),
        })
    }

    /// Whether the endpoint has this method. What a server that is away can do is not known.
    fn has(&self, method: Method) -> bool {
        match &self.endpoint {
            _ if method == Method::CallTool => true,
            Endpoint::Server(name) => {
                let capabilities = self.capabilities(name);
                capabilities.is_none_or(|capabilities| capabilities.has(method.capability()))
            }
            Endpoint::Router | Endpoint::Direct => false,
        }
    }

    /// Where the notes of a call go: nowhere, unless the client reads more than the reply.
    fn note_channel(&self, meta: Option<&Bytes>) -> (NoteSink, Option<CallNotes>) {
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
        // A client with a session has asked once; other clients ask in the request itself, or not at all.
        let standing = self.client.session.as_ref().and_then(|_| least.name());
        let (sink, notes) = notes::channel(said("progressToken"), standing);
        (sink, Some(CallNotes { notes, least }))
    }
}

/// Whether a modern client's headers repeat the arguments that the tool's schema marks.
fn repeats_arguments(snapshot: &Snapshot, call: &Call, via: Via<'_>) -> bool {
    let Via::Http(headers) = via else {
        return true;
    };
    if call.client.era != ClientEra::Modern || call.method != Method::CallTool {
        return true;
    }
    let tool = snapshot.tool(&call.endpoint, &call.name);
    tool.is_none_or(|(_, tool)| tool.mirrored().agree(call.arguments.as_deref(), headers))
}
