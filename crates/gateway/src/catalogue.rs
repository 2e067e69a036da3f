//! What every server offers, kept in memory: captured when a server comes up, again when it says
//! that its list has changed, and remembered in the store, so that the first call after a restart
//! is held to the contract of the last run. Never fetched because of a call.

mod entry;
mod fetch;
mod tool;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_audit::{Finding, Kind, Outcome, Record, Severity, Source, Stage, StoreError};
use countersign_inspect::{Contract, Digest};
use tokio::time::sleep;

pub(crate) use entry::Entry;
pub(crate) use tool::{Naming, Tool};

use crate::events;
use crate::pause;
use crate::shared::Shared;
use crate::upstream::{Connection, Upstream, ready};

/// Servers often change several tools at once.
const DEBOUNCE: Duration = Duration::from_millis(250);

/// The tools of one server.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    all: Vec<Arc<Tool>>,
    by_name: HashMap<String, usize>,
    /// Whether this is what the server said in this run.
    pub(crate) fresh: bool,
}

impl Tools {
    fn new(all: Vec<Arc<Tool>>, fresh: bool) -> Self {
        let names = all.iter().enumerate();
        let by_name = names
            .map(|(index, tool)| (tool.name().to_owned(), index))
            .collect();
        Self {
            all,
            by_name,
            fresh,
        }
    }

    /// The tool of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.all.get(*self.by_name.get(name)?)
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
                connection.list_changed().await;
                sleep(DEBOUNCE).await;
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
async fn capture(
    shared: &Arc<Shared>,
    server: &Arc<str>,
    list: Vec<Bytes>,
    connection: &Connection,
) {
    let entries = entries(shared, server, list);
    let (blocking, name) = (Arc::clone(shared), Arc::clone(server));
    // Compiling and storing block.
    let captured = tokio::task::spawn_blocking(move || compile(&blocking, &name, entries)).await;
    let Ok((tools, records)) = captured else {
        return;
    };
    events::ListCaptured {
        server,
        tools: tools.len(),
    }
    .emit(&shared.events);
    let instructions = connection.instructions().map(|text| text.bytes().clone());
    shared.publish(server, Tools::new(tools, true), instructions);
    // A remark is no reply: nothing waits for it.
    let _remarked = shared.store.commit((), records).await;
}

/// The elements that are tools; the first of each name.
fn entries(shared: &Shared, server: &str, list: Vec<Bytes>) -> Vec<Entry> {
    let mut names = std::collections::HashSet::new();
    let mut entries = Vec::with_capacity(list.len());
    for (index, raw) in list.into_iter().enumerate() {
        let entry = Entry::read(raw).and_then(|entry| {
            let first = names.insert(entry.name().to_owned());
            first.then_some(entry).ok_or("another tool has this name")
        });
        match entry {
            Ok(entry) => entries.push(entry),
            Err(why) => events::ToolSkipped { server, index, why }.emit(&shared.events),
        }
    }
    entries
}

/// Compiles each tool under the generation the store gives it, with the remarks that are new.
fn compile(shared: &Shared, server: &str, entries: Vec<Entry>) -> (Vec<Arc<Tool>>, Vec<Record>) {
    let config = shared.config();
    let mut records = Vec::new();
    let mut tools = Vec::with_capacity(entries.len());
    for entry in entries {
        let digest = Digest::of(entry.raw()).to_string();
        let stored = shared
            .store
            .reader()
            .put_tool(server, entry.name(), &digest, entry.raw());
        let generation = stored.as_ref().map_or(0, |generation| generation.number);
        let policy = config.policy(server, entry.name());
        let tool = Tool::capture(entry, server, generation, policy);
        if stored.is_ok_and(|generation| generation.is_new) {
            records.extend(remarks(shared, server, tool.contract()));
        }
        tools.push(Arc::new(tool));
    }
    (tools, records)
}

/// What an operator should know about a declaration, once per generation.
fn remarks(shared: &Shared, server: &str, contract: &Contract) -> Vec<Record> {
    let remark = |diagnostic: &countersign_inspect::Diagnostic| {
        let mut record = Record::new(
            shared.store.next_id(),
            Kind::SchemaDiagnostic,
            Outcome::Success,
        );
        record.source = Source::Internal;
        record.server = Some(server.to_owned());
        record.tool = Some(contract.tool().tool().to_owned());
        record.schema_generation = Some(contract.generation());
        record.reason = Some(format!("{}: {}", diagnostic.member, diagnostic.detail));
        record.findings.push(Finding {
            stage: Stage::Contract,
            rule: diagnostic.rule.into(),
            severity: Severity::Info,
            instance_pointer: None,
            schema_pointer: None,
            expected: None,
            actual: None,
            detail: Some(diagnostic.detail.clone()),
        });
        record
    };
    contract.take_diagnostics().iter().map(remark).collect()
}
