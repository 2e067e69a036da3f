//! JSON-RPC with one child process: one line, one message, any number of ids in flight. A line
//! over the limit costs no memory, and the call it answers is told so.

mod lines;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_dial::{Child, Pipes, Tail};
use countersign_tape::compact;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::process::ChildStdout;
use tokio::sync::{mpsc, oneshot};

use super::Options;
use super::exchange::{Exchange, Fault, Reply, Stamps};
use super::hello::ConnectError;
use super::message::{self, Outgoing};
use super::reading::{self, Heard};
use super::target::Program;

use lines::{Lines, Read};

/// Requests on their way to the pipe.
const QUEUE: usize = 1024;
const CHUNK: usize = 64 * 1024;
/// The way to one child.
#[derive(Debug)]
pub(super) struct Stdio {
    shared: Arc<Shared>,
    next: AtomicU64,
    outbox: Mutex<Option<mpsc::Sender<Line>>>,
    child: Mutex<Option<Child>>,
    stderr: Tail,
}

#[derive(Debug, Default)]
struct Shared {
    pending: Mutex<HashMap<u64, Pending>>,
    is_closed: AtomicBool,
    /// Lines on stdout that are no messages.
    noise: AtomicU64,
}

/// A call that waits.
#[derive(Debug)]
struct Pending {
    sent: Option<Instant>,
    first_event: Option<Instant>,
    slot: oneshot::Sender<Answered>,
}

#[derive(Debug)]
struct Answered {
    reply: Result<Reply, Fault>,
    sent: Option<Instant>,
    first_event: Option<Instant>,
    done: Instant,
    message: Option<Bytes>,
}

/// A line to write; `id` is the call that it makes.
#[derive(Debug)]
struct Line {
    id: Option<u64>,
    bytes: Vec<u8>,
}

impl Stdio {
    pub(super) fn start(program: &Program, options: &Options) -> Result<Arc<Self>, ConnectError> {
        let started = Child::start(program.command_line());
        let (child, Pipes { stdin, stdout }) = started.map_err(ConnectError::Start)?;
        let shared = Arc::new(Shared::default());
        let (outbox, lines) = mpsc::channel(QUEUE);
        tokio::spawn(write(stdin, lines, Arc::clone(&shared)));
        let reader = Reader {
            shared: Arc::clone(&shared),
            answers: outbox.downgrade(),
            limit: options.max_message_bytes,
        };
        tokio::spawn(reader.run(stdout));
        Ok(Arc::new(Self {
            shared,
            next: AtomicU64::new(1),
            outbox: Mutex::new(Some(outbox)),
            stderr: child.stderr(),
            child: Mutex::new(Some(child)),
        }))
    }

    pub(super) async fn exchange(&self, outgoing: &Outgoing<'_>, wait: Duration) -> Exchange {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut stamps = Stamps::start();
        let waited = tokio::time::timeout(wait, self.ask(id, outgoing)).await;
        let reply = match waited {
            Ok(Ok(answered)) => {
                stamps.sent = answered.sent.unwrap_or(stamps.sent);
                stamps.first_event = answered.first_event;
                stamps.done = Some(answered.done);
                stamps.message = answered.message;
                answered.reply
            }
            Ok(Err(fault)) => Err(fault),
            Err(_) => {
                if let Some(pending) = self.shared.pending().remove(&id) {
                    stamps.sent = pending.sent.unwrap_or(stamps.sent);
                    stamps.first_event = pending.first_event;
                    self.cancel(id);
                }
                Err(Fault::TimedOut)
            }
        };
        stamps.exchange(reply)
    }

    async fn ask(&self, id: u64, outgoing: &Outgoing<'_>) -> Result<Answered, Fault> {
        let outbox = self.outbox().clone().ok_or(Fault::Unreachable)?;
        let (slot, answer) = oneshot::channel();
        let pending = Pending {
            sent: None,
            first_event: None,
            slot,
        };
        self.shared.pending().insert(id, pending);
        let bytes = one_line(outgoing.message(id));
        let line = Line {
            id: Some(id),
            bytes,
        };
        // Closing clears what is pending; what comes later has to look itself.
        if self.is_closed() || outbox.send(line).await.is_err() {
            self.shared.pending().remove(&id);
            return Err(Fault::Unreachable);
        }
        answer.await.map_err(|_| Fault::Closed)
    }

    /// Tells the server that nobody waits; not worth waiting for.
    fn cancel(&self, id: u64) {
        if let Some(outbox) = &*self.outbox() {
            let bytes = message::cancelled(id);
            drop(outbox.try_send(Line { id: None, bytes }));
        }
    }

    pub(super) async fn notify(&self, method: &str) {
        let outbox = self.outbox().clone();
        if let Some(outbox) = outbox {
            let bytes = message::notification(method);
            drop(outbox.send(Line { id: None, bytes }).await);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.shared.is_closed.load(Ordering::Acquire)
    }

    pub(super) fn noise(&self) -> u64 {
        self.shared.noise.load(Ordering::Relaxed)
    }

    pub(super) fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Closes the pipe, then ends the process.
    pub(super) async fn close(&self) {
        drop(self.outbox().take());
        let child = self
            .child
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(child) = child {
            child.end().await;
        }
    }

    fn outbox(&self) -> MutexGuard<'_, Option<mpsc::Sender<Line>>> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn pending(&self) -> MutexGuard<'_, HashMap<u64, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody will be answered any more.
    fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.pending().clear();
    }

    fn answer(&self, id: u64, reply: Result<Reply, Fault>, message: Option<Bytes>, done: Instant) {
        if let Some(pending) = self.pending().remove(&id) {
            drop(pending.slot.send(Answered {
                reply,
                sent: pending.sent,
                first_event: pending.first_event,
                done,
                message,
            }));
        }
    }
}

async fn write(mut stdin: pipe::Sender, mut lines: mpsc::Receiver<Line>, shared: Arc<Shared>) {
    while let Some(mut line) = lines.recv().await {
        line.bytes.push(b'\n');
        if let Some(id) = line.id
            && let Some(pending) = shared.pending().get_mut(&id)
        {
            pending.sent = Some(Instant::now());
        }
        if stdin.write_all(&line.bytes).await.is_err() {
            break;
        }
    }
}

/// A message without line breaks: strings cannot hold raw ones, so only white space is lost.
fn one_line(message: Vec<u8>) -> Vec<u8> {
    if memchr::memchr2(b'\n', b'\r', &message).is_none() {
        return message;
    }
    compact(&message).into_owned()
}

/// What reads the child's lines.
struct Reader {
    shared: Arc<Shared>,
    /// Weak, so that the pipe is closed when the client is.
    answers: mpsc::WeakSender<Line>,
    limit: usize,
}

impl Reader {
    async fn run(self, mut stdout: ChildStdout) {
        let mut lines = Lines::new(self.limit);
        loop {
            lines.buffer.reserve(CHUNK);
            match stdout.read_buf(&mut lines.buffer).await {
                Ok(1..) => {}
                Ok(0) | Err(_) => break,
            }
            let now = Instant::now();
            while let Some(read) = lines.next() {
                match read {
                    Read::Whole(line) => self.hear(&line, now, true),
                    Read::TooLarge(id) => {
                        if let Some(id) = id {
                            self.shared.answer(id, Err(Fault::TooLarge), None, now);
                        }
                    }
                }
            }
        }
        self.shared.close();
    }

    fn hear(&self, line: &Bytes, now: Instant, outermost: bool) {
        match reading::read(line) {
            Heard::Answer(id, reply) => self.shared.answer(id, reply, Some(line.clone()), now),
            Heard::Request { id, method } => {
                if let Some(answers) = self.answers.upgrade() {
                    let bytes = message::answer(&id, &method);
                    // A server that asks and asks is not answered for ever.
                    drop(answers.try_send(Line { id: None, bytes }));
                }
            }
            Heard::Batch(parts) if outermost => {
                for part in parts {
                    self.hear(&part, now, false);
                }
            }
            Heard::Noise => {
                self.shared.noise.fetch_add(1, Ordering::Relaxed);
            }
            Heard::Batch(_) | Heard::Other => {}
        }
    }
}
