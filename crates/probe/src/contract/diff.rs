//! Two tool lists side by side: which changes break a client that relied on the old one. A
//! change is breaking if arguments that were fine may now be refused, or results may now be what
//! the old schema ruled out; where that cannot be told from the keywords, it counts as breaking.

mod schema;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

use schema::Direction;

/// Whether a change breaks those who relied on the old list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Impact {
    /// A client that calls the tool goes on as before.
    Compatible,
    /// A client that relied on the old list may fail.
    Breaking,
}

impl Impact {
    fn breaking_if(is_breaking: bool) -> Self {
        if is_breaking {
            Self::Breaking
        } else {
            Self::Compatible
        }
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The tool.
    pub tool: String,
    /// Where in its declaration, as a pointer.
    pub pointer: String,
    /// Whether it breaks.
    pub impact: Impact,
    /// What happened, in a few words.
    pub what: String,
}

/// Compares two tool lists: arrays of tools, or `tools/list` results or responses.
pub fn diff(old: &Value, new: &Value) -> Result<Vec<Change>, &'static str> {
    let (old, new) = (tools(old)?, tools(new)?);
    let mut changes = Vec::new();
    let names: BTreeSet<&str> = old.iter().chain(&new).map(|(name, _)| *name).collect();
    for name in names {
        let find = |list: &Tools<'_>| {
            let mut tools = list.iter();
            tools.find_map(|(known, tool)| (*known == name).then(|| (*tool).clone()))
        };
        let mut one = Differ {
            tool: name.to_owned(),
            changes: &mut changes,
        };
        match (find(&old), find(&new)) {
            (Some(_), None) => one.add("", Impact::Breaking, "the tool is gone"),
            (None, Some(_)) => one.add("", Impact::Compatible, "the tool is new"),
            (Some(old), Some(new)) => one.tool(&old, &new),
            (None, None) => {}
        }
    }
    Ok(changes)
}

type Tools<'a> = Vec<(&'a str, &'a Map<String, Value>)>;

fn tools(list: &Value) -> Result<Tools<'_>, &'static str> {
    let places = [
        Some(list),
        list.get("tools"),
        list.get("result").and_then(|result| result.get("tools")),
    ];
    let found = places.into_iter().flatten().find_map(Value::as_array);
    let list = found.ok_or("there is no list of tools in it")?;
    let named = list
        .iter()
        .filter_map(|tool| Some((tool.get("name")?.as_str()?, tool.as_object()?)));
    Ok(named.collect())
}

struct Differ<'c> {
    tool: String,
    changes: &'c mut Vec<Change>,
}

impl Differ<'_> {
    fn add(&mut self, pointer: &str, impact: Impact, what: impl Into<String>) {
        self.changes.push(Change {
            tool: self.tool.clone(),
            pointer: pointer.to_owned(),
            impact,
            what: what.into(),
        });
    }

    fn tool(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let input = |tool: &Map<String, Value>| tool.get("inputSchema").cloned();
        let input = |tool| input(tool).unwrap_or(Value::Bool(true));
        self.schema("/inputSchema", &input(old), &input(new), Direction::In, 0);
        let at = "/outputSchema";
        match (old.get("outputSchema"), new.get("outputSchema")) {
            (None, Some(_)) => self.add(at, Impact::Compatible, "an output schema is declared"),
            (Some(_), None) => self.add(at, Impact::Breaking, "the output schema is gone"),
            (Some(old), Some(new)) => self.schema(at, old, new, Direction::Out, 0),
            (None, None) => {}
        }
        self.hints(old, new);
        for member in ["title", "description"] {
            if old.get(member) != new.get(member) {
                let at = format!("/{member}");
                self.add(&at, Impact::Compatible, "the wording changed");
            }
        }
    }

    /// A tool that turns from harmless to harmful breaks a client that calls it without asking.
    fn hints(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        for (hint, harmless) in [
            ("readOnlyHint", true),
            ("destructiveHint", false),
            ("idempotentHint", true),
            ("openWorldHint", false),
        ] {
            let read = |tool: &Map<String, Value>| tool.get("annotations")?.get(hint)?.as_bool();
            let (before, after) = (read(old), read(new));
            if before != after {
                let impact = Impact::breaking_if(before == Some(harmless));
                let word = |value: Option<bool>| {
                    value.map_or("unset".to_owned(), |value| value.to_string())
                };
                self.add(
                    &format!("/annotations/{hint}"),
                    impact,
                    format!("{} became {}", word(before), word(after)),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests;
