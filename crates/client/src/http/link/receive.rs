//! Taking the messages of a server: which is the answer that is waited for, and what becomes of the others.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_wire::error_code::METHOD_NOT_FOUND;
use countersign_wire::head::{self, Head, progress_id};
use countersign_wire::message;
use hyper::header::HeaderMap;
use tokio::time::timeout;

use super::{DELIVERIES, Link};
use crate::http::response::trimmed;
use crate::notes::NoteSink;
use crate::peer::ServerSide;

/// How long a message without an answer may take to be delivered.
const DELIVERY: Duration = Duration::from_mins(1);

/// What a message from the server was.
#[derive(Debug)]
pub(crate) enum ReceivedMessage {
    /// The answer that was waited for.
    Answer(Bytes),
    /// An answer to something else.
    Stray,
    Nothing,
}

impl Link {
    /// Takes a message of the server's; `id` is the request it may answer.
    pub(crate) fn receive(
        self: &Arc<Self>,
        message: &Bytes,
        id: Option<u64>,
        notes: &NoteSink,
    ) -> ReceivedMessage {
        match head::read(message) {
            Head::Answer(found) if Some(found) == id => {
                return ReceivedMessage::Answer(trimmed(message));
            }
            Head::Answer(_) | Head::Stray => {
                self.observer.stray_answer(&self.server);
                return ReceivedMessage::Stray;
            }
            Head::Request { id: asked, method } => {
                let call = id.and_then(|_| notes.is_open().then(|| notes.clone()));
                self.answer_request(asked, &method, message, call);
            }
            Head::Notification { method } => self.receive_notification(&method, message, id, notes),
            Head::Batch(parts) => {
                let mut received = ReceivedMessage::Nothing;
                for part in parts {
                    let part = message.slice_ref(part.bytes(message));
                    if part.trim_ascii_start().starts_with(b"[") {
                        continue;
                    }
                    match self.receive(&part, id, notes) {
                        ReceivedMessage::Nothing => {}
                        ReceivedMessage::Answer(answer) => return ReceivedMessage::Answer(answer),
                        ReceivedMessage::Stray => received = ReceivedMessage::Stray,
                    }
                }
                return received;
            }
            Head::Noise => {
                self.observer.message_skipped(&self.server, message);
            }
        }
        ReceivedMessage::Nothing
    }

    fn receive_notification(
        &self,
        method: &str,
        message: &Bytes,
        id: Option<u64>,
        notes: &NoteSink,
    ) {
        match method {
            "notifications/tools/list_changed" => self.list_changed.notify_one(),
            // Progress of another request is not passed on.
            "notifications/progress" if progress_id(message) != id => {}
            "notifications/progress" => notes.offer(method, message),
            "notifications/message" if notes.is_open() => notes.offer(method, message),
            _ => {
                let call = id.and_then(|_| notes.is_open().then(|| notes.clone()));
                let peer = self.peer.as_ref();
                if !peer.is_some_and(|peer| peer.hear(None, method, message, call)) {
                    self.announcements.offer(method, message);
                }
            }
        }
    }

    /// A request of the server's own. Nothing but `ping` can be answered for a shared session.
    fn answer_request(
        self: &Arc<Self>,
        id: &[u8],
        method: &str,
        message: &Bytes,
        call: Option<NoteSink>,
    ) {
        let peer = self.peer.as_ref();
        if peer.is_some_and(|peer| peer.hear(Some(id), method, message, call)) {
            return;
        }
        let answer = match method {
            "ping" => message::answer(id, b"{}"),
            _ => message::refuse(id, METHOD_NOT_FOUND, "Method not found"),
        };
        // A server that asks faster than it takes answers gets no more of them; the client's own still go through.
        if self.deliveries.available_permits() > usize::from(DELIVERIES / 2) {
            Arc::clone(self).deliver(&answer);
        }
    }

    /// Sends a message that has no answer, with these headers and after those that wait to be sent. If too many wait, it is
    /// lost.
    pub(crate) fn deliver_in(self: Arc<Self>, headers: HeaderMap, message: &[u8]) {
        let Ok(place) = Arc::clone(&self.deliveries).try_acquire_owned() else {
            return self.refused("too many messages wait for the server");
        };
        let message = message.trim_ascii_end().to_vec();
        tokio::spawn(async move {
            if let Ok(turn) = self.answers.acquire().await {
                let told = timeout(DELIVERY, self.tell(headers, message)).await;
                drop((told, turn));
            }
            drop(place);
        });
    }
}

impl ServerSide for Link {
    fn deliver(self: Arc<Self>, message: &[u8]) {
        let headers = self.session.load().headers.clone();
        self.deliver_in(headers, message);
    }

    fn renew_calls(&self) {
        self.calls.renew();
    }

    fn any_call(&self) -> Option<NoteSink> {
        self.calls.any()
    }
}
