//! Two tool lists side by side: what a client that relied on the old one would trip over. A
//! change is breaking if arguments that were fine may now be refused, or results may now be what
//! the old schema ruled out; where that cannot be told from the keywords, it counts as breaking.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

/// How deep schemas are compared; what lies deeper is compared as a whole.
const MAX_DEPTH: usize = 32;

/// Whether a change breaks those who relied on the old list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Impact {
    /// Nobody will notice, or only by reading.
    Compatible,
    /// Somebody may fail.
    Breaking,
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
        let find = |list: &[(&str, &Map<String, Value>)]| {
            list.iter()
                .find(|(known, _)| *known == name)
                .map(|(_, tool)| (*tool).clone())
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

/// Which way values go: into the tool or out of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    In,
    Out,
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
        let empty = Value::Bool(true);
        let input =
            |tool: &Map<String, Value>| tool.get("inputSchema").cloned().unwrap_or(empty.clone());
        self.schema("/inputSchema", &input(old), &input(new), Way::In, 0);
        match (old.get("outputSchema"), new.get("outputSchema")) {
            (None, Some(_)) => self.add(
                "/outputSchema",
                Impact::Compatible,
                "an output schema is declared",
            ),
            (Some(_), None) => self.add(
                "/outputSchema",
                Impact::Breaking,
                "the output schema is gone",
            ),
            (Some(old), Some(new)) => self.schema("/outputSchema", old, new, Way::Out, 0),
            (None, None) => {}
        }
        self.hints(old, new);
        for member in ["title", "description"] {
            if old.get(member) != new.get(member) {
                self.add(
                    &format!("/{member}"),
                    Impact::Compatible,
                    "the wording changed",
                );
            }
        }
    }

    /// A tool that turns from harmless to harmful breaks whoever calls it without asking.
    fn hints(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        for (hint, harmless) in [
            ("readOnlyHint", true),
            ("destructiveHint", false),
            ("idempotentHint", true),
            ("openWorldHint", false),
        ] {
            let says = |tool: &Map<String, Value>| {
                tool.get("annotations")
                    .and_then(|all| all.get(hint))
                    .and_then(Value::as_bool)
            };
            let (before, after) = (says(old), says(new));
            if before != after {
                let impact = if before == Some(harmless) {
                    Impact::Breaking
                } else {
                    Impact::Compatible
                };
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

    fn schema(&mut self, at: &str, old: &Value, new: &Value, way: Way, depth: usize) {
        if old == new {
            return;
        }
        let (Value::Object(before), Value::Object(after)) = (old, new) else {
            return self.add(at, Impact::Breaking, "the schema changed as a whole");
        };
        if depth > MAX_DEPTH {
            return self.add(at, Impact::Breaking, "the schema changed deep inside");
        }
        let keywords: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for keyword in keywords {
            let (one, other) = (before.get(keyword), after.get(keyword));
            if one != other {
                let at = format!("{at}/{}", keyword.replace('~', "~0").replace('/', "~1"));
                self.keyword(&at, keyword, (one, other), (before, after), way, depth);
            }
        }
    }

    fn keyword(
        &mut self,
        at: &str,
        keyword: &str,
        (old, new): (Option<&Value>, Option<&Value>),
        around: (&Map<String, Value>, &Map<String, Value>),
        way: Way,
        depth: usize,
    ) {
        match keyword {
            "title" | "description" | "examples" | "$comment" | "default" | "deprecated"
            | "format" | "$schema" | "$id" => {
                self.add(at, Impact::Compatible, "an annotation changed");
            }
            "properties" => self.properties(at, (old, new), around, way, depth),
            "required" | "enum" | "type" => self.set(at, keyword, (old, new), way),
            "$defs"
            | "definitions"
            | "items"
            | "additionalProperties"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else"
                if old.is_some_and(Value::is_object) && new.is_some_and(Value::is_object) =>
            {
                let (Some(old), Some(new)) = (old, new) else {
                    return;
                };
                if matches!(keyword, "$defs" | "definitions") {
                    self.definitions(at, old, new, way, depth);
                } else if keyword == "not" || keyword == "if" {
                    self.add(at, Impact::Breaking, "a condition changed");
                } else {
                    self.schema(at, old, new, way, depth + 1);
                }
            }
            _ => self.bound(at, keyword, (old, new), way),
        }
    }

    fn definitions(&mut self, at: &str, old: &Value, new: &Value, way: Way, depth: usize) {
        for (name, before) in old.as_object().into_iter().flatten() {
            if let Some(after) = new.get(name) {
                self.schema(&format!("{at}/{name}"), before, after, way, depth + 1);
            }
        }
    }

    fn properties(
        &mut self,
        at: &str,
        (old, new): (Option<&Value>, Option<&Value>),
        (before, after): (&Map<String, Value>, &Map<String, Value>),
        way: Way,
        depth: usize,
    ) {
        let closed = |schema: &Map<String, Value>| {
            schema.get("additionalProperties") == Some(&Value::Bool(false))
        };
        let empty = Map::new();
        let old = old.and_then(Value::as_object).unwrap_or(&empty);
        let new = new.and_then(Value::as_object).unwrap_or(&empty);
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names {
            let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            match (old.get(name), new.get(name)) {
                (Some(one), Some(other)) => self.schema(&at, one, other, way, depth + 1),
                (Some(_), None) => {
                    // Arguments that nobody reads any more are refused only where the list is closed.
                    let impact = if way == Way::Out || closed(after) {
                        Impact::Breaking
                    } else {
                        Impact::Compatible
                    };
                    self.add(&at, impact, "the property is gone");
                }
                (None, Some(_)) => {
                    let impact = if way == Way::Out && closed(before) {
                        Impact::Breaking
                    } else {
                        Impact::Compatible
                    };
                    self.add(&at, impact, "the property is new");
                }
                (None, None) => {}
            }
        }
    }

    /// Keywords whose value is a list of words: of what is demanded, or of what is allowed.
    fn set(
        &mut self,
        at: &str,
        keyword: &str,
        (old, new): (Option<&Value>, Option<&Value>),
        way: Way,
    ) {
        let words = |value: Option<&Value>| -> Option<BTreeSet<String>> {
            Some(match value? {
                Value::Array(items) => items.iter().map(Value::to_string).collect(),
                one => BTreeSet::from([one.to_string()]),
            })
        };
        let (before, after) = (words(old), words(new));
        let demands = keyword == "required";
        // Absent: nothing is demanded, everything is allowed.
        let shrinks =
            |one: &Option<BTreeSet<String>>, other: &Option<BTreeSet<String>>| match (one, other) {
                (Some(one), Some(other)) => !one.is_subset(other),
                (Some(_), None) => demands,
                (None, Some(_)) => !demands,
                (None, None) => false,
            };
        let narrower = if demands {
            shrinks(&after, &before)
        } else {
            shrinks(&before, &after)
        };
        let wider = if demands {
            shrinks(&before, &after)
        } else {
            shrinks(&after, &before)
        };
        self.directed(at, narrower, wider, way);
    }

    /// Keywords whose value is a bound, and everything not known better.
    fn bound(
        &mut self,
        at: &str,
        keyword: &str,
        (old, new): (Option<&Value>, Option<&Value>),
        way: Way,
    ) {
        let numbers = (old.and_then(Value::as_f64), new.and_then(Value::as_f64));
        let lower = keyword.starts_with("min") || keyword == "exclusiveMinimum";
        let upper = keyword.starts_with("max") || keyword == "exclusiveMaximum";
        let (narrower, wider) = match (old, new, numbers) {
            (_, _, (Some(one), Some(other))) if lower => (other > one, other < one),
            (_, _, (Some(one), Some(other))) if upper => (other < one, other > one),
            (None, Some(Value::Bool(true)), _) if keyword == "additionalProperties" => {
                (false, false)
            }
            (Some(Value::Bool(false)), _, _) if keyword == "additionalProperties" => (false, true),
            (Some(_), None, _) if keyword != "$ref" => (false, true),
            (None, Some(_), _) if keyword != "$ref" => (true, false),
            _ => (true, true),
        };
        self.directed(at, narrower, wider, way);
    }

    /// Narrower hurts who sends, wider hurts who receives.
    fn directed(&mut self, at: &str, narrower: bool, wider: bool, way: Way) {
        let breaks = if way == Way::In { narrower } else { wider };
        let impact = if breaks {
            Impact::Breaking
        } else {
            Impact::Compatible
        };
        let what = match (narrower, wider) {
            (true, false) => "allows less than before",
            (false, true) => "allows more than before",
            (true, true) => "allows something else than before",
            (false, false) => "changed without effect",
        };
        self.add(at, impact, what);
    }
}

#[cfg(test)]
mod tests;
