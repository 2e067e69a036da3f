//! JSON-RPC with one child: requests go out under ids of ours, lines come in and find the
//! requests they answer. It knows nothing of MCP beyond `ping`, cancellation, notes about a call and the
//! news that a list has changed; answers are not read here.

use std::sync::Arc;

use bytes::Bytes;
use countersign_dial::{Line, LineRefusal, Lines};
use countersign_wire::error_code::METHOD_NOT_FOUND;
use countersign_wire::head::{self, Head, progress_id};
use countersign_wire::message;
use tokio::io::AsyncRead;
use tokio::sync::Notify;

use super::outbox::{Outbox, Refused};
use super::peer::Peer;
use crate::error::Error;
use crate::notes::NoteSink;
use crate::observer::Observer;
use crate::pending::{Answer, Pending, Receiver};
use crate::timings::Timings;

/// The two pipes to a child, as a peer that can be asked.
#[derive(Debug)]
pub(crate) struct Wire {
    outbox: Outbox,
    pending: Pending,
    /// Told when the server says that its tools have changed.
    pub(crate) list_changed: Notify,
    max_message_bytes: usize,
    server: Arc<str>,
    observer: Arc<dyn Observer>,
    /// The client that the server may ask, if it has only one.
    peer: Option<Arc<Peer>>,
}

impl Wire {
    pub(crate) fn new(
        outbox: Outbox,
        max_message_bytes: usize,
        server: Arc<str>,
        observer: Arc<dyn Observer>,
        peer: Option<Arc<Peer>>,
    ) -> Self {
        Self {
            outbox,
            pending: Pending::new(),
            list_changed: Notify::new(),
            max_message_bytes,
            server,
            observer,
            peer,
        }
    }

    /// Sends a request; `line` writes it for the id it is given, and what the server says about
    /// it before the answer goes to `notes`.
    pub(crate) fn ask(
        self: &Arc<Self>,
        notes: &NoteSink,
        line: impl FnOnce(u64) -> Result<Vec<u8>, Error>,
    ) -> Result<Slot, Error> {
        let (id, answer) = self.pending.open(notes).ok_or_else(ended)?;
        // From here on the slot is withdrawn whatever happens.
        let mut slot = Slot {
            id,
            answer,
            wire: Arc::clone(self),
            cancels: false,
        };
        let line = line(id)?;
        self.outbox.send(&line).map_err(|refused| match refused {
            Refused::Full => Error::QueueFull,
            Refused::Closed => ended(),
        })?;
        slot.cancels = true;
        Ok(slot)
    }

    /// Sends a notification. One that the child does not take is lost: it has no answer.
    pub(crate) fn tell(&self, line: &[u8]) {
        let _lost = self.outbox.send(line);
    }

    /// Writes what could not be written at once; ends when the pipe is closed.
    pub(crate) async fn flush(&self) {
        self.outbox.flush().await;
    }

    /// Closes the child's standard input; requests that wait learn that the connection is lost.
    pub(crate) fn close(&self) {
        self.outbox.close();
        self.pending.close();
    }

    /// Whether the connection is lost.
    pub(crate) fn is_closed(&self) -> bool {
        self.pending.is_closed()
    }

    /// Reads the child's output to its end.
    pub(crate) async fn listen<R: AsyncRead + Unpin>(&self, mut lines: Lines<R>) {
        loop {
            match lines.next().await {
                Ok(Line::Whole(line)) => self.receive(&line),
                Ok(Line::Refused(why, id)) => self.refused(why, id.as_ref()),
                Ok(Line::End) | Err(_) => return,
            }
        }
    }

    fn receive(&self, line: &Bytes) {
        match head::read(line) {
            Head::Answer(id) => self.settle(id, Ok(line.clone())),
            Head::Stray => self.observer.stray_answer(&self.server),
            Head::Request { id, method } => self.answer_request(id, &method, line),
            Head::Notification { method } => self.receive_notification(&method, line),
            Head::Batch(parts) => {
                for part in parts {
                    let part = line.slice_ref(part.bytes(line));
                    if !part.trim_ascii_start().starts_with(b"[") {
                        self.receive(&part);
                    }
                }
            }
            Head::Noise => self.observer.message_skipped(&self.server, line),
        }
    }

    fn settle(&self, id: u64, answer: Answer) {
        if !self.pending.settle(id, answer) {
            self.observer.stray_answer(&self.server);
        }
    }

    fn refused(&self, why: LineRefusal, id: Option<&Bytes>) {
        let limit = self.max_message_bytes as u64;
        let (reason, error) = match why {
            LineRefusal::TooLarge => ("larger than max_message_bytes", Error::TooLarge { limit }),
            LineRefusal::NoMemory => ("no memory to spare", Error::Busy),
        };
        self.observer.message_refused(&self.server, reason);
        if let Some(id) = id.and_then(|id| head::id_number(id)) {
            self.settle(id, Err(error));
        }
    }

    /// A request of the server's own. Nothing but `ping` can be answered for a shared session.
    fn answer_request(&self, id: &[u8], method: &str, message: &Bytes) {
        if self.passes_on(Some(id), method, message) {
            return;
        }
        let line = match method {
            "ping" => message::answer(id, b"{}"),
            _ => message::refuse(id, METHOD_NOT_FOUND, "Method not found"),
        };
        self.tell(&line);
    }

    /// Hands a message on to the one client there is; false if there is none, or if it cannot be asked that.
    fn passes_on(&self, id: Option<&[u8]>, method: &str, message: &Bytes) -> bool {
        let peer = self.peer.as_ref();
        peer.is_some_and(|peer| peer.hear(id, method, message))
    }

    /// Renews the time-out of every request that waits.
    pub(crate) fn renew(&self) {
        self.pending.renew();
    }

    fn receive_notification(&self, method: &str, line: &Bytes) {
        if self.passes_on(None, method, line) {
            return;
        }
        let waiting = match method {
            "notifications/tools/list_changed" => return self.list_changed.notify_one(),
            "notifications/progress" => progress_id(line).and_then(|id| self.pending.notes(id)),
            // A log message does not say which call it belongs to.
            "notifications/message" => self.pending.only_notes(),
            _ => None,
        };
        if let Some(notes) = waiting {
            notes.offer(method, line);
        }
    }
}

/// The process has ended or closed its input.
fn ended() -> Error {
    Error::NotSent("the process has ended".into())
}

/// A request under way. Dropping it before the answer came cancels it at the server.
#[derive(Debug)]
pub(crate) struct Slot {
    id: u64,
    answer: Receiver,
    wire: Arc<Wire>,
    /// Whether the server knows of the request.
    cancels: bool,
}

impl Slot {
    /// The id the request went out under.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Waits for the answer.
    pub(crate) async fn answer(mut self) -> Answer {
        let answer = (&mut self.answer).await;
        answer.map_or(Err(Error::Lost), |(answer, _)| answer)
    }

    /// Waits for the answer and notes when it came.
    pub(crate) async fn timed_answer(mut self, timings: &mut Timings) -> Answer {
        let (answer, at) = (&mut self.answer).await.map_err(|_| Error::Lost)?;
        timings.done = Some(at);
        answer
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.wire.pending.withdraw(self.id) && self.cancels {
            self.wire.tell(&message::cancelled(self.id));
        }
    }
}
