//! The state machine between one server and its clients, for programs that embed inspection in an MCP client. It takes
//! and gives whole JSON-RPC messages as bytes: it learns tool lists, remembers which contract a call started under, and
//! passes on only what was inspected. It does no I/O; the program moves the bytes.
//!
//! Over stdio every request gets an id of the boundary's own, so several connections may share one boundary. Over HTTP
//! the request decides, not the id: what comes back in an exchange answers that exchange's request.

mod era;
mod exchange;
mod judge;
mod message;
mod passed;
mod recover_id;
mod request;
mod requests;
mod tool_list;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use countersign_tape::{Envelope, Kind, Member, ScanLimits, Span, scan};

pub use exchange::Exchange;
pub use passed::{JudgedCall, Passed};

use crate::clean::note::{Note, NotePolicy};
use crate::emit::randomness::{NoRandomness, Randomness};
use crate::era::Era;
use crate::inspector::Inspector;
use era::request_era;
use exchange::Answers;
use message::{batch_messages, join, member, replaced, string};
use recover_id::recover_id;
use request::{Question, Request};
use requests::Requests;

/// Nothing of the client's is refused for its size: the server is who is not trusted.
const UNLIMITED: ScanLimits = ScanLimits {
    max_bytes: u32::MAX as usize,
    max_depth: 1_000_000,
};

/// Stands between one server and its clients.
///
/// ```
/// use std::sync::Arc;
/// use bytes::Bytes;
/// use countersign_inspect::{Boundary, Decision, Inspector, Mode, Policy};
///
/// let mut policy = Policy::default();
/// policy.output.mode = Mode::Strict;
/// let boundary = Arc::new(Boundary::new(Arc::new(Inspector::new(policy))));
///
/// let list = boundary.exchange(&Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#));
/// list.received(Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":{"tools":[
///     {"name":"count","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]}}]}}"#));
///
/// let call = br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count"}}"#;
/// let call = boundary.exchange(&Bytes::from_static(call));
/// let answer = call.received(Bytes::from_static(
///     br#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":{}}}"#,
/// ));
/// assert_eq!(answer.call().map(|call| call.inspected().decision()), Some(Decision::Blocked));
/// ```
pub struct Boundary {
    inspector: Arc<Inspector>,
    randomness: Box<dyn Randomness + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Requests under way over stdio, by the id they were given here.
    requests: Requests,
    /// Requests under way over HTTP.
    exchanges: exchange::Exchanges,
    /// What `initialize` settled.
    era: Option<Era>,
}

impl Boundary {
    /// A boundary that has seen nothing yet. Where the settings put texts between tags, use
    /// [`with_randomness`](Self::with_randomness): without randomness such results are refused.
    pub fn new(inspector: Arc<Inspector>) -> Self {
        Self::with_randomness(inspector, NoRandomness)
    }

    /// The same, with nonces for the tags around texts.
    pub fn with_randomness(
        inspector: Arc<Inspector>,
        randomness: impl Randomness + Send + Sync + 'static,
    ) -> Self {
        Self {
            inspector,
            randomness: Box::new(randomness),
            state: Mutex::default(),
        }
    }

    /// What results are judged by.
    pub fn inspector(&self) -> &Arc<Inspector> {
        &self.inspector
    }

    /// Takes a client's message towards a server on stdio, and gives the message to send: a request leaves under an id
    /// of the boundary's own. The cancellation of an id that several connections use becomes one line for each; a server
    /// ignores those that are not its own.
    pub fn sent(&self, message: Bytes) -> Bytes {
        let Ok(envelope) = scan(&message, &UNLIMITED) else {
            return message;
        };
        if envelope.kind() == Kind::Array {
            let messages = batch_messages(&message, envelope.root());
            return join(messages.map(|message| Some(self.sent(message))));
        }
        let Some(method) = string(&message, envelope.method()) else {
            return message;
        };
        match envelope.id() {
            Some(id) => {
                let request = self.read_request(&message, &envelope, &method, id);
                let own = self.state().requests.insert(request);
                replaced(&message, id, own.to_string())
            }
            None if method == "notifications/cancelled" => self.cancelled(message, &envelope),
            None => message,
        }
    }

    /// Takes a server's message on stdio, and gives what the client may read. An answer to a request that was not sent
    /// is dropped, and so is what is not JSON. A message that is cut at one byte more than `max_message_bytes` is
    /// refused as too large.
    pub fn received(&self, message: Bytes) -> Passed {
        let limit = self.inspector.base_policy().max_message_bytes;
        let scanned = if message.len() > limit {
            None
        } else {
            scan(&message, &UNLIMITED).ok()
        };
        let Some(envelope) = scanned else {
            let id = recover_id(&message).map(|id| message.slice_ref(id));
            return self.answered(id, message);
        };
        if envelope.kind() == Kind::Array {
            let messages = batch_messages(&message, envelope.root());
            return Passed::batch(messages.map(|message| self.received(message)));
        }
        if is_response(&envelope) {
            let id = envelope.id().map(|id| message.slice(id.range()));
            return self.answered(id, message);
        }
        self.note(message, &envelope)
    }

    /// Begins an HTTP exchange with a request's body. What comes back goes through [`Exchange::received`].
    pub fn exchange(self: &Arc<Self>, request: &Bytes) -> Exchange {
        let mut requests = Vec::new();
        if let Ok(envelope) = scan(request, &UNLIMITED) {
            if envelope.kind() == Kind::Array {
                let messages = batch_messages(request, envelope.root());
                requests.extend(messages.filter_map(|message| self.read_exchanged(&message)));
            } else {
                requests.extend(self.read_exchanged(request));
            }
        }
        let answers = Arc::new(Answers::new(requests));
        self.state().exchanges.open(&answers);
        Exchange::new(Arc::clone(self), answers)
    }

    /// Begins an HTTP exchange that listens (GET). `last_event` is its `Last-Event-ID`: the stream then goes on with the
    /// answer to the request whose stream had that event.
    pub fn listen(self: &Arc<Self>, last_event: Option<&[u8]>) -> Exchange {
        let Some(event) = last_event else {
            return Exchange::listening(Arc::clone(self));
        };
        let state = self.state();
        if state.exchanges.has_listened(event) {
            return Exchange::listening(Arc::clone(self));
        }
        // After an event that is not known, no response passes: it could be meant for any request.
        let resumed = state.exchanges.resumed(event);
        Exchange::new(Arc::clone(self), resumed.unwrap_or_default())
    }

    fn read_exchanged(&self, message: &Bytes) -> Option<Request> {
        let envelope = scan(message, &UNLIMITED).ok()?;
        let method = string(message, envelope.method())?;
        Some(self.read_request(message, &envelope, &method, envelope.id()?))
    }

    fn read_request(
        &self,
        message: &Bytes,
        envelope: &Envelope,
        method: &str,
        id: Span,
    ) -> Request {
        let mut input = None;
        let question = match method {
            "tools/list" => Question::ToolList,
            "initialize" => Question::Initialize,
            "tools/call" => {
                let name = string(message, envelope.get(Member::ParamsName)).unwrap_or_default();
                let tool = self.inspector.tool_name(&name);
                let arguments = envelope.get(Member::ParamsArguments);
                let arguments = arguments.map(|arguments| arguments.bytes(message));
                input = Some(self.inspector.arguments(&tool, arguments));
                Question::Call(self.inspector.contract(&tool))
            }
            other => Question::Other(other.to_owned()),
        };
        Request {
            client_id: message.slice(id.range()),
            question,
            input,
            era: request_era(message, envelope),
        }
    }

    fn cancelled(&self, message: Bytes, envelope: &Envelope) -> Bytes {
        let params = envelope.params().unwrap_or(Span::new(0, 0));
        let Some(id) = member(&message, params, "requestId") else {
            return message;
        };
        let own = self.state().requests.cancel(id.bytes(&message));
        if own.is_empty() {
            return message;
        }
        let lines = own
            .iter()
            .map(|own| replaced(&message, id, own.to_string()));
        let lines: Vec<Bytes> = lines.collect();
        lines.join(&b'\n').into()
    }

    fn answered(&self, id: Option<Bytes>, message: Bytes) -> Passed {
        let taken = id.and_then(|id| {
            let request = self.state().requests.take(&id)?;
            Some((request, id))
        });
        match taken {
            Some((request, id)) => self.judge(request, id, message),
            None => Passed::dropped(),
        }
    }

    /// A notification or a request of the server's.
    fn note(&self, message: Bytes, envelope: &Envelope) -> Passed {
        let policy = NotePolicy::from(self.inspector.base_policy());
        let note = match envelope.id() {
            Some(id) => Note::request(message.clone(), id.bytes(&message), &policy),
            None => Note::admit(message, &policy),
        };
        note.map_or_else(Passed::dropped, |note| Passed::note(note.bytes().clone()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Boundary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Boundary").finish_non_exhaustive()
    }
}

/// Whether a message answers something. One that also has a method does: the inspection cuts the method.
fn is_response(envelope: &Envelope) -> bool {
    envelope.result().is_some() || envelope.error().is_some() || envelope.method().is_none()
}

#[cfg(test)]
mod tests;
