//! What every server offers, kept in memory: captured when a server comes up, again when it says
//! that its list has changed and every few minutes, and remembered in the store, so that the first
//! call after a restart is held to the contract of the last run. A call never fetches a list.

mod budget;
mod capture;
mod change;
mod descriptions;
mod fetch;
mod private_list;
mod remarks;
mod schema_refs;
mod survey;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_audit::{Store, StoreError};
use countersign_client::backoff;
use countersign_client::{self as upstream, Connection, Diagnostics, ServerHandle, ready};
use countersign_config::Config;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use budget::ListBudget;
pub(crate) use descriptions::clean_instructions;
pub(crate) use private_list::follow_private;
pub(crate) use survey::{survey, tool_names};

use crate::events;
use crate::services::{Runtime, Services};
use crate::state::{Entry, Server, Settings, State, Tool, Tools};

/// Servers often change several tools at once.
const DEBOUNCE: Duration = Duration::from_millis(250);
/// Not every server says when its list changes, so each is asked again after this long.
const REFRESH: Duration = Duration::from_mins(5);

/// What the store remembers of a server. Blocks.
pub(crate) fn remembered(
    store: &Store,
    config: &Config,
    server: &str,
) -> Result<Tools, StoreError> {
    let captured = store.reader().tools(server)?;
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

/// A server whose tools are kept up to date. Following it does not keep it running.
#[derive(Debug)]
pub(crate) struct TrackedServer {
    pub(crate) name: Arc<str>,
    pub(crate) state: watch::Receiver<upstream::State>,
    diagnostics: Arc<Diagnostics>,
}

impl TrackedServer {
    pub(crate) fn new(upstream: &ServerHandle) -> Self {
        Self {
            name: Arc::clone(upstream.name()),
            state: upstream.state(),
            diagnostics: Arc::clone(upstream.diagnostics()),
        }
    }
}

/// Keeps a server's tools up to date for as long as the server is there.
pub(crate) async fn follow(runtime: Runtime, server: TrackedServer) {
    let mut state = server.state.clone();
    let mut budget = ListBudget::new(Instant::now());
    loop {
        if let Ok(connection) = ready(&mut state).await {
            tokio::select! {
                () = track(&runtime, &server, &connection, &mut budget) => {}
                changed = state.changed() => if changed.is_err() { return },
            }
        } else {
            // Clients do not wait for a list that does not come.
            settle(&runtime.state, &server);
            if state.changed().await.is_err() {
                return;
            }
        }
    }
}

/// Captures the list, and again whenever the server says so; never returns.
async fn track(
    runtime: &Runtime,
    server: &TrackedServer,
    connection: &Connection,
    budget: &mut ListBudget,
) {
    let mut failures = 0;
    let mut is_first = true;
    let mut forgotten = runtime.services.schema_documents.forgotten();
    loop {
        await_turn(runtime, server, budget).await;
        match fetch::tools(connection).await {
            Ok(list) => {
                failures = 0;
                capture(runtime, server, list, connection, is_first).await;
                is_first = false;
                tokio::select! {
                    () = connection.list_changed() => sleep(DEBOUNCE).await,
                    () = sleep(REFRESH) => {}
                    // The services, which tell of it, are there.
                    _ = forgotten.changed() => {}
                }
            }
            Err(error) => {
                failures += 1;
                let why = &error.to_string();
                events::ListFailed {
                    server: &server.name,
                    why,
                }
                .emit(&runtime.services.events);
                settle(&runtime.state, server);
                tokio::select! {
                    () = connection.list_changed() => {}
                    () = sleep(backoff::delay(failures + 3)) => {}
                }
            }
        }
    }
}

/// Waits until the server may have its tools listed.
async fn await_turn(runtime: &Runtime, server: &TrackedServer, budget: &mut ListBudget) {
    let wait = budget.take(Instant::now());
    if wait.is_zero() {
        return;
    }
    events::ListDelayed {
        server: &server.name,
        seconds: wait.as_secs(),
    }
    .emit(&runtime.services.events);
    // Clients do not wait for a list that comes late.
    settle(&runtime.state, server);
    sleep(wait).await;
}

fn announce(
    services: &Services,
    of: &TrackedServer,
    from: &Connection,
    tools: usize,
    is_first: bool,
) {
    let server = &*of.name;
    if is_first {
        let (era, version) = from.protocol();
        events::ServerReady {
            server,
            transport: from.transport(),
            era: era.as_str(),
            version,
            tools,
            after: of.diagnostics.elapsed(),
        }
        .emit();
    }
    events::ListCaptured {
        server,
        tools,
        is_first,
    }
    .emit(&services.events);
}

/// Turns a fresh list into tools, remembers them and offers them.
async fn capture(
    runtime: &Runtime,
    of: &TrackedServer,
    list: fetch::List,
    from: &Connection,
    is_first: bool,
) {
    let (server, services) = (&of.name, &runtime.services);
    if let Some(why) = list.cut {
        events::ListCut { server, why }.emit(&services.events);
    }
    let settings = Arc::clone(&runtime.state.load().settings);
    let refs = &settings.config.schema_refs;
    let mut documents = schema_refs::collect(services, refs, server, &list.tools).await;
    let fetches = std::mem::take(&mut documents.records);
    let (blocking, name) = (runtime.clone(), Arc::clone(server));
    let mirrors = from.mirrors();
    let captured = tokio::task::spawn_blocking(move || {
        let snapshot = blocking.state.load();
        let known = snapshot.server(&name);
        let known = known.map(|server| Arc::clone(&server.tools));
        let known = known.unwrap_or_default();
        let settings = Arc::clone(&snapshot.settings);
        // Held longer, it would keep servers alive that are to end.
        drop(snapshot);
        let under = (&*blocking.services, &*settings.config);
        let captured = capture::capture(under, &name, list.tools, &known, (mirrors, &documents));
        let tools = Tools::new(captured.tools, true).with_ttl(list.ttl_ms);
        (settings, tools, captured.changed, captured.records)
    });
    let Ok((settings, tools, changed, mut records)) = captured.await else {
        return;
    };
    announce(services, of, from, tools.all().len(), is_first);
    let said = from.instructions();
    let known = runtime
        .state
        .load()
        .server(server)
        .and_then(|server| server.instructions.clone());
    let (instructions, poisoned) =
        descriptions::instructions(services, &settings, server, said, known.as_ref());
    records.extend(poisoned);
    records.extend(fetches);
    let found = ServerCapture {
        raw_instructions: said.map(|said| said.bytes().clone()),
        settings,
        tools: Arc::new(tools),
        instructions,
        changed,
    };
    publish(&runtime.state, of, found);
    services.metrics.observe(&records);
    // A remark is no reply: nothing waits for it.
    let _remarked = services.store.commit((), records).await;
}

/// Publishes what a server has, unless it was replaced by another server of its name. Clients are told only if its list has
/// changed.
fn publish(state: &State, of: &TrackedServer, found: ServerCapture) {
    state.change(|snapshot| {
        let found = found.with_policy(&snapshot.settings, &of.name);
        snapshot.replacing(&of.name, |server| {
            if !server.upstream.has_state_channel(&of.state) {
                return server.clone();
            }
            server.with_tools(found.tools, found.instructions, found.changed)
        })
    });
}

/// Notes that a server's list does not come for now: the known list stays.
fn settle(state: &State, of: &TrackedServer) {
    let is_it = |server: &Server| !server.settled && server.upstream.has_state_channel(&of.state);
    if !state.load().server(&of.name).is_some_and(is_it) {
        return;
    }
    state.change(|snapshot| {
        snapshot.replacing(&of.name, |server| {
            let mut server = server.clone();
            server.settled |= is_it(&server);
            server
        })
    });
}

/// What a server was found to have, and the settings it was captured under.
#[derive(Debug)]
struct ServerCapture {
    settings: Arc<Settings>,
    tools: Arc<Tools>,
    instructions: Option<Bytes>,
    /// The instructions as the server gave them.
    raw_instructions: Option<Bytes>,
    /// Whether the list differs from the one that was known.
    changed: bool,
}

impl ServerCapture {
    /// The same under the policies of these settings, which may have changed since.
    fn with_policy(mut self, settings: &Arc<Settings>, server: &str) -> Self {
        if !Arc::ptr_eq(&self.settings, settings) {
            let config = &settings.config;
            self.tools = self.tools.with_policies(config, server);
            self.instructions = self
                .raw_instructions
                .as_ref()
                .map(|raw| clean_instructions(raw, config, server));
            self.settings = Arc::clone(settings);
        }
        self
    }
}
