//! What the parts of one running gateway have in common. It does nothing by itself; it is where
//! the snapshot is, where records go, and how everybody learns that the gateway stops.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use countersign_audit::Store;
use countersign_config::{Config, Opened};
use countersign_dial::Budget;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use crate::catalogue::{Followed, Found};
use crate::downstream::{Feed, Sessions};
use crate::drain::Drain;
use crate::events::Events;
use crate::fleet::Fleet;
use crate::lists::Lists;
use crate::metrics::Metrics;
use crate::reload::Reloads;
use crate::state::{Endpoint, Server, Settings, Snapshot};

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
    /// The memory for messages, of which each server has a share.
    budget: Budget,
    /// The share of the clients.
    pub(crate) intake: Budget,
    pub(crate) events: Arc<Events>,
    pub(crate) metrics: Metrics,
    pub(crate) lists: Lists,
    pub(crate) sessions: Sessions,
    pub(crate) fleet: Fleet,
    pub(crate) reloads: Reloads,
    pub(crate) drain: Drain,
    /// What the streams of events read.
    pub(crate) feed: Feed,
    /// Places for clients that wait for news.
    pub(crate) listeners: Arc<Semaphore>,
}

impl Shared {
    /// Nothing runs yet, and nothing is remembered but what the data directory says. Blocks, shortly.
    pub(crate) fn empty(opened: &Opened, store: Store) -> Self {
        let config = &opened.config;
        let mut nobody = config.clone();
        nobody.servers.clear();
        // Nobody is served before the first plan has been carried out, and that brings the key.
        let settings = Arc::new(Settings::new(nobody, None));
        let budget = Budget::new(config.max_inflight_bytes);
        Self {
            snapshot: ArcSwap::from_pointee(Snapshot::new(settings, Vec::new())),
            publishing: Mutex::new(()),
            changed: watch::Sender::new(()),
            store,
            intake: share(&budget, config),
            budget,
            events: Arc::default(),
            metrics: Metrics::default(),
            lists: Lists::default(),
            sessions: Sessions::new(),
            fleet: Fleet::new(&config.data_dir),
            reloads: Reloads::new(opened),
            drain: Drain::new(),
            feed: Feed::new(),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
        }
    }

    /// The memory for the messages of one server.
    pub(crate) fn budget_for_one(&self, config: &Config) -> Budget {
        share(&self.budget, config)
    }

    /// The state of this moment.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// What the configuration makes of the gateway at this moment.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.snapshot.load().settings)
    }

    /// The configuration of this moment.
    pub(crate) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.snapshot.load().settings.config)
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

    /// Makes `next` the state, if the one of this moment is still `before`; says whether it was.
    pub(crate) fn succeed(&self, before: &Arc<Snapshot>, next: Snapshot) -> bool {
        {
            let _one_at_a_time = self
                .publishing
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if !Arc::ptr_eq(before, &self.snapshot.load()) {
                return false;
            }
            self.snapshot.store(Arc::new(next));
        }
        self.changed.send_replace(());
        true
    }

    /// Offers what a server was found to have, unless it is no longer the one of its name; whoever holds its list is
    /// told only if it has changed.
    pub(crate) fn publish(&self, of: &Followed, found: Found) {
        self.change(|snapshot| {
            let found = found.with_policy(&snapshot.settings, &of.name);
            snapshot.replacing(&of.name, |server| {
                if !server.upstream.is_behind(&of.state) {
                    return server.clone();
                }
                server.with(found.tools, found.instructions, found.changed)
            })
        });
    }

    /// Notes that a server's list does not come for now: what is known of it stays.
    pub(crate) fn settle(&self, of: &Followed) {
        let is_it = |server: &Server| !server.settled && server.upstream.is_behind(&of.state);
        if !self.snapshot.load().server(&of.name).is_some_and(is_it) {
            return;
        }
        self.change(|snapshot| {
            snapshot.replacing(&of.name, |server| {
                let mut server = server.clone();
                server.settled |= is_it(&server);
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

/// The share of one server, or of the clients.
fn share(budget: &Budget, config: &Config) -> Budget {
    budget.share(config.servers.len() + 1, config.max_message_bytes)
}
