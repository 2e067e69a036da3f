//! A request that a server answers: checked for the mistakes of the client, and made a call of. A client that goes away
//! cancels its call.

use std::sync::Arc;

use bytes::Bytes;
use countersign_client::{NoteSink, notes};
use countersign_config::ItemKind;
use countersign_inspect::ClientEra;
use countersign_login::{AccessDecision, Item};
use countersign_tape::{Kind, Span};
use countersign_wire::Method;
use tokio::sync::oneshot;

use super::merged::Links;
use super::{Request, ServeResult};
use crate::downstream::client_transport::ClientTransport;
use crate::downstream::message::MetaMember;
use crate::downstream::relay::{self, CallNotes};
use crate::downstream::trace_context;
use crate::path::call::{self, Call};
use crate::path::isolation::{own_tools, private_server};
use crate::path::reply::{self, Problem, Reply};
use crate::path::request_state::{ForeignState, StateBinding};
use crate::path::route::{find, is_unknown_tool, waits_for_lists};
use crate::path::visible::VisibleItems;
use crate::services::{ActiveRequest, CallSignals, Cancelled, Level, Services, WatchedResource};
use crate::state::{Endpoint, Snapshot, ToolListWait};

/// A progress token is repeated in each report, and several reports may wait for a client.
const MAX_TOKEN_BYTES: usize = 1024;

impl Request<'_> {
    /// Makes the call of a tool, or of the one server of the endpoint, and waits for its reply, or for the first word before
    /// it. `links`: how addresses are shown to the client. What most calls of tools do not wait for is boxed.
    pub(super) async fn forward(self, method: Method, links: Option<Links>) -> ServeResult {
        if !self.has(method) {
            return Err((self.id, Problem::Method));
        }
        let Some(name) = self.item_name(method) else {
            return Err((self.id, Problem::Params("name or uri is missing")));
        };
        let binding = StateBinding::new(self.services, &self.snapshot.settings, &self.client);
        let params = match self.params(binding.as_ref()) {
            Ok(params) => params,
            Err(problem) => return Err((self.id, problem)),
        };
        let meta = match self.meta() {
            Ok(meta) => meta,
            Err(problem) => return Err((self.id, problem)),
        };
        let shown = links.as_ref().map(|links| links.shown(&name));
        match self.note_subscription(method, &name, shown).await {
            Watching::Answered => return Ok(reply::empty_result(&self.id).into()),
            Watching::Refused => return Err((self.id, Problem::Params("too many subscriptions"))),
            Watching::Forwarded => {}
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
        let (notes, heard) = self.note_channel();
        let reason = cancelled.as_ref().map(Cancelled::reason);
        let notes = notes.with_cancel_reason(reason);
        let signals = self.begin_signals(meta.as_ref());
        let snapshot = self.snapshot;
        let call = Call {
            id: self.id,
            endpoint: self.endpoint,
            client: self.client,
            method,
            name,
            params,
            arguments: self.message.arguments(),
            notes,
            signals,
        };
        let snapshot = await_lists(self.services, self.tool_list_wait, snapshot, &call).await;
        if !repeats_arguments(&snapshot, &call, self.transport) {
            return Err((call.id, Problem::Header("Mcp-Param")));
        }
        let links = links.or_else(|| Links::of_tool(self.services, &snapshot, &call));
        let keep_alive = snapshot.settings.config.stream_keep_alive;
        let visible = VisibleItems::of_reply(&snapshot, &call);
        let call = call::make(Arc::clone(self.services), snapshot, call, gone);
        let call = async move {
            let reply = for_client(call.await, visible.as_ref(), links.as_ref());
            let reply = match &binding {
                None => reply,
                Some(binding) => binding.bind(reply),
            };
            match cancelled {
                // A client that has cancelled its request is not to be sent an answer to it.
                Some(cancelled) if cancelled.is_set() => reply::unanswered(),
                _ => reply,
            }
        };
        Ok(match heard {
            None => call.await.into(),
            Some(heard) => {
                let stream = (self.transport.framing(), keep_alive);
                let reply = relay::reply(Box::pin(call), heard, active, stream).await;
                reply.into()
            }
        })
    }

    /// `_meta` of the request, if it is one that can be passed on.
    fn meta(&self) -> Result<Option<Bytes>, Problem> {
        let meta = self.message.meta();
        let is_object = |value: &Bytes| Span::whole(value).kind(value) == Some(Kind::Object);
        if !meta.as_ref().is_none_or(is_object) {
            return Err(Problem::Params("_meta is not an object"));
        }
        let token = self.message.meta_member(MetaMember::ProgressToken);
        if token.is_some_and(|token| token.len() > MAX_TOKEN_BYTES) {
            return Err(Problem::Params("progressToken is too long"));
        }
        Ok(meta)
    }

    /// The name or the address of what is asked for; that of the method if it names nothing.
    fn item_name(&self, method: Method) -> Option<String> {
        match method.named_by() {
            None => Some(method.as_str().to_owned()),
            Some(member) => self.message.name_param(member),
        }
    }

    /// The parameters for the server, with its own request state.
    fn params(&self, binding: Option<&StateBinding>) -> Result<Bytes, Problem> {
        let params = self.message.params();
        let params = params.map_err(|_| Problem::Params("not an object"))?;
        let params = params.unwrap_or_else(|| Bytes::from_static(b"{}"));
        match binding {
            None => Ok(params),
            Some(binding) => {
                let released = binding.release(params);
                released.map_err(|ForeignState| Problem::Params("unknown requestState"))
            }
        }
    }

    /// Notes which resources the client of a shared server watches. The server is told once, and again when no client
    /// watches a resource any more.
    async fn note_subscription(
        &self,
        method: Method,
        uri: &str,
        shown: Option<String>,
    ) -> Watching {
        let (Some(session), Endpoint::Server(name)) = (&self.client.session, &self.endpoint) else {
            return Watching::Forwarded;
        };
        match method {
            Method::Subscribe if !self.may_use_resource(name, uri) => {}
            Method::Subscribe => {
                let is_watched = session.watch(WatchedResource {
                    server: Arc::clone(name),
                    uri: uri.to_owned(),
                    shown: shown.unwrap_or_else(|| uri.to_owned()),
                });
                if !is_watched {
                    return Watching::Refused;
                }
            }
            Method::Unsubscribe => {
                session.unwatch(name, uri);
                let server = self.snapshot.server(name);
                let is_shared = match server {
                    Some(server) => {
                        let settings = &self.snapshot.settings;
                        let private =
                            private_server(self.services, settings, &server.upstream, &self.client);
                        matches!(Box::pin(private).await, Ok(None))
                    }
                    None => false,
                };
                if is_shared && self.services.sessions.is_watched(name, uri) {
                    return Watching::Answered;
                }
            }
            _ => {}
        }
        Watching::Forwarded
    }

    /// Whether the caller may use a resource of a server.
    pub(super) fn may_use_resource(&self, server: &str, uri: &str) -> bool {
        let item = Item {
            server,
            kind: ItemKind::Resource,
            name: uri,
            hints: None,
        };
        let decided = self.snapshot.settings.decide(&self.client.caller, item);
        matches!(decided, AccessDecision::Permit(_))
    }

    /// Whether the endpoint has this method. What a server that is away can do is not known.
    fn has(&self, method: Method) -> bool {
        match &self.endpoint {
            _ if method == Method::CallTool => true,
            Endpoint::Server(name) => {
                let capabilities = self.capabilities(name);
                let is_subscription = matches!(method, Method::Subscribe | Method::Unsubscribe);
                // A modern client subscribes with `subscriptions/listen`.
                if is_subscription && self.client.era == ClientEra::Modern {
                    return false;
                }
                capabilities.is_none_or(|capabilities| capabilities.has(method.capability()))
            }
            Endpoint::Router | Endpoint::Direct => false,
        }
    }

    /// What is known for signals about a call; nothing if none are sent.
    fn begin_signals(&self, meta: Option<&Bytes>) -> Option<Arc<CallSignals>> {
        let signals = &self.services.signals;
        trace_context::begin(signals, meta, self.transport, self.client.era)
    }

    /// Where the notes of a call go: nowhere, unless the client reads more than the reply.
    fn note_channel(&self) -> (NoteSink, Option<CallNotes>) {
        if !self.transport.hears_notes() {
            return (NoteSink::closed(), None);
        }
        let least = match (self.client.era, &self.client.session) {
            // A modern client asks with each request, or hears nothing.
            (ClientEra::Modern, _) => {
                let level = self.message.meta_member(MetaMember::LogLevel);
                level.as_ref().and_then(Level::token)
            }
            (_, Some(session)) => Some(session.level()),
            (_, None) => Some(Level::default()),
        };
        let least = least.unwrap_or(Level::SILENT);
        // A client with a session has asked once; other clients ask in the request itself, or not at all.
        let standing = self.client.session.as_ref().and_then(|_| least.name());
        let progress_token = self.message.meta_member(MetaMember::ProgressToken);
        let (sink, notes) = notes::channel(progress_token, standing);
        (sink, Some(CallNotes { notes, least }))
    }
}

/// What becomes of a subscription to a resource.
enum Watching {
    /// It is the server's to answer.
    Forwarded,
    /// The gateway has the answer.
    Answered,
    /// The client watches as much as it may.
    Refused,
}

/// The snapshot that a call is routed with: once the lists are there that may have its tool.
async fn await_lists(
    services: &Arc<Services>,
    tool_list_wait: ToolListWait<'_>,
    mut snapshot: Arc<Snapshot>,
    call: &Call,
) -> Arc<Snapshot> {
    if waits_for_lists(&snapshot, call) {
        let listed = tool_list_wait.wait(snapshot, &call.endpoint);
        snapshot = Box::pin(listed).await;
    }
    if is_unknown_tool(&snapshot, call) {
        // The server may show this client tools that it shows no other.
        Box::pin(own_tools(services, &snapshot, &call.endpoint, &call.client)).await;
    }
    snapshot
}

/// The reply without what the caller may not see, and with addresses as the client knows them.
fn for_client(reply: Reply, visible: Option<&VisibleItems>, links: Option<&Links>) -> Reply {
    let reply = match visible {
        None => reply,
        Some(visible) => visible.show(reply),
    };
    match links {
        None => reply,
        Some(links) => reply::show_links(reply, |uri| links.shown(uri)),
    }
}

/// Whether a modern client's headers repeat the arguments that the tool's schema marks.
fn repeats_arguments(snapshot: &Snapshot, call: &Call, transport: ClientTransport<'_>) -> bool {
    let ClientTransport::Http(headers, _) = transport else {
        return true;
    };
    if call.client.era != ClientEra::Modern || call.method != Method::CallTool {
        return true;
    }
    if call.endpoint == Endpoint::Router {
        return true;
    }
    let tool = find(snapshot, call);
    tool.map_or(true, |tool| {
        tool.mirrored().agree(call.arguments.as_deref(), headers)
    })
}
