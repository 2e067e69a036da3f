//! Standard input and output as the way of one client to one server: a message a line. Each
//! request is answered in a task of its own, by the path every request takes, and may be cancelled
//! by its id; one writer puts out one line after the other. There is no key: the
//! client that holds the pipe started the gateway.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use countersign_client::{Peer, PeerMessage, ServerHandle, State};
use countersign_dial::{Line, LineRefusal, Lines, lock};
use countersign_inspect::ClientEra;
use countersign_tape::{Kind, ScanLimits, scan};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;
use tokio::time::timeout;

mod batch;

use super::client_transport::{ClientTransport, Pipe};
use super::listener::{Audience, Listener};
use super::mcp;
use super::message::{Message, MessageKind};
use crate::path::client::Client;
use crate::path::reply::{self, Body, Framing, Problem};
use crate::path::server_relay::ServerRelay;
use crate::services::{NewSession, Runtime};
use crate::state::{Caller, Endpoint};

/// Requests at once; what comes then waits in the pipe.
const REQUESTS: usize = 1024;
/// Messages that wait to be written.
const WAITING: usize = 64;
/// Small messages that wait are written together, up to this much.
const TOGETHER: usize = 64 * 1024;
/// A buffer that has grown beyond this is not kept.
const KEPT: usize = 1024 * 1024;

/// How often it is looked whether the client is still there.
const CHECK: Duration = Duration::from_secs(1);

/// Where messages go out.
type MessageSender = mpsc::Sender<Bytes>;

/// The one client, and what it has under way.
#[derive(Debug)]
pub(crate) struct StdioClient {
    runtime: Runtime,
    upstream: Arc<ServerHandle>,
    pipe: Pipe,
    /// The client, as the server sees it.
    peer: Arc<Peer>,
    out: MessageSender,
    active: Mutex<HashMap<Bytes, AbortHandle>>,
    places: Arc<Semaphore>,
}

impl StdioClient {
    /// A client of a server, and the messages for it. None if the system gives no randomness.
    pub(crate) fn new(
        runtime: Runtime,
        upstream: Arc<ServerHandle>,
        peer: Arc<Peer>,
    ) -> Option<(Arc<Self>, mpsc::Receiver<Bytes>)> {
        let sessions = &runtime.services.sessions;
        let caller = Arc::new(Caller::this_process());
        let new = NewSession {
            caller: Arc::clone(&caller.name),
            ..NewSession::default()
        };
        let session = sessions.find(&sessions.open(new, Duration::MAX)?, &caller.name)?;
        let (out, messages) = mpsc::channel(WAITING);
        let client = Self {
            runtime,
            upstream,
            pipe: Pipe::new(session, caller),
            peer,
            out,
            active: Mutex::default(),
            places: Arc::new(Semaphore::new(REQUESTS)),
        };
        Some((Arc::new(client), messages))
    }

    /// Passes on what the server says to its client, for as long as both are there.
    pub(crate) fn pass_on(self: &Arc<Self>, messages: mpsc::Receiver<PeerMessage>) {
        let (services, session) = (&self.runtime.services, &self.pipe.session);
        ServerRelay::start(
            services,
            session,
            self.upstream.name(),
            &self.peer,
            messages,
        );
        tokio::spawn(Self::send_queued(Arc::downgrade(self)));
    }

    /// Sends what the client is told outside of its calls.
    async fn send_queued(client: Weak<Self>) {
        let mut last = 0;
        loop {
            let session = client
                .upgrade()
                .map(|client| Arc::clone(&client.pipe.session));
            let Some(session) = session else {
                return;
            };
            // The client may go while nothing comes.
            let queued = timeout(CHECK, session.outbox.after(last)).await;
            if let (Ok((number, message)), Some(client)) = (queued, client.upgrade()) {
                last = number;
                client.send(message).await;
            }
        }
    }

    /// Takes messages until the input ends, or the output is closed.
    pub(crate) async fn serve(self: &Arc<Self>, input: impl AsyncRead + Unpin) {
        let limit = self.runtime.state.load().settings.config.max_message_bytes;
        let mut lines = Lines::new(input, limit, self.runtime.services.intake.clone());
        loop {
            let line = tokio::select! {
                line = lines.next() => line,
                () = self.out.closed() => return,
            };
            match line {
                Ok(Line::Whole(line)) if line.trim_ascii().is_empty() => {}
                Ok(Line::Whole(line)) => self.take(line).await,
                Ok(Line::Refused(why, id)) => self.refuse(why, id).await,
                Ok(Line::End) => break,
                Err(_) => return,
            }
        }
        // The last line of a client that closes the pipe may lack its line end.
        if let Some(line) = lines.rest().filter(|line| !line.trim_ascii().is_empty()) {
            self.take(line).await;
        }
    }

    async fn take(self: &Arc<Self>, line: Bytes) {
        if self.pipe.batches() && line.trim_ascii_start().starts_with(b"[") {
            return self.take_batch(&line).await;
        }
        match Message::parse(line) {
            Ok((MessageKind::Request { id, method }, message)) => {
                self.begin(id, &method, message).await;
            }
            Ok((MessageKind::Notification { method }, message)) => {
                self.take_notification(&method, &message);
            }
            Ok((MessageKind::Response, message)) => {
                mcp::answer_server(&self.pipe.session, &message);
            }
            Err(problem) => self.send_problem(None, &problem).await,
        }
    }

    fn take_notification(&self, method: &str, message: &Message) {
        match method {
            "notifications/initialized" => self.listen(),
            "notifications/cancelled" => self.cancel(message),
            // What a client says of its own accord or about what it was asked is the server's to hear.
            "notifications/roots/list_changed" | "notifications/progress" => {
                self.peer.tell(message.bytes());
            }
            _ => {}
        }
    }

    async fn begin(self: &Arc<Self>, id: Bytes, method: &str, message: Message) {
        let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
            return;
        };
        // A request that is refused as it stands, of a version that is not spoken here for example, does not tell how
        // the client will go on, and needs no server.
        let transport = ClientTransport::Pipe(&self.pipe);
        let is_refused =
            Client::from_request(&message, method, transport, &self.runtime.services.sessions)
                .is_err();
        let waits = method != "ping" && !is_refused;
        // Before whatever was sent after it.
        if method == "initialize" {
            self.pipe.introduce(&message);
            self.peer.initialize(message.param("capabilities").as_ref());
        } else if waits {
            self.peer.begin();
        }
        let taken = {
            let mut active = lock(&self.active);
            let taken = active.contains_key(&id);
            if !taken {
                let (client, work) = (Arc::clone(self), self.runtime.services.drain.work());
                let key = id.clone();
                let task = tokio::spawn(async move {
                    let _held = (place, work);
                    client.answer(&key, message, waits).await;
                });
                active.insert(id.clone(), task.abort_handle());
            }
            taken
        };
        if taken {
            let problem = Problem::Invalid("the id is in use");
            self.send_problem(Some(&id), &problem).await;
        }
    }

    async fn answer(&self, id: &Bytes, message: Message, waits: bool) {
        if waits && !self.is_up().await {
            self.release(id);
            return self.send_problem(Some(id), &Problem::Gone).await;
        }
        match self.reply(message).await {
            Body::Stream(mut messages) => {
                while let Some(message) = messages.recv().await {
                    self.send(message).await;
                }
                self.release(id);
            }
            whole => {
                // The client may use the id again as soon as it has the answer.
                self.release(id);
                self.send(whole.into_bytes()).await;
            }
        }
    }

    /// Answers the message.
    async fn reply(&self, message: Message) -> Body {
        let endpoint = Endpoint::Server(Arc::clone(self.upstream.name()));
        let transport = ClientTransport::Pipe(&self.pipe);
        let snapshot = self.runtime.state.load();
        let answer = mcp::read(&self.runtime, snapshot, endpoint, transport, message).await;
        answer.reply.body
    }

    /// Waits until the server has been greeted, as the client would without us; false if it is not
    /// to be.
    async fn is_up(&self) -> bool {
        let mut state = self.upstream.state();
        let settled = state.wait_for(|state| !matches!(state, State::Starting));
        settled
            .await
            .is_ok_and(|state| !matches!(*state, State::Stopped))
    }

    /// Tells a legacy client of changes from now on.
    fn listen(&self) {
        let session = Arc::clone(&self.pipe.session);
        let listener = Listener {
            endpoint: Endpoint::Server(Arc::clone(self.upstream.name())),
            audience: Audience::Session {
                after: None,
                ended: session.listen(),
                session,
            },
            caller: Arc::clone(&self.pipe.caller),
            framing: Framing::Bare,
        };
        if let Some(mut news) = listener.start(&self.runtime) {
            let out = self.out.clone();
            tokio::spawn(async move {
                while let Some(message) = news.recv().await {
                    if out.send(message).await.is_err() {
                        return;
                    }
                }
            });
        }
    }

    /// Lets go of a request, which ends its call. The protocol wants no answer to it then.
    fn cancel(&self, message: &Message) {
        let id = mcp::give_reason(&self.pipe.session, message);
        let task = id.and_then(|id| lock(&self.active).remove(&id));
        if let Some(task) = task {
            task.abort();
        }
    }

    fn release(&self, id: &Bytes) {
        let mut active = lock(&self.active);
        // Once cancelled, the id may be another request's.
        if active.get(id).map(AbortHandle::id) == tokio::task::try_id() {
            active.remove(id);
        }
    }

    async fn refuse(&self, why: LineRefusal, id: Option<Bytes>) {
        let problem = match why {
            LineRefusal::TooLarge => Problem::TooLarge,
            LineRefusal::NoMemory => Problem::Busy,
        };
        // The id has not been checked yet: what is no id is not sent back as one.
        let is_id = |id: &Bytes| {
            let kind = scan(id, &ScanLimits::default()).map(|id| id.kind());
            matches!(kind, Ok(Kind::String | Kind::Number))
        };
        self.send_problem(id.filter(is_id).as_deref(), &problem)
            .await;
    }

    async fn send_problem(&self, id: Option<&[u8]>, problem: &Problem) {
        let reply = reply::problem(id, problem, ClientEra::Unnegotiated);
        self.send(reply.body.into_bytes()).await;
    }

    async fn send(&self, message: Bytes) {
        // The output is closed: `serve` ends soon.
        let _unheard = self.out.send(message).await;
    }
}

/// Writes messages, a line each, until there are no more.
pub(crate) async fn write(
    mut messages: mpsc::Receiver<Bytes>,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut lines = Vec::new();
    while let Some(message) = messages.recv().await {
        lines.clear();
        append(&mut lines, &message);
        while lines.len() < TOGETHER
            && let Ok(message) = messages.try_recv()
        {
            append(&mut lines, &message);
        }
        output.write_all(&lines).await?;
        output.flush().await?;
        if lines.capacity() > KEPT {
            lines = Vec::new();
        }
    }
    Ok(())
}

fn append(lines: &mut Vec<u8>, message: &Bytes) {
    lines.extend_from_slice(&reply::line(message));
    lines.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_message_is_one_line_whatever_it_holds() {
        let (out, messages) = mpsc::channel(4);
        for message in [&b"{\"a\": 1.0}"[..], b"{\r\n \"b\" :\n\"c d\\n\"}"] {
            out.send(Bytes::from_static(message)).await.expect("room");
        }
        drop(out);
        let mut written = Vec::new();
        write(messages, &mut written).await.expect("memory");
        assert_eq!(
            String::from_utf8_lossy(&written),
            "{\"a\": 1.0}\n{\"b\":\"c d\\n\"}\n"
        );
    }
}
