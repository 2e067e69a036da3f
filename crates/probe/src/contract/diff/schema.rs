//! Two schemas side by side, keyword by keyword. A narrower schema breaks the
//! sender of a value, a wider one its receiver; a change of any other keyword counts as both.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Differ, Impact};

/// How deep schemas are compared; what lies deeper is compared as a whole.
const MAX_DEPTH: usize = 32;

/// Whether the schema is for values that go into the tool or come out of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Out,
}

impl Differ<'_> {
    pub(super) fn schema(
        &mut self,
        at: &str,
        old: &Value,
        new: &Value,
        way: Direction,
        depth: usize,
    ) {
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
        way: Direction,
        depth: usize,
    ) {
        let both = match (old, new) {
            (Some(old @ Value::Object(_)), Some(new @ Value::Object(_))) => Some((old, new)),
            _ => None,
        };
        match (keyword, both) {
            (
                "title" | "description" | "examples" | "$comment" | "default" | "deprecated"
                | "format" | "$schema" | "$id",
                _,
            ) => self.add(at, Impact::Compatible, "an annotation changed"),
            ("properties", _) => self.properties(at, (old, new), around, way, depth),
            ("required" | "enum" | "type", _) => self.set(at, keyword, (old, new), way),
            ("$defs" | "definitions", Some((old, new))) => {
                self.definitions(at, old, new, way, depth);
            }
            ("not" | "if", Some(_)) => self.add(at, Impact::Breaking, "a condition changed"),
            (
                "items" | "additionalProperties" | "contains" | "propertyNames" | "then" | "else",
                Some((old, new)),
            ) => self.schema(at, old, new, way, depth + 1),
            _ => self.bound(at, keyword, (old, new), way),
        }
    }

    fn definitions(&mut self, at: &str, old: &Value, new: &Value, way: Direction, depth: usize) {
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
        way: Direction,
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
                    // Arguments that the tool no longer reads are refused only where the list is closed.
                    let impact = Impact::breaking_if(way == Direction::Out || closed(after));
                    self.add(&at, impact, "the property is gone");
                }
                (None, Some(_)) => {
                    let impact = Impact::breaking_if(way == Direction::Out && closed(before));
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
        way: Direction,
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
        // A shorter list of allowed words is narrower, a shorter list of demanded ones is wider.
        let (shrinks, grows) = (shrinks(&before, &after), shrinks(&after, &before));
        let (narrower, wider) = if demands {
            (grows, shrinks)
        } else {
            (shrinks, grows)
        };
        self.directed(at, narrower, wider, way);
    }

    /// Keywords whose value is a bound, and everything not known better.
    fn bound(
        &mut self,
        at: &str,
        keyword: &str,
        (old, new): (Option<&Value>, Option<&Value>),
        way: Direction,
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
    fn directed(&mut self, at: &str, narrower: bool, wider: bool, way: Direction) {
        let impact = Impact::breaking_if(if way == Direction::In {
            narrower
        } else {
            wider
        });
        let what = match (narrower, wider) {
            (true, false) => "allows less than before",
            (false, true) => "allows more than before",
            (true, true) => "allows something else than before",
            (false, false) => "changed without effect",
        };
        self.add(at, impact, what);
    }
}
