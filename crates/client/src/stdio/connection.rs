//! JSON-RPC with one child: requests go out under ids that the client chooses, and lines that come in find the
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

use super::outbox::{Outbox, OutboxError};
use crate::announcement::Announcements;
use crate::cancel_reason::CancelReason;
use crate::error::Error;
use crate::notes::NoteSink;
use crate::observer::Observer;
use crate::peer::{Peer, ServerSide};
use crate::pending::{AnswerReceiver, AnswerResult, Pending};
use crate::timings::Timings;

/// A JSON-RPC connection over the standard input and output of a child process.
#[derive(Debug)]
pub(crate) struct StdioConnection {
    outbox: Outbox,
    pending: Pending,
    /// Notified when the server says that its tools have changed.
    pub(crate) list_changed: Notify,
    pub(crate) announcements: Announcements,
    max_message_bytes: usize,
    server: Arc<str>,
    observer: Arc<dyn Observer>,
    /// The client that the server may ask, if it has only one.
    peer: Option<Arc<Peer>>,
}

impl StdioConnection {
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
            announcements: Announcements::default(),
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
    ) -> Result<StdioRequest, Error> {
        let (id, answer) = self.pending.open(notes).ok_or_else(ended)?;
        // From here on the slot is withdrawn whatever happens.
        let mut slot = StdioRequest {
            id,
            answer,
            connection: Arc::clone(self),
            reason: notes.cancel_reason().cloned(),
            cancels: false,
        };
        let line = line(id)?;
        self.outbox.send(&line).map_err(|refused| match refused {
            OutboxError::Full => Error::QueueFull,
            OutboxError::Closed => ended(),
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

    fn settle(&self, id: u64, answer: AnswerResult) {
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
        // A process does not say which call its message belongs to.
        let peer = self.peer.as_ref();
        peer.is_some_and(|peer| peer.hear(id, method, message, None))
    }

    fn receive_notification(&self, method: &str, line: &Bytes) {
        let waiting = match method {
            "notifications/tools/list_changed" => return self.list_changed.notify_one(),
            "notifications/progress" => progress_id(line).and_then(|id| self.pending.notes(id)),
            // A log message does not say which call it belongs to.
            "notifications/message" => self.pending.only_notes(),
            _ => None,
        };
        match waiting {
            Some(notes) => notes.offer(method, line),
            None if self.passes_on(None, method, line) => {}
            None => self.announcements.offer(method, line),
        }
    }
}

impl ServerSide for StdioConnection {
    fn deliver(self: Arc<Self>, message: &[u8]) {
        self.tell(&message::as_line(message));
    }

    fn renew_calls(&self) {
        self.pending.renew();
    }

    fn any_call(&self) -> Option<NoteSink> {
        self.pending.any_notes()
    }
}

/// The process has ended or closed its input.
fn ended() -> Error {
    Error::NotSent("the process has ended".into())
}

/// A request under way. Dropping it before the answer came cancels it at the server.
#[derive(Debug)]
pub(crate) struct StdioRequest {
    id: u64,
    answer: AnswerReceiver,
    connection: Arc<StdioConnection>,
    /// Says why the client cancels it.
    reason: Option<CancelReason>,
    /// Whether the server knows of the request.
    cancels: bool,
}

impl StdioRequest {
    /// The id the request went out under.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Waits for the answer.
    pub(crate) async fn answer(mut self) -> AnswerResult {
        let answer = (&mut self.answer).await;
        answer.map_or(Err(Error::Lost), |(answer, _)| answer)
    }

    /// Waits for the answer and notes when it came.
    pub(crate) async fn timed_answer(mut self, timings: &mut Timings) -> AnswerResult {
        let (answer, at) = (&mut self.answer).await.map_err(|_| Error::Lost)?;
        timings.done = Some(at);
        answer
    }
}

impl Drop for StdioRequest {
    fn drop(&mut self) {
        if self.connection.pending.withdraw(self.id) && self.cancels {
            let reason = self.reason.as_ref().and_then(CancelReason::token);
            self.connection.tell(&message::cancelled(self.id, reason));
        }
    }
}
