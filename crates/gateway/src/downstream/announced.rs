//! What the server behind an endpoint announces, over all its connections: that its prompts or resources have changed, or
//! a single resource. A server that was away may have changed meanwhile, so that is taken for a change too.

use std::collections::VecDeque;
use std::sync::Arc;

use countersign_client::{Announcement, NoteSink, ServerHandle, State, backoff, ready};
use countersign_wire::message;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::services::{Runtime, Session};
use crate::state::Endpoint;

/// The announcements for one client.
pub(super) struct Announced {
    /// The state of the server; nothing where an endpoint has no prompts and no resources.
    server: Option<watch::Receiver<State>>,
    current: Option<broadcast::Receiver<Announcement>>,
    /// What is to be told before anything else.
    pending: VecDeque<Announcement>,
    has_listened: bool,
}

impl Announced {
    /// The announcements of the server that serves a client, from now on.
    pub(super) fn new(
        runtime: &Runtime,
        endpoint: &Endpoint,
        session: Option<&Arc<Session>>,
    ) -> Self {
        let handle = match endpoint {
            Endpoint::Server(name) => {
                let snapshot = runtime.state.load();
                let shared = snapshot
                    .server(name)
                    .map(|server| Arc::clone(&server.upstream));
                shared.map(|shared| own_or_shared(session, shared))
            }
            Endpoint::Router | Endpoint::Direct => None,
        };
        let mut server = handle.map(|handle| handle.state());
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
    pub(super) async fn next(&mut self) -> Announcement {
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
pub(super) async fn watch_resources(mut server: watch::Receiver<State>, uris: &str) {
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
