//! What the servers behind an endpoint announce, over all their connections: that its prompts or resources have changed, or
//! a single resource. A server that was away may have changed meanwhile, so that is taken for a change too.

use std::collections::VecDeque;
use std::sync::Arc;

use countersign_client::{Announcement, NoteSink, ServerHandle, State, backoff, ready};
use countersign_wire::message;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::services::Session;
use crate::state::{Endpoint, Snapshot};

/// Announcements that may wait for a slow listener.
const WAITING: usize = 64;

/// The announcements of the servers behind an endpoint, for one client.
pub(super) struct Announced {
    endpoint: Endpoint,
    session: Option<Arc<Session>>,
    /// The servers that are listened to, by the channels of their states.
    followed: Vec<watch::Receiver<State>>,
    sender: mpsc::Sender<(Arc<str>, Announcement)>,
    receiver: mpsc::Receiver<(Arc<str>, Announcement)>,
    /// Listen to one server each; they end with this.
    tasks: JoinSet<()>,
}

impl Announced {
    /// The announcements of the servers that serve a client, from now on.
    pub(super) fn new(
        snapshot: &Snapshot,
        endpoint: &Endpoint,
        session: Option<&Arc<Session>>,
    ) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        let mut announced = Self {
            endpoint: endpoint.clone(),
            session: session.cloned(),
            followed: Vec::new(),
            sender,
            receiver,
            tasks: JoinSet::new(),
        };
        announced.follow(snapshot);
        announced
    }

    /// Listens to the servers that are not listened to yet.
    pub(super) fn follow(&mut self, snapshot: &Snapshot) {
        self.followed.retain(|state| state.has_changed().is_ok());
        for server in snapshot.reachable_servers(&self.endpoint) {
            let shared = &server.upstream;
            if self
                .followed
                .iter()
                .any(|state| shared.has_state_channel(state))
            {
                continue;
            }
            self.followed.push(shared.state());
            let handle = own_or_shared(self.session.as_ref(), Arc::clone(shared));
            let mut news = ServerNews::new(&handle);
            let (name, sender) = (Arc::clone(shared.name()), self.sender.clone());
            self.tasks.spawn(async move {
                loop {
                    let news = (Arc::clone(&name), news.next().await);
                    if sender.send(news).await.is_err() {
                        return;
                    }
                }
            });
        }
    }

    /// The next announcement, and its server. Never comes back if there is none to come.
    pub(super) async fn next(&mut self) -> (Arc<str>, Announcement) {
        match self.receiver.recv().await {
            Some(news) => news,
            // Not reached: one sender is part of this.
            None => std::future::pending().await,
        }
    }
}

/// The announcements of one server, over all its connections.
struct ServerNews {
    /// The state of the server; nothing once it is gone for good.
    server: Option<watch::Receiver<State>>,
    current: Option<broadcast::Receiver<Announcement>>,
    /// What is to be told before anything else.
    pending: VecDeque<Announcement>,
    has_listened: bool,
}

impl ServerNews {
    fn new(handle: &ServerHandle) -> Self {
        let mut server = Some(handle.state());
        let current = server
            .as_mut()
            .and_then(|state| match &*state.borrow_and_update() {
                State::Ready(connection) => Some(connection.announcements()),
                _ => None,
            });
        Self {
            server,
            has_listened: current.is_some(),
            current,
            pending: VecDeque::new(),
        }
    }

    /// The next announcement. Never comes back if there is none to come.
    async fn next(&mut self) -> Announcement {
        loop {
            if let Some(pending) = self.pending.pop_front() {
                return pending;
            }
            let Some(server) = &mut self.server else {
                return std::future::pending().await;
            };
            if let Some(current) = &mut self.current {
                tokio::select! {
                    announced = current.recv() => match announced {
                        Ok(announcement) => return announcement,
                        Err(RecvError::Lagged(_)) => self.missed(),
                        Err(RecvError::Closed) => self.current = None,
                    },
                    // The server has another connection, or none.
                    changed = server.changed() => {
                        self.current = None;
                        if changed.is_err() {
                            self.server = None;
                        }
                    }
                }
                continue;
            }
            match ready(server).await {
                Ok(connection) => {
                    self.current = Some(connection.announcements());
                    if std::mem::replace(&mut self.has_listened, true) {
                        self.missed();
                    }
                }
                // It may come back.
                Err(_) => {
                    if server.changed().await.is_err() {
                        self.server = None;
                    }
                }
            }
        }
    }

    /// Something may have been announced that was not heard.
    fn missed(&mut self) {
        self.pending
            .extend([Announcement::Prompts, Announcement::Resources]);
    }
}

/// Subscribes to resources of a modern server, given as a JSON array of their addresses, on each of its connections and for
/// as long as this is polled. Never comes back.
pub(super) async fn watch_resources(mut server: watch::Receiver<State>, uris: String) {
    let filter = format!(r#""notifications":{{"resourceSubscriptions":{uris}}}"#);
    let mut failures = 0;
    loop {
        let Ok(connection) = ready(&mut server).await else {
            if server.changed().await.is_err() {
                return std::future::pending().await;
            }
            continue;
        };
        let params = |era, _| Ok(message::own_params(era, filter.as_bytes()));
        let request = connection.ask("subscriptions/listen", params, &NoteSink::closed());
        let ended = async {
            if let Ok(request) = request {
                drop(request.answer().await);
            }
        };
        tokio::select! {
            () = ended => {
                failures += 1;
                sleep(backoff::delay(failures)).await;
            }
            changed = server.changed() => {
                if changed.is_err() {
                    return std::future::pending().await;
                }
            }
        }
    }
}

/// The connection that serves a client: its own if it has one.
fn own_or_shared(session: Option<&Arc<Session>>, shared: Arc<ServerHandle>) -> Arc<ServerHandle> {
    let private = session.and_then(|session| session.private_server(&shared));
    private.map_or(shared, |private| Arc::clone(&private.upstream))
}
