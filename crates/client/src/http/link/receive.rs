//! Taking the messages of a server: which is the answer that is waited for, and what becomes of the others.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_wire::error_code::METHOD_NOT_FOUND;
use countersign_wire::head::{self, Head, progress_id};
use countersign_wire::message;
use tokio::time::timeout;

use super::Link;
use crate::http::response::trimmed;
use crate::notes::NoteSink;

/// How long the answer to a request of the server's may take to be delivered.
const DELIVERY: Duration = Duration::from_mins(1);

/// What a message of the server's was.
#[derive(Debug)]
pub(crate) enum Received {
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
    ) -> Received {
        match head::read(message) {
            Head::Answer(found) if Some(found) == id => return Received::Answer(trimmed(message)),
            Head::Answer(_) | Head::Stray => {
                self.observer.stray_answer(&self.server);
                return Received::Stray;
            }
            Head::Request { id, method } => self.answer_request(id, &method),
            Head::Notification { method } => self.receive_notification(&method, message, id, notes),
            Head::Batch(parts) => {
                let mut received = Received::Nothing;
                for part in parts {
                    let part = message.slice_ref(part.bytes(message));
                    if part.trim_ascii_start().starts_with(b"[") {
                        continue;
                    }
                    match self.receive(&part, id, notes) {
                        Received::Nothing => {}
                        Received::Answer(answer) => return Received::Answer(answer),
                        Received::Stray => received = Received::Stray,
                    }
                }
                return received;
            }
            Head::Noise => {
                self.observer.message_skipped(&self.server, message);
            }
        }
        Received::Nothing
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
            _ => notes.offer(method, message),
        }
    }

    /// A request of the server's own. Nothing but `ping` can be answered for a shared session.
    fn answer_request(self: &Arc<Self>, id: &[u8], method: &str) {
        let answer = match method {
            "ping" => message::answer(id, b"{}"),
            _ => message::refuse(id, METHOD_NOT_FOUND, "Method not found"),
        };
        // A server that asks and asks is not answered for ever.
        let Ok(turn) = Arc::clone(&self.answers).try_acquire_owned() else {
            return;
        };
        let link = Arc::clone(self);
        tokio::spawn(async move {
            let headers = link.session.load().headers.clone();
            let told = timeout(DELIVERY, link.tell(headers, answer)).await;
            drop((told, turn));
        });
    }
}
