//! What every server offers, kept in memory: captured when a server comes up, again when it says
//! that its list has changed and every few minutes, and remembered in the store, so that the first
//! call after a restart is held to the contract of the last run. Never fetched because of a call.

mod capture;
mod change;
mod described;
mod entry;
mod fetch;
mod tool;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_audit::StoreError;
use tokio::time::sleep;

pub(crate) use entry::Entry;
pub(crate) use tool::{Naming, Tool};

use crate::events;
use crate::pause;
use crate::router::Index;
use crate::shared::Shared;
use crate::upstream::{Connection, Upstream, ready};

/// Servers often change several tools at once.
const DEBOUNCE: Duration = Duration::from_millis(250);
/// Not every server says when its list changes, so each is asked again after this long.
const REFRESH: Duration = Duration::from_mins(5);

/// The tools of one server.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    all: Vec<Arc<Tool>>,
    by_name: HashMap<String, usize>,
    index: Index,
    /// Whether this is what the server said in this run.
    pub(crate) fresh: bool,
    /// How long the server lets clients keep its list.
    pub(crate) ttl_ms: u64,
}

impl Tools {
    fn new(all: Vec<Arc<Tool>>, fresh: bool) -> Self {
        let names = all.iter().enumerate();
        let by_name = names
            .map(|(index, tool)| (tool.name().to_owned(), index))
            .collect();
        Self {
            index: Index::of(&all),
            all,
            by_name,
            fresh,
            ttl_ms: 0,
        }
    }

    /// The same tools, which clients may keep for this long.
    fn lasting(mut self, ttl_ms: u64) -> Self {
        self.ttl_ms = ttl_ms;
        self
    }

    /// The tool of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.all.get(*self.by_name.get(name)?)
    }

    /// What the tools are about.
    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// Every tool, in the server's order.
    pub(crate) fn all(&self) -> &[Arc<Tool>] {
        &self.all
    }
}

/// What the store remembers of a server. Blocks.
pub(crate) fn remembered(shared: &Shared, server: &str) -> Result<Tools, StoreError> {
    let config = shared.config();
    let captured = shared.store.reader().tools(server)?;
    let tools = captured.into_iter().filter_map(|captured| {
        let entry = Entry::read(Bytes::from(captured.raw)).ok()?;
        let policy = config.policy(server, entry.name());
        Some(Arc::new(Tool::capture(
            entry,
            server,
            captured.generation,
            policy,
        )))
    });
    Ok(Tools::new(tools.collect(), false))
}

/// Keeps a server's tools up to date for as long as the server is there.
pub(crate) async fn follow(shared: Arc<Shared>, upstream: Arc<Upstream>) {
    let mut state = upstream.state();
    loop {
        if let Ok(connection) = ready(&mut state).await {
            tokio::select! {
                () = track(&shared, &upstream, &connection) => {}
                changed = state.changed() => if changed.is_err() { return },
            }
        } else {
            // Nobody should wait for a list that does not come.
            shared.settle(upstream.name());
            if state.changed().await.is_err() {
                return;
            }
        }
    }
}

/// Captures the list, and again whenever the server says so; never returns.
async fn track(shared: &Arc<Shared>, upstream: &Upstream, connection: &Connection) {
    let mut failures = 0;
    loop {
        match fetch::tools(connection).await {
            Ok(list) => {
                failures = 0;
                capture(shared, upstream.name(), list, connection).await;
                tokio::select! {
                    () = connection.list_changed() => sleep(DEBOUNCE).await,
                    () = sleep(REFRESH) => {}
                }
            }
            Err(error) => {
                failures += 1;
                let why = &error.to_string();
                events::ListFailed {
                    server: upstream.name(),
                    why,
                }
                .emit(&shared.events);
                shared.settle(upstream.name());
                tokio::select! {
                    () = connection.list_changed() => {}
                    () = sleep(pause::growing(failures + 3)) => {}
                }
            }
        }
    }
}

/// Turns a fresh list into tools, remembers them and offers them.
async fn capture(shared: &Arc<Shared>, server: &Arc<str>, list: fetch::List, from: &Connection) {
    if let Some(why) = list.cut {
        events::ListCut { server, why }.emit(&shared.events);
    }
    let (blocking, name) = (Arc::clone(shared), Arc::clone(server));
    let mirrors = from.mirrors();
    let captured = tokio::task::spawn_blocking(move || {
        let known = blocking.snapshot();
        let known = known.server(&name).map(|server| Arc::clone(&server.tools));
        let known = known.unwrap_or_default();
        let captured = capture::capture(&blocking, &name, list.tools, &known, mirrors);
        let tools = Tools::new(captured.tools, true).lasting(list.ttl_ms);
        (tools, captured.changed, captured.records)
    });
    let Ok((tools, changed, mut records)) = captured.await else {
        return;
    };
    events::ListCaptured {
        server,
        tools: tools.all().len(),
    }
    .emit(&shared.events);
    let (instructions, poisoned) = described::instructions(shared, server, from.instructions());
    records.extend(poisoned);
    shared.publish(server, tools, instructions, changed);
    shared.metrics.observe(&records);
    // A remark is no reply: nothing waits for it.
    let _remarked = shared.store.commit((), records).await;
}
