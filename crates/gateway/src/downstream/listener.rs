//! A client that waits for news: that a list it sees has changed, or a resource it watches, and whatever a server says to it
//! outside of its calls. A legacy client waits on a `GET` of its session, a modern one on a request of its own, whose id
//! marks every message. Only news of what is behind the endpoint is told, and only what the client asked for.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_client::Announcement;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep};

use super::announced::{Announced, watch_resources};
use super::subscription::{Filter, uris_json};
use crate::path::reply::{self, Framing};
use crate::services::{Phase, Runtime, Session, WatchedResource};
use crate::state::{Admission, Caller, Endpoint, Snapshot, State};

/// Several servers may change at once, at the start all of them.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// A reader that is further behind is given up.
const WAITING: usize = 16;

/// A client that waits for news.
pub(super) struct Listener {
    pub(super) endpoint: Endpoint,
    pub(super) audience: Audience,
    /// Who listens; the stream ends when it is not let in any more.
    pub(super) caller: Arc<Caller>,
    pub(super) framing: Framing,
}

/// Who waits.
pub(super) enum Audience {
    /// A legacy client, which is told everything that its session may hear.
    Session {
        session: Arc<Session>,
        /// The event that the client had last, if it says so.
        after: Option<u64>,
        /// Resolves when the stream is to end.
        ended: oneshot::Receiver<()>,
    },
    /// A modern client, by its request, which says what it is to be told.
    Subscription {
        id: Bytes,
        filter: Filter,
        watched: Vec<WatchedResource>,
    },
}

impl Audience {
    /// The id of a modern client's request.
    fn subscription(&self) -> Option<&[u8]> {
        match self {
            Self::Session { .. } => None,
            Self::Subscription { id, .. } => Some(id),
        }
    }

    /// Whether it is told of changed tools. A session with a connection of its own has a list of its own.
    fn hears_tools(&self, endpoint: &Endpoint) -> bool {
        match self {
            Self::Session { session, .. } => !session.has_own_list(endpoint),
            Self::Subscription { filter, .. } => filter.tools,
        }
    }

    /// The news that an announcement of a server is to this client.
    fn news(&self, server: &Arc<str>, announcement: &Announcement) -> Option<Bytes> {
        let subscription = self.subscription();
        match (self, announcement) {
            (Self::Session { session, .. }, Announcement::Updated { uri }) => {
                let shown = session.watched_as(server, uri)?;
                Some(reply::resource_updated(&shown, subscription))
            }
            (Self::Subscription { watched, .. }, Announcement::Updated { uri }) => {
                let mut watched = watched.iter();
                let found = watched.find(|one| one.server == *server && one.uri == *uri)?;
                Some(reply::resource_updated(&found.shown, subscription))
            }
            (Self::Subscription { filter, .. }, Announcement::Prompts) if !filter.prompts => None,
            (Self::Subscription { filter, .. }, Announcement::Resources) if !filter.resources => {
                None
            }
            (_, Announcement::Prompts) => Some(reply::list_changed("prompts", subscription)),
            (_, Announcement::Resources) => Some(reply::list_changed("resources", subscription)),
        }
    }

    /// The next message for the client outside of its calls, and its number. Never for a modern client, nor for one on a
    /// pipe, which has them without a stream.
    async fn next_queued(&self, after: u64) -> (u64, Bytes) {
        match self {
            Self::Session { session, .. } if !session.is_pipe() => {
                session.outbox.after(after).await
            }
            _ => std::future::pending().await,
        }
    }
}

impl Listener {
    /// Starts to listen: the events, as they happen. Nothing if too many clients do already.
    pub(super) fn start(mut self, runtime: &Runtime) -> Option<mpsc::Receiver<Bytes>> {
        let place = Arc::clone(&runtime.services.listeners);
        let place = place.try_acquire_owned().ok()?;
        let (events, body) = mpsc::channel(WAITING);
        let runtime = runtime.clone();
        // From now on: what changes before the task runs is news too.
        let snapshot = runtime.state.load();
        let shown = match &self.audience {
            Audience::Session { session, .. } => session.shown_revision(&self.endpoint),
            Audience::Subscription { .. } => None,
        };
        let seen = Seen {
            is_old: shown.is_some(),
            revision: shown.unwrap_or_else(|| snapshot.revision(&self.endpoint)),
        };
        let announced = Announced::new(&snapshot, &self.endpoint, self.session());
        let watching = self.watching(&snapshot);
        let keep_alive = snapshot.settings.config.stream_keep_alive;
        let admission = Admission::new(&runtime.state, &self.caller);
        drop(snapshot);
        tokio::spawn(async move {
            let _place = place;
            let ended = self.take_end();
            tokio::select! {
                biased;
                () = ended => {}
                () = admission.ended() => {}
                () = events.closed() => {}
                () = watching => {}
                () = runtime.services.drain.wait_for_phase(Phase::Draining) => self.farewell(&events),
                // A reader that is too slow.
                () = self.tell(&runtime.state, (seen, keep_alive), announced, &events) => {}
            }
        });
        Some(body)
    }

    /// Has the servers tell of the resources that a modern client subscribes to. Never comes back.
    fn watching(&self, snapshot: &Snapshot) -> impl Future<Output = ()> + use<> {
        let watched = match &self.audience {
            Audience::Subscription { watched, .. } => &watched[..],
            Audience::Session { .. } => &[],
        };
        let mut tasks = JoinSet::new();
        for server in snapshot.reachable_servers(&self.endpoint) {
            let name = server.upstream.name();
            let ours = watched.iter().filter(|one| one.server == *name);
            let mut uris = ours.map(|one| &*one.uri).peekable();
            if uris.peek().is_some() {
                tasks.spawn(watch_resources(server.upstream.state(), uris_json(uris)));
            }
        }
        async move {
            while tasks.join_next().await.is_some() {}
            std::future::pending::<()>().await;
        }
    }

    fn session(&self) -> Option<&Arc<Session>> {
        match &self.audience {
            Audience::Session { session, .. } => Some(session),
            Audience::Subscription { .. } => None,
        }
    }

    /// Resolves when the stream is to end.
    fn take_end(&mut self) -> impl Future<Output = ()> + use<> {
        let ended = match &mut self.audience {
            Audience::Session { ended, .. } => {
                let (_, never) = oneshot::channel();
                Some(std::mem::replace(ended, never))
            }
            Audience::Subscription { .. } => None,
        };
        async move {
            match ended {
                // The other end says nothing; it goes.
                Some(ended) => drop(ended.await),
                None => std::future::pending().await,
            }
        }
    }

    /// Tells the news; comes back when the reader takes none.
    async fn tell(
        &self,
        state: &State,
        (mut seen, keep_alive): (Seen, Duration),
        mut announced: Announced,
        events: &mpsc::Sender<Bytes>,
    ) {
        let mut changes = state.changes();
        if seen.is_old {
            changes.mark_changed();
        }
        let mut pulses = interval_at(Instant::now() + keep_alive, keep_alive);
        pulses.set_missed_tick_behavior(MissedTickBehavior::Delay);
        if self
            .opening()
            .is_some_and(|opening| events.try_send(opening).is_err())
        {
            return;
        }
        let mut last = self.first_number();
        let framing = self.framing;
        loop {
            let news = tokio::select! {
                changed = changes.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    sleep(DEBOUNCE).await;
                    announced.follow(&state.load());
                    self.changed_tools(state, &mut seen)
                }
                (server, announcement) = announced.next() => {
                    let news = self.audience.news(&server, &announcement);
                    news.map(|news| framing.message(&news))
                }
                (number, message) = self.audience.next_queued(last) => {
                    last = number;
                    // Waits for the reader: what a server asks is not to be lost.
                    if events.send(framing.numbered(number, &message)).await.is_err() {
                        return;
                    }
                    None
                }
                _ = pulses.tick() => framing.pulse(),
            };
            if news.is_some_and(|news| events.try_send(news).is_err()) {
                return;
            }
        }
    }

    /// The first event of the stream.
    fn opening(&self) -> Option<Bytes> {
        match &self.audience {
            Audience::Subscription { id, filter, .. } => {
                let acknowledged = reply::acknowledged(id, &filter.json());
                Some(self.framing.message(&acknowledged))
            }
            // The head of the response goes out with the first byte of its body.
            Audience::Session { .. } => self.framing.pulse(),
        }
    }

    /// The number after which queued messages are sent.
    fn first_number(&self) -> u64 {
        match &self.audience {
            Audience::Session { session, after, .. } => {
                after.unwrap_or_else(|| session.outbox.sent())
            }
            Audience::Subscription { .. } => 0,
        }
    }

    /// The news that the tools of the endpoint are others than those that were seen.
    fn changed_tools(&self, state: &State, seen: &mut Seen) -> Option<Bytes> {
        let now = state.load().revision(&self.endpoint);
        let is_news = std::mem::replace(&mut seen.revision, now) != now;
        (is_news && self.audience.hears_tools(&self.endpoint)).then(|| {
            let news = reply::list_changed("tools", self.audience.subscription());
            self.framing.message(&news)
        })
    }

    /// A subscription that ends in good order has an answer.
    fn farewell(&self, events: &mpsc::Sender<Bytes>) {
        if let Some(id) = self.audience.subscription() {
            // A client that does not take it learns it by the end of the stream.
            let _missed = events.try_send(self.framing.message(&reply::unsubscribed(id)));
        }
    }
}

/// The revision of the list that the client knows.
struct Seen {
    revision: u64,
    /// Whether the client was shown it before it began to listen: what changed between is news too.
    is_old: bool,
}
