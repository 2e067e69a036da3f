//! The client that a server speaks to, and the ways to it: the stream of the call that a message belongs to, the client's own
//! stream, the stream of any call.

use std::sync::Arc;

use bytes::Bytes;
use countersign_client::{NoteSink, Peer};
use countersign_inspect::{Note, NotePolicy};
use countersign_tape::Span;
use countersign_wire::json::path;

use crate::path::reply;
use crate::services::{Outbox, Session};

/// The client that a message is for.
pub(super) struct Addressee<'a> {
    pub(super) session: &'a Arc<Session>,
    pub(super) peer: &'a Arc<Peer>,
    /// The notes of the call that the message belongs to.
    pub(super) call: Option<NoteSink>,
}

impl Addressee<'_> {
    /// Whether a request of this size could be sent to the client.
    pub(super) fn has_room(&self, size: usize) -> bool {
        let has_call = || self.call.is_some() || self.peer.any_call().is_some();
        self.session.server_requests.has_room(self.peer)
            && (self.session.outbox.has_room(size) || has_call())
    }

    /// Sends a message to the client: on the stream of the call it belongs to, on the client's own stream, or on that of
    /// any call. Without a stream it waits for one, as `queue` lets it. False if too many wait.
    pub(super) fn send(&self, note: Note, queue: impl FnOnce(&Outbox, Bytes) -> bool) -> bool {
        let bytes = note.bytes().clone();
        let note = match &self.call {
            Some(call) => match call.say(note) {
                Ok(()) => return true,
                Err(note) => note,
            },
            None => note,
        };
        if !self.session.has_stream()
            && let Some(call) = self.peer.any_call()
            && call.say(note).is_ok()
        {
            return true;
        }
        queue(&self.session.outbox, bytes)
    }

    /// Tells the client that the server does not wait for an answer any more.
    pub(super) fn withdraw(&self, message: &Bytes, policy: &NotePolicy) {
        let id = path(message, Span::whole(message), &["params", "requestId"]);
        let id = id.map(|id| message.slice_ref(id.bytes(message)));
        let withdrawn = id.and_then(|id| self.session.server_requests.withdraw(self.peer, &id));
        let Some((ours, call)) = withdrawn else {
            return;
        };
        // Without the reason if that cannot be shown.
        let note = Note::cancellation(message.clone(), &ours, policy)
            .or_else(|| Note::admit(reply::cancelled(&ours), policy));
        if let Some(note) = note {
            // The way that the request took.
            let client = Addressee { call, ..*self };
            client.send(note, Outbox::push_request);
        }
    }
}
