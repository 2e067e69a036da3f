//! Passes on what a server says to the one client of a connection: what it asks of the client, its log messages, its news.
//! It is the server's text like any other, so it is cleaned before the client sees it, and what asks the client for
//! something is recorded. A request goes to the client that the connection belongs to, and to no other.

mod addressee;
mod record;

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use countersign_classify::Origin;
use countersign_client::{Peer, PeerMessage};
use countersign_dial::lock;
use countersign_inspect::config::Posture;
use countersign_inspect::{ClassifierFinding, Decision, MAX_NOTE_BYTES, Note, NotePolicy};
use countersign_tape::Span;
use countersign_wire::head::{self, Head};
use countersign_wire::json::path;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::{reply, screen};
use crate::services::{Outbox, Services, Session};
use crate::state::CurrentState;
use addressee::Addressee;
use record::JudgedRequest;

/// How often a server that waits for its client is kept from timing out. Far shorter than any time-out.
const RENEWAL: Duration = Duration::from_millis(500);
/// How often it is recorded that a server asks faster than its client answers.
const FLOOD: Duration = Duration::from_mins(1);

/// One server, one client.
#[derive(Debug)]
pub(crate) struct ServerRelay {
    services: Arc<Services>,
    current: CurrentState,
    session: Weak<Session>,
    server: Arc<str>,
    /// The client, as the server sees it. Held weakly, so that the messages end with the connection.
    peer: Weak<Peer>,
    /// When a request was last recorded that was refused because too many wait.
    flooded: Mutex<Option<Instant>>,
}

impl ServerRelay {
    /// Passes the messages of a server on to its client, in a task of its own, for as long as both are there.
    pub(crate) fn start(
        services: &Arc<Services>,
        session: &Arc<Session>,
        server: &Arc<str>,
        peer: &Arc<Peer>,
        messages: mpsc::Receiver<PeerMessage>,
    ) {
        let (session, server) = (Arc::downgrade(session), Arc::clone(server));
        let (peer, for_task) = (Arc::downgrade(peer), Arc::clone(services));
        services.background.spawn(move |current| {
            let relay = Self {
                services: for_task,
                current,
                session,
                server,
                peer,
                flooded: Mutex::default(),
            };
            relay.run(messages)
        });
    }

    async fn run(self, mut messages: mpsc::Receiver<PeerMessage>) {
        let mut is_waited_for = false;
        loop {
            let message = tokio::select! {
                message = messages.recv() => message,
                () = sleep(RENEWAL), if is_waited_for => None,
            };
            let (Some(session), Some(peer)) = (self.session.upgrade(), self.peer.upgrade()) else {
                return;
            };
            for ours in session.server_requests.withdraw_old(&peer) {
                session.outbox.push(reply::cancelled(&ours));
            }
            match message {
                Some(message) => self.pass_on(&session, &peer, message).await,
                None if is_waited_for => session.server_requests.renew_calls(&peer),
                None => return,
            }
            is_waited_for = session.server_requests.is_waited_for(&peer);
        }
    }

    async fn pass_on(&self, session: &Arc<Session>, peer: &Arc<Peer>, said: PeerMessage) {
        let PeerMessage {
            id,
            message,
            call,
            life,
        } = said;
        let client = Addressee {
            session,
            peer,
            call,
        };
        match (head::read(&message), id) {
            (Head::Request { method, .. }, Some(id)) => {
                let method = method.into_owned();
                self.ask(&client, (life, id), &method, message).await;
            }
            (Head::Notification { method }, None) => self.notify(&client, &method, &message),
            (_, Some(id)) => peer.refuse(&id, "the request cannot be read"),
            (_, None) => {}
        }
    }

    fn notify(&self, client: &Addressee<'_>, method: &str, message: &Bytes) {
        if method == "notifications/cancelled" {
            return client.withdraw(message, &self.note_policy());
        }
        let is_news = method.starts_with("notifications/prompts/")
            || method.starts_with("notifications/resources/");
        if is_news && !client.session.may_hear_of(&self.server) {
            return;
        }
        let message = match method {
            "notifications/resources/updated" if client.session.is_merged() => {
                let Some(update) = self.merged_update(client.session, message) else {
                    return;
                };
                update
            }
            // A copy: what waits for the client would keep alive whatever it came with.
            _ if message.len() <= MAX_NOTE_BYTES => Bytes::copy_from_slice(message),
            _ => return,
        };
        let note = Note::admit(message, &self.note_policy());
        if let Some(note) = note.filter(|note| client.session.level().passes(note)) {
            client.send(note, Outbox::push);
        }
    }

    /// The news of a resource under the address that the client watches it by.
    fn merged_update(&self, session: &Session, message: &Bytes) -> Option<Bytes> {
        let uri = path(message, Span::whole(message), &["params", "uri"])?;
        let shown = session.watched_as(&self.server, &uri.string(message)?)?;
        Some(reply::resource_updated(&shown, None))
    }

    async fn ask(
        &self,
        client: &Addressee<'_>,
        (life, id): (u64, Bytes),
        method: &str,
        message: Bytes,
    ) {
        let size = message.len();
        if !client.has_room(size) {
            return self.refuse_flood(client, &id, method, size).await;
        }
        let requests = &client.session.server_requests;
        let ours = requests.add(client.peer, (life, id.clone()), client.call.clone());
        let note = ours
            .as_ref()
            .and_then(|ours| Note::request(message, ours, &self.note_policy()));
        let record = self.services.store.next_id();
        let findings = match &note {
            Some(note) => self.screen(&record.id.to_string(), method, note).await,
            None => Vec::new(),
        };
        let is_blocked = findings.iter().any(|it| it.action == Posture::Block);
        let judged = JudgedRequest {
            id: record,
            method,
            size,
            is_refused: note.is_none() || is_blocked,
            decision: match &note {
                Some(_) if is_blocked => Decision::Blocked,
                Some(note) if note.is_cleaned() => Decision::Rewritten,
                Some(_) if !findings.is_empty() => Decision::Flagged,
                _ => Decision::Allowed,
            },
            findings: findings.into_iter().map(|it| it.finding).collect(),
        };
        self.record(client, judged).await;
        let is_delivered = note
            .filter(|_| !is_blocked)
            .is_some_and(|note| client.send(note, Outbox::push_request));
        if !is_delivered {
            if let Some(ours) = ours {
                requests.take(&ours);
            }
            client.peer.refuse(&id, "the request cannot be passed on");
        }
    }

    /// Refuses a request of a server that asks faster than its client answers. The first within a minute is recorded: a
    /// server must not be able to fill the store.
    async fn refuse_flood(&self, client: &Addressee<'_>, id: &Bytes, method: &str, size: usize) {
        let is_first = {
            let mut flooded = lock(&self.flooded);
            let is_first = flooded.is_none_or(|last| last.elapsed() >= FLOOD);
            if is_first {
                *flooded = Some(Instant::now());
            }
            is_first
        };
        if is_first {
            let judged = JudgedRequest {
                id: self.services.store.next_id(),
                method,
                size,
                is_refused: true,
                decision: Decision::Allowed,
                findings: Vec::new(),
            };
            self.record(client, judged).await;
        }
        client
            .peer
            .refuse(id, "too many requests wait for the client");
    }

    /// What the classifiers that may see the server's texts find in a request.
    async fn screen(&self, id: &str, method: &str, note: &Note) -> Vec<ClassifierFinding> {
        let settings = Arc::clone(&self.current.load().settings);
        let origin = Origin {
            request_id: id.into(),
            server: (&*self.server).into(),
            tool: method.into(),
        };
        let events = &self.services.events;
        let texts = note.texts();
        let screening = screen::screen_texts(events, &settings.config, &origin, &texts).await;
        screening.findings().to_vec()
    }

    /// What holds for what the server says to the client.
    fn note_policy(&self) -> NotePolicy {
        let settings = Arc::clone(&self.current.load().settings);
        NotePolicy::from(&settings.config.policy(&self.server, ""))
    }
}
