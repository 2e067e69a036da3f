//! A fetched list becomes tools: what is not a tool is left out, what has not changed is kept as it
//! is, the rest is compiled under the generation the store gives it. What an operator should know
//! of it is recorded. Blocks, so it runs aside.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use countersign_audit::{Generation, Record, ToolDeclaration};
use countersign_config::Config;
use countersign_inspect::Digest;
use countersign_wire::MirroredArguments;

use super::change::{self, ToolChange, changes};
use super::remarks::Remarks;
use super::schema_refs::ListDocuments;
use crate::events;
use crate::services::Services;
use crate::state::{Entry, Tool, Tools};

/// What a list came to.
pub(super) struct CapturedList {
    pub(super) tools: Vec<Arc<Tool>>,
    pub(super) records: Vec<Record>,
    /// Whether it differs from the list that was known.
    pub(super) changed: bool,
}

/// Makes tools of a list. `mirrors`: arguments of their calls are repeated as headers, which a tool
/// has to be fit for. `documents` are those that its schemas refer to.
pub(super) fn capture(
    (services, config): (&Services, &Config),
    server: &str,
    list: Vec<Bytes>,
    known: &Tools,
    (mirrors, documents): (bool, &ListDocuments),
) -> CapturedList {
    let mut remarks = Remarks::default();
    let entries = entries(services, server, list, mirrors);
    let mut tools = Vec::with_capacity(entries.len());
    for (entry, generation) in stored((services, config), server, entries, (known, documents)) {
        let Some(generation) = generation else {
            tools.extend(known.get(entry.name()).cloned());
            continue;
        };
        let policy = config.policy(server, entry.name());
        let documents = documents.for_tool(entry.raw());
        let tool = Tool::capture_with(entry, server, generation.number, policy, documents);
        if generation.is_new {
            remarks.add(services, server, &tool);
        }
        tools.push(Arc::new(tool));
    }
    let changes = changes(known, &tools);
    let mut records = remarks.into_records(services, server);
    // The very first list of a server changes nothing: there was none before.
    if known.fresh || !known.all().is_empty() {
        forget(services, server, &changes);
        let id = services.store.next_id();
        records.extend(change::record(id, server, &changes, &tools));
    }
    CapturedList {
        changed: !changes.is_empty(),
        tools,
        records,
    }
}

/// The elements that are tools; the first of each name.
fn entries(services: &Services, server: &str, list: Vec<Bytes>, mirrors: bool) -> Vec<Entry> {
    let mut names = HashSet::new();
    let mut entries = Vec::with_capacity(list.len());
    for (index, raw) in list.into_iter().enumerate() {
        let entry = Entry::read(raw).and_then(|entry| {
            if mirrors {
                MirroredArguments::from_schema(entry.input_schema().unwrap_or_default())?;
            }
            let first = names.insert(entry.name().to_owned());
            first.then_some(entry).ok_or("another tool has this name")
        });
        match entry {
            Ok(entry) => entries.push(entry),
            Err(why) => events::ToolSkipped { server, index, why }.emit(&services.events),
        }
    }
    entries
}

/// Each entry with the generation the store gave it; without one if it is known as it is.
fn stored(
    (services, config): (&Services, &Config),
    server: &str,
    entries: Vec<Entry>,
    (known, documents): (&Tools, &ListDocuments),
) -> Vec<(Entry, Option<Generation>)> {
    let is_news = |entry: &Entry| {
        let policy = config.policy(server, entry.name());
        let old = known.get(entry.name());
        let documents = documents.for_tool(entry.raw());
        old.is_none_or(|old| !old.matches_stored(entry, &policy, &documents))
    };
    let digest = |entry: &Entry| is_news(entry).then(|| Digest::sha256(entry.raw()).to_string());
    let digests: Vec<Option<String>> = entries.iter().map(digest).collect();
    let declared: Vec<_> = entries
        .iter()
        .zip(&digests)
        .filter_map(|(entry, digest)| {
            Some(ToolDeclaration {
                tool: entry.name(),
                digest: digest.as_deref()?,
                raw: entry.raw(),
            })
        })
        .collect();
    // A tool that could not be stored has no generation; it is tried again with the next list.
    let generations = services.store.reader().put_tools(server, &declared);
    let mut generations = generations.unwrap_or_default().into_iter();
    let unstored = Generation {
        number: 0,
        is_new: false,
    };
    let next = |digest: Option<String>| digest.map(|_| generations.next().unwrap_or(unstored));
    let generations = digests.into_iter().map(next);
    entries.into_iter().zip(generations).collect()
}

/// A tool that is gone leaves an empty generation behind, so that a restart does not bring it back
/// and records of it can still be looked up.
fn forget(services: &Services, server: &str, changes: &[(String, ToolChange)]) {
    let gone = changes
        .iter()
        .filter(|(_, change)| *change == ToolChange::Removed);
    let gone: Vec<_> = gone
        .map(|(tool, _)| ToolDeclaration {
            tool,
            digest: "gone",
            raw: b"",
        })
        .collect();
    // A mark that cannot be written is missed at a restart only, and the list fetched then corrects it.
    services.store.reader().put_tools(server, &gone).ok();
}
