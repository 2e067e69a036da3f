//! One HTTP exchange: a request and what the server sends back in the same response, as one JSON body or as events.
//! A response there is the answer to that request, whatever id it carries, because some clients put the id of the
//! request in its place. A wrong id is `transport.bad_id`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use countersign_tape::{Edits, Envelope, Kind, MemberPosition, Span, scan};

use super::message::batch_messages;
use super::passed::Passed;
use super::request::Request;
use super::{Boundary, UNLIMITED, is_response};

/// Requests whose exchange is over and that a stream of its own may still answer; beyond this the oldest is forgotten.
const MOST_OPEN: usize = 4096;
/// Events that a stream can be resumed after; beyond this the oldest is forgotten.
const MOST_EVENTS: usize = 4096;
/// The same of streams that listen. A client resumes after the last one.
const MOST_LISTENED: usize = 64;
/// No honest event id is longer.
const LONGEST_EVENT_ID: usize = 1024;

/// The requests of one exchange that have no answer yet.
#[derive(Default)]
pub(super) struct Answers(Mutex<Vec<Request>>);

impl Answers {
    pub(super) fn new(requests: Vec<Request>) -> Self {
        Self(Mutex::new(requests))
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Request>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The request that a response in this exchange answers. One request is answered whatever the id says.
    fn take(&self, id: Option<&[u8]>) -> Option<Request> {
        let mut waiting = self.waiting();
        if waiting.len() == 1 {
            return waiting.pop();
        }
        let at = waiting
            .iter()
            .position(|request| Some(&request.client_id[..]) == id)?;
        Some(waiting.remove(at))
    }

    fn has(&self, id: &[u8]) -> bool {
        self.waiting().iter().any(|request| request.client_id == id)
    }

    fn is_done(&self) -> bool {
        self.waiting().is_empty()
    }
}

/// What the exchanges of one boundary have open.
#[derive(Default)]
pub(super) struct Exchanges {
    open: VecDeque<Arc<Answers>>,
    /// The last event of each stream whose request has no answer yet.
    events: VecDeque<(Bytes, Arc<Answers>)>,
    /// The last events of streams that listen.
    listened: VecDeque<Bytes>,
}

impl Exchanges {
    pub(super) fn open(&mut self, answers: &Arc<Answers>) {
        if answers.is_done() {
            return;
        }
        self.open.push_back(Arc::clone(answers));
        let is_done = |answers: &Arc<Answers>| answers.is_done();
        while self.open.len() > MOST_OPEN || self.open.front().is_some_and(is_done) {
            self.open.pop_front();
        }
    }

    pub(super) fn resumed(&self, event: &[u8]) -> Option<Arc<Answers>> {
        let mut known = self.events.iter().rev();
        let found = known.find(|(known, _)| known == event);
        found.map(|(_, answers)| Arc::clone(answers))
    }

    /// Whether the event is one of a stream that listened.
    pub(super) fn has_listened(&self, event: &[u8]) -> bool {
        self.listened.iter().any(|known| known == event)
    }

    fn remember_listened(&mut self, event: Bytes) {
        if self.listened.len() == MOST_LISTENED {
            self.listened.pop_front();
        }
        self.listened.push_back(event);
    }

    fn remember(&mut self, event: Bytes, answers: &Arc<Answers>) {
        self.events
            .retain(|(_, known)| !Arc::ptr_eq(known, answers) && !known.is_done());
        if self.events.len() == MOST_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back((event, Arc::clone(answers)));
    }

    /// The one exchange that waits for this id. None if there are several: the answer could be for each of them.
    fn waiting_for(&self, id: &[u8]) -> Option<Arc<Answers>> {
        let mut waiting = self.open.iter().filter(|answers| answers.has(id));
        let only = waiting.next()?;
        waiting.next().is_none().then(|| Arc::clone(only))
    }
}

/// An HTTP request under way.
pub struct Exchange {
    boundary: Arc<Boundary>,
    /// Nothing if the exchange listens.
    answers: Option<Arc<Answers>>,
}

impl Exchange {
    pub(super) fn new(boundary: Arc<Boundary>, answers: Arc<Answers>) -> Self {
        Self {
            boundary,
            answers: Some(answers),
        }
    }

    pub(super) fn listening(boundary: Arc<Boundary>) -> Self {
        Self {
            boundary,
            answers: None,
        }
    }

    /// The boundary that the exchange belongs to.
    pub fn boundary(&self) -> &Arc<Boundary> {
        &self.boundary
    }

    /// Takes one message of the server, the whole JSON body or the data of one event, and gives what the client may
    /// read. A request has one answer; a second one is dropped.
    pub fn received(&self, message: Bytes) -> Passed {
        let limit = self.boundary.inspector().base_policy().max_message_bytes;
        let scanned = if message.len() > limit {
            None
        } else {
            scan(&message, &UNLIMITED).ok()
        };
        let Some(envelope) = scanned else {
            return self.answered(None, message);
        };
        if envelope.kind() == Kind::Array {
            return self.batch(&message, envelope.root());
        }
        if !is_response(&envelope) {
            return self.boundary.note(message, &envelope);
        }
        let id = envelope.id().map(|id| message.slice(id.range()));
        if envelope.error().is_some() && id.as_deref().is_none_or(|id| id == b"null") {
            return self.failed(message, &envelope);
        }
        self.answered(id.as_deref(), message)
    }

    /// An error about a request that the server could not read has no id. In an exchange of one request it is clear
    /// which one is meant.
    fn failed(&self, message: Bytes, envelope: &Envelope) -> Passed {
        let Some(request) = self.answers.as_ref().and_then(|answers| answers.take(None)) else {
            return Passed::dropped();
        };
        let mut edits = Edits::new(&message);
        match envelope.id() {
            Some(id) => edits.replace(id, request.client_id.to_vec()),
            None => edits.insert_member(
                envelope.root(),
                MemberPosition::Last,
                "id",
                &request.client_id,
            ),
        }
        let edited = edits.apply().map(|edited| edited.to_vec().into());
        let id = request.client_id.clone();
        self.boundary.judge(request, id, edited.unwrap_or(message))
    }

    /// A batch answers a batch, and notes may come in one. A single request is not answered by a batch.
    fn batch(&self, message: &Bytes, root: Span) -> Passed {
        let is_single = self
            .answers
            .as_ref()
            .is_some_and(|answers| answers.waiting().len() == 1);
        if is_single {
            return self.answered(None, message.clone());
        }
        let messages = batch_messages(message, root);
        Passed::batch(messages.map(|message| self.received(message)))
    }

    /// Takes note of the id of an event, after which the client may resume the stream.
    pub fn event_id(&self, id: &[u8]) {
        if id.len() > LONGEST_EVENT_ID {
            return;
        }
        let event = Bytes::copy_from_slice(id);
        let mut state = self.boundary.state();
        match &self.answers {
            None => state.exchanges.remember_listened(event),
            Some(answers) if !answers.is_done() => state.exchanges.remember(event, answers),
            Some(_) => {}
        }
    }

    fn answered(&self, id: Option<&[u8]>, message: Bytes) -> Passed {
        let taken = match (&self.answers, id) {
            (Some(answers), id) => answers.take(id),
            (None, Some(id)) => {
                let answers = self.boundary.state().exchanges.waiting_for(id);
                answers.and_then(|answers| answers.take(Some(id)))
            }
            (None, None) => None,
        };
        match taken {
            Some(request) => {
                let id = request.client_id.clone();
                self.boundary.judge(request, id, message)
            }
            None => Passed::dropped(),
        }
    }
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchange").finish_non_exhaustive()
    }
}
