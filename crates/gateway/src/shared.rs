//! What the parts of one running gateway have in common. It does nothing by itself; it is where
//! the snapshot is, where records go, and how everybody learns that the gateway stops.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use countersign_audit::Store;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use crate::budget::Budget;
use crate::catalogue::Tools;
use crate::config::Config;
use crate::downstream::{Guard, Sessions};
use crate::drain::Drain;
use crate::events::Events;
use crate::metrics::Metrics;
use crate::route::Endpoint;
use crate::snapshot::Snapshot;

/// How long a request may wait for servers that are coming up.
const SETTLING: Duration = Duration::from_secs(10);

/// How many clients may wait for news: half of the connections there are, so that the others can
/// still ask something.
const LISTENERS: usize = 2048;

/// The common state.
#[derive(Debug)]
pub(crate) struct Shared {
    snapshot: ArcSwap<Snapshot>,
    /// Snapshots are made one after the other, so that none is lost.
    publishing: Mutex<()>,
    changed: watch::Sender<()>,
    pub(crate) store: Store,
    pub(crate) budget: Budget,
    pub(crate) events: Arc<Events>,
    pub(crate) metrics: Metrics,
    pub(crate) sessions: Sessions,
    pub(crate) guard: Guard,
    pub(crate) drain: Drain,
    /// Places for clients that wait for news.
    pub(crate) listeners: Arc<Semaphore>,
}

impl Shared {
    pub(crate) fn new(
        config: Arc<Config>,
        store: Store,
        budget: Budget,
        events: Arc<Events>,
        guard: Guard,
    ) -> Self {
        Self {
            snapshot: ArcSwap::from_pointee(Snapshot::new(config, Vec::new())),
            publishing: Mutex::new(()),
            changed: watch::Sender::new(()),
            store,
            budget,
            events,
            metrics: Metrics::default(),
            sessions: Sessions::new(),
            guard,
            drain: Drain::new(),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
        }
    }

    /// The state of this moment.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// The configuration of this moment.
    pub(crate) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.snapshot.load().config)
    }

    /// Says whenever there is a new state.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Makes a new state from the one of this moment.
    pub(crate) fn change(&self, change: impl FnOnce(&Snapshot) -> Snapshot) {
        {
            let _one_at_a_time = self
                .publishing
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let next = change(&self.snapshot.load());
            self.snapshot.store(Arc::new(next));
        }
        self.changed.send_replace(());
    }

    /// Offers a server's tools; whoever holds its list is told only if they have changed.
    pub(crate) fn publish(
        &self,
        server: &str,
        tools: Tools,
        instructions: Option<Bytes>,
        changed: bool,
    ) {
        self.change(|snapshot| {
            snapshot.replacing(server, |server| server.with(tools, instructions, changed))
        });
    }

    /// Notes that a server's list does not come for now: what is known of it stays.
    pub(crate) fn settle(&self, server: &str) {
        let settled =
            |snapshot: &Snapshot| snapshot.server(server).is_none_or(|known| known.settled);
        if settled(&self.snapshot.load()) {
            return;
        }
        self.change(|snapshot| {
            snapshot.replacing(server, |server| {
                let mut server = server.clone();
                server.settled = true;
                server
            })
        });
    }

    /// The state once the servers behind an endpoint have been heard, or have had their time.
    pub(crate) async fn settled(&self, endpoint: &Endpoint) -> Arc<Snapshot> {
        let heard = |snapshot: &Snapshot| match endpoint {
            Endpoint::Server(name) => snapshot.server(name).is_none_or(|server| server.settled),
            Endpoint::Router | Endpoint::Direct => {
                snapshot.servers().iter().all(|server| server.settled)
            }
        };
        let wait = async {
            let mut changed = self.changed.subscribe();
            loop {
                let snapshot = self.snapshot();
                if heard(&snapshot) || changed.changed().await.is_err() {
                    return snapshot;
                }
            }
        };
        let settled = timeout(SETTLING, wait).await;
        settled.unwrap_or_else(|_| self.snapshot())
    }
}
