//! What a server asks of its client: a completion, an answer of the user's, its roots. It is the server's text like any
//! other, so it is cleaned and recorded before the client sees it; the client's answer goes back under the server's id.
//! An answer that is late, a duplicate, or to something that was not asked is dropped.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use countersign_audit::{Decision, Kind, Outcome, Record, Source};
use countersign_client::PeerMessage;
use countersign_dial::lock;
use countersign_inspect::{Note, NotePolicy};
use tokio::sync::mpsc;
use tokio::time::interval;

use super::StdioClient;
use crate::downstream::message::{Message, MessageKind};

/// Questions that wait for an answer; a server with more is refused.
const MOST: usize = 256;
/// Far shorter than any time-out of a server.
const PATIENCE: Duration = Duration::from_millis(500);

/// The questions the client has not answered, by the id it knows them under.
#[derive(Debug, Default)]
pub(super) struct ServerRequests {
    next: AtomicU64,
    open: Mutex<HashMap<Bytes, Bytes>>,
}

impl ServerRequests {
    /// An id for the client; nothing if too many questions wait.
    fn add(&self, servers: Bytes) -> Option<Bytes> {
        let mut open = lock(&self.open);
        if open.len() >= MOST {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let id = Bytes::from(format!("\"server-{number}\""));
        open.insert(id.clone(), servers);
        Some(id)
    }

    /// The server's id, once.
    fn take(&self, id: &Bytes) -> Option<Bytes> {
        lock(&self.open).remove(id)
    }

    /// The client's id of a question the server does not ask any more.
    fn withdraw(&self, servers: &Bytes) -> Option<Bytes> {
        let mut open = lock(&self.open);
        let id = open.iter().find(|(_, id)| *id == servers)?.0.clone();
        open.remove(&id);
        Some(id)
    }

    fn is_empty(&self) -> bool {
        lock(&self.open).is_empty()
    }
}

impl StdioClient {
    /// Passes on what the server says to the client, for as long as both are there.
    pub(crate) async fn relay(client: Weak<Self>, mut said: mpsc::Receiver<PeerMessage>) {
        let mut ticks = interval(PATIENCE);
        loop {
            let said = tokio::select! {
                said = said.recv() => said,
                _ = ticks.tick() => {
                    let Some(client) = client.upgrade() else {
                        return;
                    };
                    if !client.server_requests.is_empty() {
                        client.peer.keeps_the_server_waiting();
                    }
                    continue;
                }
            };
            let (Some(said), Some(client)) = (said, client.upgrade()) else {
                return;
            };
            client.pass_on(said).await;
        }
    }

    async fn pass_on(&self, said: PeerMessage) {
        match (Message::parse(said.message.clone()), said.id) {
            (Ok((MessageKind::Request { id, method }, _)), _) => {
                self.ask(id, &method, said.message).await;
            }
            (Ok((MessageKind::Notification { method }, message)), _) => {
                if method == "notifications/cancelled" {
                    self.withdraw(&message).await;
                } else if let Some(note) = Note::admit(said.message, &self.note_policy()) {
                    self.send(note.bytes().clone()).await;
                }
            }
            (_, Some(id)) => self.peer.refuse(&id, "the request cannot be read"),
            (_, None) => {}
        }
    }

    async fn ask(&self, id: Bytes, method: &str, message: Bytes) {
        let size = message.len() as u64;
        let note = Note::request(message.clone(), &self.note_policy());
        let is_rewritten = note.as_ref().is_some_and(|note| *note.bytes() != message);
        let question = note.and_then(|note| {
            let ours = self.server_requests.add(id.clone())?;
            Message::read(note.bytes().clone()).ok()?.with_id(&ours)
        });
        let ended = match question {
            Some(_) => Outcome::Success,
            None => Outcome::Rejected,
        };
        let mut record = Record::new(
            self.runtime.services.store.next_id(),
            Kind::ServerText,
            ended,
        );
        record.source = Source::Mcp;
        record.server = Some(self.upstream.name().to_string());
        record.request_bytes = Some(size);
        record.reason = Some(method.to_owned());
        let decision = is_rewritten.then(|| self.rewritten(&record, method));
        let records = std::iter::once(record).chain(decision).collect::<Vec<_>>();
        self.runtime.services.metrics.observe(&records);
        let _recorded = self.runtime.services.store.commit((), records).await;
        match question {
            Some(question) => self.send(question).await,
            None => self.peer.refuse(&id, "the request cannot be passed on"),
        }
    }

    /// The decision about a request of the server that was changed before the client saw it.
    fn rewritten(&self, request: &Record, method: &str) -> Record {
        let mut record =
            Record::decided(self.runtime.services.store.next_id(), Decision::Rewritten);
        record.source = Source::Mcp;
        record.server.clone_from(&request.server);
        record.parent_id = Some(request.id());
        record.reason = Some(format!("{method} was cleaned before the client saw it"));
        record
    }

    /// What holds for what the server says to the client.
    fn note_policy(&self) -> NotePolicy {
        NotePolicy::from(
            &self
                .runtime
                .state
                .load()
                .settings
                .config
                .policy(self.upstream.name(), ""),
        )
    }

    async fn withdraw(&self, message: &Message) {
        let servers = message.param("requestId");
        if let Some(id) = servers.and_then(|id| self.server_requests.withdraw(&id)) {
            let id = String::from_utf8_lossy(&id).into_owned();
            let cancelled = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            );
            self.send(cancelled.into()).await;
        }
    }

    /// The client answers.
    pub(super) fn take_answer(&self, message: &Message) {
        let servers = message.id().and_then(|id| self.server_requests.take(&id));
        if let Some(answer) = servers.and_then(|id| message.with_id(&id)) {
            self.peer.tell(&answer);
        }
    }
}
