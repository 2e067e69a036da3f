//! Everything that a request is decided by: the configuration, the servers and their tools, and who may come in. All of it is
//! immutable: a change makes a new snapshot, which [`State`] holds.

mod admission;
mod endpoint;
mod entry;
pub(crate) mod guard;
mod index;
pub(crate) mod names;
mod schema_documents;
mod server_state;
mod settings;
mod snapshot;
mod tally;
mod tool;
mod tools;
mod view;
mod words;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use countersign_dial::lock;
use tokio::sync::watch;
use tokio::time::timeout;

pub(crate) use admission::Admission;
pub(crate) use countersign_login::{Caller, IssuerRules, METADATA, Right, TokenRules};
pub(crate) use endpoint::Endpoint;
pub(crate) use entry::Entry;
pub(crate) use guard::Guard;
pub(crate) use index::{Index, Posting, truncate};
pub(crate) use schema_documents::SchemaDocuments;
pub(crate) use server_state::ServerState;
pub(crate) use settings::Settings;
pub(crate) use snapshot::{Server, Snapshot};
pub use tally::Tally;
pub(crate) use tool::{Naming, Tool};
pub(crate) use tools::Tools;
pub(crate) use view::{CallerView, Denial, Hidden, Permitted, Unusable, VisibleTool};
pub(crate) use words::words;

/// How long a request may wait for servers that are coming up.
const MAX_TOOL_LIST_WAIT: Duration = Duration::from_secs(10);

/// Holds the current snapshot. What serves a request is given one snapshot, and no access to the holder.
#[derive(Debug)]
pub(crate) struct State {
    current: ArcSwap<Snapshot>,
    /// Held while a new snapshot is made, so that no change is lost.
    changing: Mutex<()>,
    changed: watch::Sender<()>,
}

impl State {
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        Self {
            current: ArcSwap::from_pointee(snapshot),
            changing: Mutex::new(()),
            changed: watch::Sender::new(()),
        }
    }

    /// The current snapshot.
    pub(crate) fn load(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Tells of every new snapshot.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Makes a new snapshot from the current one.
    pub(crate) fn change(&self, change: impl FnOnce(&Snapshot) -> Snapshot) {
        {
            let _changing = lock(&self.changing);
            let next = change(&self.current.load());
            self.current.store(Arc::new(next));
        }
        self.changed.send_replace(());
    }

    /// Makes `next` the current snapshot if that is still `before`; says whether it was.
    pub(crate) fn compare_and_swap(&self, before: &Arc<Snapshot>, next: Snapshot) -> bool {
        {
            let _changing = lock(&self.changing);
            if !Arc::ptr_eq(before, &self.current.load()) {
                return false;
            }
            self.current.store(Arc::new(next));
        }
        self.changed.send_replace(());
        true
    }

    /// For a request that may have to wait for tool lists.
    pub(crate) fn tool_list_wait(&self) -> ToolListWait<'_> {
        ToolListWait(self)
    }
}

/// Lets a request wait for the servers behind its endpoint, and gives it nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolListWait<'a>(&'a State);

impl ToolListWait<'_> {
    /// The request's own snapshot if the servers behind the endpoint have been asked for their tools. Otherwise the first
    /// snapshot in which they have, or the current one after ten seconds.
    pub(crate) async fn wait(self, snapshot: Arc<Snapshot>, endpoint: &Endpoint) -> Arc<Snapshot> {
        let Self(state) = self;
        let wait = async {
            let mut changed = state.changes();
            let mut snapshot = snapshot;
            while !snapshot.is_settled(endpoint) {
                snapshot = state.load();
                if !snapshot.is_settled(endpoint) && changed.changed().await.is_err() {
                    break;
                }
            }
            snapshot
        };
        let settled = timeout(MAX_TOOL_LIST_WAIT, wait).await;
        settled.unwrap_or_else(|_| state.load())
    }
}

/// Starts tasks that outlive the request they begin with. Only such a task may see other snapshots than the request's own,
/// so the handle is made inside the task: what starts it cannot load a snapshot.
#[derive(Debug)]
pub(crate) struct BackgroundTasks(Arc<State>);

impl BackgroundTasks {
    pub(crate) fn new(state: &Arc<State>) -> Self {
        Self(Arc::clone(state))
    }

    /// Runs what `task` makes of the handle, in a task of its own.
    pub(crate) fn spawn<F>(&self, task: impl FnOnce(CurrentState) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send,
    {
        let state = Arc::clone(&self.0);
        tokio::spawn(async move { task(CurrentState(state)).await });
    }
}

/// Lets a background task see the current snapshot, and gives it nothing else.
#[derive(Debug)]
pub(crate) struct CurrentState(Arc<State>);

impl CurrentState {
    /// The current snapshot. Held longer than needed, it would keep servers alive that are to end.
    pub(crate) fn load(&self) -> Arc<Snapshot> {
        self.0.load()
    }
}

/// Lets the end of a call have a tool listed anew, and gives it nothing else.
#[derive(Debug)]
pub(crate) struct Relister(Arc<State>);

impl Relister {
    pub(crate) fn new(state: &Arc<State>) -> Self {
        Self(Arc::clone(state))
    }

    /// Lists a server's tools anew, because a result broke the contract of `tool`. How that tool is listed depends on the
    /// current snapshot, not on the snapshot of the call.
    pub(crate) fn relist(&self, server: &str, tool: &str) {
        let Self(state) = self;
        let snapshot = state.load();
        let tools = snapshot.server(server).map(|server| &server.tools);
        let tool = tools.and_then(|tools| tools.get(tool));
        if tool.is_some_and(|tool| tool.lists_conforming()) {
            state.change(|snapshot| snapshot.replacing(server, Server::relisted));
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_config::{Config, Environment};

    use super::*;

    #[test]
    fn a_snapshot_replaces_only_the_one_it_was_made_from() {
        let config = Config::embedded(&Environment::empty());
        let settings = Arc::new(Settings::new(config, None));
        let snapshot = || Snapshot::new(Arc::clone(&settings), Vec::new());
        let state = State::new(snapshot());
        let (before, mut changes) = (state.load(), state.changes());
        assert!(state.compare_and_swap(&before, snapshot()));
        assert!(changes.has_changed().expect("the state is there"));
        changes.mark_unchanged();
        let current = state.load();
        assert!(!state.compare_and_swap(&before, snapshot()));
        assert!(Arc::ptr_eq(&current, &state.load()));
        assert!(!changes.has_changed().expect("the state is there"));
    }
}
