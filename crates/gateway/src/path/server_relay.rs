//! Passes on what a server says to the one client of a connection: what it asks of the client, its log messages, its news.
//! It is the server's text like any other, so it is cleaned before the client sees it, and what asks the client for
//! something is recorded. A request goes to the client that the connection belongs to, and to no other.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use countersign_audit::{Kind, NewId, Outcome, Record, Source};
use countersign_classify::Origin;
use countersign_client::{NoteSink, Peer, PeerMessage};
use countersign_inspect::config::Posture;
use countersign_inspect::{ClassifierFinding, Decision, Finding, Note, NotePolicy};
use countersign_tape::Span;
use countersign_telemetry::Target;
use countersign_wire::head::{self, Head};
use countersign_wire::json::path;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::{reply, screen};
use crate::services::{DecisionSubject, Services, Session};
use crate::state::CurrentState;

/// How often a server that waits for its client is kept from timing out. Far shorter than any time-out.
const RENEWAL: Duration = Duration::from_millis(500);

/// One server, one client.
#[derive(Debug)]
pub(crate) struct ServerRelay {
    services: Arc<Services>,
    current: CurrentState,
    session: Weak<Session>,
    server: Arc<str>,
    /// The client, as the server sees it. Held weakly, so that the messages end with the connection.
    peer: Weak<Peer>,
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
            match message {
                Some(message) => self.pass_on(&session, &peer, message).await,
                None if is_waited_for => session.server_requests.renew_calls(&peer),
                None => return,
            }
            is_waited_for = session.server_requests.is_waited_for(&peer);
        }
    }

    async fn pass_on(&self, session: &Arc<Session>, peer: &Arc<Peer>, said: PeerMessage) {
        let PeerMessage { id, message, call } = said;
        match (head::read(&message), id) {
            (Head::Request { method, .. }, Some(id)) => {
                let method = method.into_owned();
                let client = Addressee {
                    session,
                    peer,
                    call,
                };
                self.ask(&client, id, &method, message).await;
            }
            (Head::Notification { method }, None) => {
                let client = Addressee {
                    session,
                    peer,
                    call,
                };
                self.notify(&client, &method, &message);
            }
            (_, Some(id)) => peer.refuse(&id, "the request cannot be read"),
            (_, None) => {}
        }
    }

    fn notify(&self, client: &Addressee<'_>, method: &str, message: &Bytes) {
        if method == "notifications/cancelled" {
            return client.withdraw(message);
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
            _ => message.clone(),
        };
        let note = Note::admit(message, &self.note_policy());
        if let Some(note) = note.filter(|note| client.session.level().passes(note)) {
            client.deliver(note);
        }
    }

    /// The news of a resource under the address that the client watches it by.
    fn merged_update(&self, session: &Session, message: &Bytes) -> Option<Bytes> {
        let uri = path(message, Span::whole(message), &["params", "uri"])?;
        let shown = session.watched_as(&self.server, &uri.string(message)?)?;
        Some(reply::resource_updated(&shown, None))
    }

    async fn ask(&self, client: &Addressee<'_>, id: Bytes, method: &str, message: Bytes) {
        let size = message.len();
        let requests = &client.session.server_requests;
        let ours = requests.add(client.peer, id.clone(), client.call.clone());
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
            .is_some_and(|note| client.deliver(note));
        if !is_delivered {
            if let Some(ours) = ours {
                requests.take(&ours);
            }
            client.peer.refuse(&id, "the request cannot be passed on");
        }
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

    /// Records a request of the server, and what was decided about it before the client saw it.
    async fn record(&self, client: &Addressee<'_>, judged: JudgedRequest<'_>) {
        let store = &self.services.store;
        let fill = |record: &mut Record| {
            record.source = Source::Mcp;
            record.server = Some(self.server.to_string());
            record.client = client.session.client.as_deref().map(str::to_owned);
            record.session_id = Some(client.session.public().to_owned());
        };
        let outcome = if judged.is_refused {
            Outcome::Rejected
        } else {
            Outcome::Success
        };
        let mut request = Record::new(judged.id, Kind::ServerText, outcome);
        fill(&mut request);
        request.request_bytes = Some(judged.size as u64);
        request.reason = Some(judged.method.to_owned());
        let what = match judged.decision {
            Decision::Allowed => None,
            Decision::Flagged => Some("was flagged"),
            Decision::Rewritten => Some("was cleaned before the client saw it"),
            Decision::Blocked => Some("was blocked"),
        };
        let decision = what.map(|what| {
            let mut record = Record::decided(store.next_id(), judged.decision);
            fill(&mut record);
            record.parent_id = Some(request.id());
            record.reason = Some(format!("{} {what}", judged.method));
            record.findings = judged.findings;
            record
        });
        let records: Vec<Record> = std::iter::once(request).chain(decision).collect();
        self.services.metrics.observe(&records);
        let signals = &self.services.signals;
        let subject = DecisionSubject {
            trace: None,
            method: judged.method,
            target: Target::Other,
        };
        let decisions = signals.encode(&records, subject);
        let recorded = store.commit((), records).await;
        signals.log(&decisions, recorded.evidence());
    }

    /// What holds for what the server says to the client.
    fn note_policy(&self) -> NotePolicy {
        let settings = Arc::clone(&self.current.load().settings);
        NotePolicy::from(&settings.config.policy(&self.server, ""))
    }
}

/// A request of the server, and what was decided about it.
struct JudgedRequest<'a> {
    id: NewId,
    method: &'a str,
    size: usize,
    is_refused: bool,
    decision: Decision,
    findings: Vec<Finding>,
}

/// The client that a message is for.
struct Addressee<'a> {
    session: &'a Arc<Session>,
    peer: &'a Arc<Peer>,
    /// The notes of the call that the message belongs to.
    call: Option<NoteSink>,
}

impl Addressee<'_> {
    /// Sends a message to the client: on the stream of the call it belongs to, on the client's own stream, or on that of
    /// any call. Without a stream it waits for one. False if too many wait.
    fn deliver(&self, note: Note) -> bool {
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
        self.session.outbox.push(bytes)
    }

    /// Tells the client that the server does not wait for an answer any more.
    fn withdraw(&self, message: &Bytes) {
        let id = path(message, Span::whole(message), &["params", "requestId"]);
        let id = id.map(|id| message.slice_ref(id.bytes(message)));
        let ours = id.and_then(|id| self.session.server_requests.withdraw(self.peer, &id));
        if let Some(ours) = ours {
            self.session.outbox.push(reply::cancelled(&ours));
        }
    }
}
