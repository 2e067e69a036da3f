//! A value for a schema. Best effort by keyword; the schema engine decides whether it fits.
//! Recursive, but never deeper than a fixed bound, whatever the schema refers to.

use serde_json::{Map, Value};

use super::choice::Choice;
use super::document::Document;
use super::number::Range;
use super::text;
use super::view::View;
use crate::random::Random;

/// Values within values.
const MAX_DEPTH: usize = 8;
/// Items of an array, members of an object, that are made unless more are demanded.
const FEW: usize = 3;
/// Items or members that are made however many are demanded.
pub(super) const MAX_MEMBERS: usize = 256;
/// Values made for one set of arguments.
const MAX_VALUES: usize = 4096;

/// A value for everything the schemas say together.
pub(super) fn value<'a>(
    document: &Document<'a>,
    schemas: &[&'a Value],
    choice: Choice,
) -> Option<Value> {
    ValueGenerator {
        document,
        left: MAX_VALUES,
    }
    .make(schemas, choice, 0)
}

struct ValueGenerator<'d, 'a> {
    document: &'d Document<'a>,
    left: usize,
}

impl<'a> ValueGenerator<'_, 'a> {
    fn make(&mut self, schemas: &[&'a Value], choice: Choice, depth: usize) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        if depth > MAX_DEPTH {
            return None;
        }
        let view = self.document.view(schemas, choice)?;
        if let Some(only) = view.consts.first() {
            return Some((*only).clone());
        }
        if let Some(listed) = listed(&view, choice) {
            return Some(listed);
        }
        if let Some(suggested) = suggested(&view, choice) {
            return Some(suggested);
        }
        match type_of(&view, choice)? {
            "object" => self.object(&view, choice, depth),
            "array" => self.array(&view, choice, depth),
            "string" => text::text(&view, choice),
            "integer" | "number" => Some(Range::from_view(&view).choose(choice)),
            "boolean" => Some(Value::Bool(match choice {
                Choice::Minimal(_) => false,
                Choice::Maximal(_) => true,
                Choice::Random(seed) => seed.is_multiple_of(2),
            })),
            "null" => Some(Value::Null),
            _ => None,
        }
    }

    fn object(&mut self, view: &View<'a>, choice: Choice, depth: usize) -> Option<Value> {
        let mut object = Map::new();
        let mut demanded: Vec<&str> = view.required.iter().copied().collect();
        let closing = depth + 2 > MAX_DEPTH;
        for (index, name) in view.properties.keys().enumerate() {
            let wanted = match choice {
                Choice::Minimal(_) => false,
                Choice::Maximal(_) => !closing,
                Choice::Random(seed) => {
                    !closing && Random::new(seed ^ 0x5eed ^ index as u64).index(2) == 0
                }
            };
            if wanted && !view.required.contains(name) && demanded.len() < MAX_MEMBERS {
                demanded.push(name);
            }
        }
        for (name, others) in &view.dependent {
            if demanded.contains(name) {
                demanded.extend(others.iter().filter_map(Value::as_str));
            }
        }
        for (index, name) in demanded.into_iter().enumerate() {
            let schemas = view.properties.get(name).unwrap_or(&view.additional);
            match self.make(schemas, choice.nested(index), depth + 1) {
                Some(value) => drop(object.insert(name.to_owned(), value)),
                None if view.required.contains(name) => return None,
                None => {}
            }
        }
        let least = view.count("minProperties").unwrap_or(0).min(MAX_MEMBERS);
        for index in object.len()..least {
            let value = self.make(&view.additional, choice.nested(index), depth + 1)?;
            let declared = view
                .properties
                .keys()
                .find(|name| !object.contains_key(**name));
            match declared {
                Some(name) => {
                    let value =
                        self.make(&view.properties[name], choice.nested(index), depth + 1)?;
                    object.insert((*name).to_owned(), value);
                }
                None => drop(object.insert(format!("member{index}"), value)),
            }
        }
        Some(Value::Object(object))
    }

    fn array(&mut self, view: &View<'a>, choice: Choice, depth: usize) -> Option<Value> {
        let least = view
            .count("minItems")
            .unwrap_or(0)
            .max(usize::from(!view.contains.is_empty()));
        let most = view.count("maxItems").unwrap_or(usize::MAX);
        let wanted = match choice {
            Choice::Minimal(_) => least,
            Choice::Maximal(_) => least.max(FEW.max(view.prefix.len())),
            Choice::Random(seed) => least + Random::new(seed).index(FEW + 1),
        };
        let length = wanted.min(most).min(MAX_MEMBERS);
        let mut items: Vec<Value> = Vec::new();
        for index in 0..length {
            let schemas = view.prefix.get(index).unwrap_or(&view.items);
            let mut chosen: Vec<&'a Value> = schemas.clone();
            if index == 0 {
                chosen.extend(&view.contains);
            }
            let made = self.make(&chosen, choice.nested(index), depth + 1);
            let repeated = view.unique && made.as_ref().is_some_and(|made| items.contains(made));
            match made {
                Some(made) if !repeated => items.push(made),
                _ if repeated => items.extend(self.different(&chosen, &items, depth)),
                _ if index < least => return None,
                _ => break,
            }
        }
        Some(Value::Array(items))
    }

    /// An item that is not there yet.
    fn different(&mut self, schemas: &[&'a Value], items: &[Value], depth: usize) -> Option<Value> {
        (1..16).find_map(|seed| {
            let made = self.make(
                schemas,
                Choice::Random(seed * 7919 + items.len() as u64),
                depth + 1,
            )?;
            (!items.contains(&made)).then_some(made)
        })
    }
}

fn listed(view: &View<'_>, choice: Choice) -> Option<Value> {
    let members = view.enums?;
    let index = choice.branch(members.len(), 0);
    let chosen = match choice {
        Choice::Maximal(_) => members.iter().rev().nth(index),
        Choice::Minimal(_) | Choice::Random(_) => members.get(index),
    };
    chosen.cloned()
}

/// What the author of the schema suggests, unless this is not the first attempt.
fn suggested(view: &View<'_>, choice: Choice) -> Option<Value> {
    let use_it = match choice {
        Choice::Minimal(nth) | Choice::Maximal(nth) => nth == 0,
        Choice::Random(seed) => Random::new(seed ^ 0xde_fa_17).index(4) == 0,
    };
    let scalar = |value: &&&Value| !value.is_null() && !value.is_object() && !value.is_array();
    view.suggested
        .iter()
        .find(scalar)
        .filter(|_| use_it)
        .map(|value| (*value).clone())
}

/// The type to make. What says nothing about types is read from the keywords it has.
pub(super) fn type_of<'a>(view: &View<'a>, choice: Choice) -> Option<&'a str> {
    if let Some(types) = &view.types {
        return types.get(choice.branch(types.len(), 0x7e_be)).copied();
    }
    let has = |keyword: &str| view.bounds.contains_key(keyword);
    let object = !view.properties.is_empty() || !view.required.is_empty() || has("minProperties");
    Some(if object {
        "object"
    } else if !view.items.is_empty() || !view.prefix.is_empty() || has("minItems") {
        "array"
    } else if [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ]
    .iter()
    .any(|bound| has(bound))
    {
        "number"
    } else {
        "string"
    })
}
