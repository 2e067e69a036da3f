//! What became of a server's tools between two lists: which came, which went, and which members of
//! the others are no longer the same. A tool that changes after it was approved is an old trick, so
//! every change is recorded, whatever it is; what the members say is not.

use std::sync::Arc;

use countersign_audit::{Kind, NewId, Outcome, Record, Source};
use countersign_tape::{Span, members};
use countersign_wire::json::member;

use crate::state::{Tool, Tools};

/// The members of a tool that are told apart.
const MEMBERS: [&str; 7] = [
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "icons",
    "_meta",
];

/// Tools named in one record, of each sort.
const NAMED: usize = 10;
/// Characters of each name.
const NAME: usize = 48;

/// What happened to one tool.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToolChange {
    Added,
    Removed,
    /// These members are not what they were.
    Changed(Vec<&'static str>),
}

impl ToolChange {
    fn sort(&self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed(_) => "changed",
        }
    }
}

/// How a new list differs from the known one, by the tools' names: the new list's order, then what
/// is gone.
pub(super) fn changes(known: &Tools, new: &[Arc<Tool>]) -> Vec<(String, ToolChange)> {
    let mut all = Vec::new();
    for tool in new {
        match known.get(tool.name()) {
            None => all.push((tool.name().to_owned(), ToolChange::Added)),
            Some(old) if old.raw() != tool.raw() => {
                let what = differing(old.raw(), tool.raw());
                all.push((tool.name().to_owned(), ToolChange::Changed(what)));
            }
            Some(_) => {}
        }
    }
    let kept: std::collections::HashSet<&str> = new.iter().map(|tool| tool.name()).collect();
    let gone = known.all().iter().map(|tool| tool.name());
    let gone = gone.filter(|name| !kept.contains(name));
    all.extend(gone.map(|name| (name.to_owned(), ToolChange::Removed)));
    all
}

/// Which members of two tools differ.
fn differing(old: &[u8], new: &[u8]) -> Vec<&'static str> {
    let value = |tool, name| Some(member(tool, Span::whole(tool), name)?.bytes(tool));
    let named = MEMBERS.into_iter();
    let mut all: Vec<_> = named
        .filter(|name| value(old, name) != value(new, name))
        .collect();
    if others(old) != others(new) {
        all.push("other members");
    }
    if all.is_empty() {
        all.push("order or spacing");
    }
    all
}

/// The members that have no name here, in an order of their own.
fn others(tool: &[u8]) -> Vec<(&[u8], &[u8])> {
    let known = |key: Span| {
        let name = key.string(tool);
        name.is_some_and(|name| name == "name" || MEMBERS.contains(&&*name))
    };
    let mut others: Vec<_> = members(tool, Span::whole(tool))
        .filter(|(key, _)| !known(*key))
        .map(|(key, value)| (key.bytes(tool), value.bytes(tool)))
        .collect();
    others.sort_unstable();
    others
}

/// The record about a list that differs: of one tool by its name, of several with the first names of each sort. One record, as
/// a server may change all of its tools as often as it likes.
pub(super) fn record(
    id: NewId,
    server: &str,
    changes: &[(String, ToolChange)],
    tools: &[Arc<Tool>],
) -> Option<Record> {
    let (name, first) = changes.first()?;
    let mut record = Record::new(id, Kind::ToolChange, Outcome::Success);
    record.source = Source::Internal;
    record.server = Some(server.to_owned());
    if changes.len() > 1 {
        record.reason = Some(summary(changes));
        return Some(record);
    }
    let tool = tools.iter().find(|tool| tool.name() == name);
    let generation = tool.map(|tool| tool.contract().generation());
    record.tool = Some(name.clone());
    record.schema_generation = generation.filter(|number| *number > 0);
    record.reason = Some(match first {
        ToolChange::Changed(what) => format!("{}: {}", first.sort(), what.join(", ")),
        ToolChange::Added | ToolChange::Removed => first.sort().to_owned(),
    });
    Some(record)
}

/// Every sort of change with its number and its first tools.
fn summary(changes: &[(String, ToolChange)]) -> String {
    let parts = ["added", "removed", "changed"]
        .into_iter()
        .filter_map(|sort| {
            let all: Vec<_> = changes
                .iter()
                .filter(|(_, change)| change.sort() == sort)
                .collect();
            let named: Vec<_> = all
                .iter()
                .take(NAMED)
                .map(|change| describe(change))
                .collect();
            let more = match all.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let (count, named) = (all.len(), named.join(", "));
            (count > 0).then(|| format!("{count} {sort}: {named}{more}"))
        });
    parts.collect::<Vec<_>>().join("; ")
}

/// A tool's name, no longer than it has to be, and what differs in it.
fn describe((name, change): &(String, ToolChange)) -> String {
    let mut text: String = name
        .chars()
        .take(NAME)
        .flat_map(char::escape_debug)
        .collect();
    if name.chars().nth(NAME).is_some() {
        text.push('…');
    }
    if let ToolChange::Changed(what) = change {
        text = format!("{text} ({})", what.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use countersign_inspect::Policy;

    use super::*;
    use crate::state::Entry;

    fn tools(all: &[&'static str]) -> Vec<Arc<Tool>> {
        let tool = |text: &&'static str| {
            let entry = Entry::read(Bytes::from_static(text.as_bytes())).expect("a tool");
            Arc::new(Tool::capture(entry, "s", 1, Policy::default()))
        };
        all.iter().map(tool).collect()
    }

    #[test]
    fn every_difference_is_named() {
        let old = [
            r#"{"name":"same","x":1}"#,
            r#"{"name":"gone"}"#,
            r#"{"name":"a","description":"x","outputSchema":{}}"#,
            r#"{"name":"b","x":1,"y":2}"#,
            r#"{"name":"c","x":1,"y":2}"#,
        ];
        let new = tools(&[
            r#"{"name":"a","description":"y","annotations":{}}"#,
            r#"{"name":"new"}"#,
            r#"{"name":"b","x":1,"y":3}"#,
            r#"{"name":"c","y":2,"x":1}"#,
            r#"{"name":"same","x":1}"#,
        ]);
        let named = |name: &str, change| (name.to_owned(), change);
        assert_eq!(
            changes(&Tools::new(tools(&old), true), &new),
            [
                named(
                    "a",
                    ToolChange::Changed(vec!["description", "outputSchema", "annotations"])
                ),
                named("new", ToolChange::Added),
                named("b", ToolChange::Changed(vec!["other members"])),
                named("c", ToolChange::Changed(vec!["order or spacing"])),
                named("gone", ToolChange::Removed),
            ]
        );
    }

    #[test]
    fn a_list_of_new_tools_is_one_record_of_bounded_length() {
        let added = |number: usize| (format!("{number}{}", "x".repeat(200)), ToolChange::Added);
        let mut all: Vec<_> = (0..10_000).map(added).collect();
        all.push(("old".to_owned(), ToolChange::Removed));
        all.push((
            "\u{1b}[2Jb".to_owned(),
            ToolChange::Changed(vec!["description", "inputSchema"]),
        ));
        let id = countersign_audit::Ids::new().next();
        let one = record(id, "s", &all, &[]).expect("a record");
        let reason = one.reason.expect("a reason");
        assert!(reason.starts_with("10000 added: 0xxx"), "{reason}");
        let rest =
            " and 9990 more; 1 removed: old; 1 changed: \\u{1b}[2Jb (description, inputSchema)";
        assert!(reason.ends_with(rest), "{reason}");
        assert!(reason.len() < 1500 && one.tool.is_none(), "{reason}");
        assert!(record(id, "s", &[], &[]).is_none());
    }
}
