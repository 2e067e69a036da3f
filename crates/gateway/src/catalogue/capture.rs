//! A fetched list becomes tools: what is not a tool is left out, what has not changed is kept as it
//! is, the rest is compiled under the generation the store gives it. What an operator should know
//! of it is recorded. Blocks, so it runs aside.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use countersign_audit::{Finding, Kind, Outcome, Record, Severity, Source, Stage};
use countersign_inspect::{Contract, Diagnostic, Digest};

use super::change::{Change, changes};
use super::{Entry, Tool, Tools, described};
use crate::config::Config;
use crate::events;
use crate::shared::Shared;
use crate::upstream::http::Mirrored;

/// What a list came to.
pub(super) struct Captured {
    pub(super) tools: Vec<Arc<Tool>>,
    pub(super) records: Vec<Record>,
    /// Whether it differs from the list that was known.
    pub(super) changed: bool,
}

/// Makes tools of a list. `mirrors`: arguments of their calls are repeated as headers, which a tool
/// has to be fit for.
pub(super) fn capture(
    (shared, config): (&Shared, &Config),
    server: &str,
    list: Vec<Bytes>,
    known: &Tools,
    mirrors: bool,
) -> Captured {
    let mut records = Vec::new();
    let entries = entries(shared, server, list, mirrors);
    let tools: Vec<_> = entries
        .into_iter()
        .map(|entry| tool((shared, config), server, entry, known, &mut records))
        .collect();
    let changes = changes(known, &tools);
    // The very first list of a server changes nothing: there was none before.
    if known.fresh || !known.all().is_empty() {
        for (name, change) in &changes {
            let generation = match change {
                Change::Removed => forget(shared, server, name),
                Change::Added | Change::Changed(_) => generation(&tools, name),
            };
            let id = shared.store.next_id();
            records.push(change.record(id, server, name, generation));
        }
    }
    Captured {
        changed: !changes.is_empty(),
        tools,
        records,
    }
}

/// The elements that are tools; the first of each name.
fn entries(shared: &Shared, server: &str, list: Vec<Bytes>, mirrors: bool) -> Vec<Entry> {
    let mut names = HashSet::new();
    let mut entries = Vec::with_capacity(list.len());
    for (index, raw) in list.into_iter().enumerate() {
        let entry = Entry::read(raw).and_then(|entry| {
            if mirrors {
                Mirrored::of(entry.input_schema().unwrap_or_default())?;
            }
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

/// The tool as it is known, or compiled anew.
fn tool(
    (shared, config): (&Shared, &Config),
    server: &str,
    entry: Entry,
    known: &Tools,
    records: &mut Vec<Record>,
) -> Arc<Tool> {
    let policy = config.policy(server, entry.name());
    if let Some(old) = known.get(entry.name())
        && old.is(&entry, &policy)
    {
        return Arc::clone(old);
    }
    let digest = Digest::of(entry.raw()).to_string();
    let reader = shared.store.reader();
    let stored = reader.put_tool(server, entry.name(), &digest, entry.raw());
    let generation = stored.as_ref().map_or(0, |generation| generation.number);
    let tool = Tool::capture(entry, server, generation, policy);
    if stored.is_ok_and(|generation| generation.is_new) {
        records.extend(remarks(shared, server, tool.contract()));
        records.extend(described::record(
            shared,
            server,
            Some(tool.name()),
            tool.listing(),
        ));
    }
    Arc::new(tool)
}

fn generation(tools: &[Arc<Tool>], name: &str) -> u64 {
    let tool = tools.iter().find(|tool| tool.name() == name);
    tool.map_or(0, |tool| tool.contract().generation())
}

/// A tool that is gone leaves an empty generation behind, so that a restart does not bring it back
/// and records of it can still be looked up.
fn forget(shared: &Shared, server: &str, name: &str) -> u64 {
    let stored = shared.store.reader().put_tool(server, name, "gone", b"");
    stored.map_or(0, |generation| generation.number)
}

/// What an operator should know about a declaration, once per generation.
fn remarks(shared: &Shared, server: &str, contract: &Contract) -> Vec<Record> {
    let remark = |diagnostic: &Diagnostic| {
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
        let finding = Finding::new(Stage::Contract, diagnostic.rule, Severity::Info);
        record
            .findings
            .push(finding.detail(diagnostic.detail.clone()));
        record
    };
    contract.take_diagnostics().iter().map(remark).collect()
}
