//! What can be varied at one place: the edges of what its keywords allow.

use serde_json::{Value, json};

use super::NamedValues;
use super::choice::Choice;
use super::document::Document;
use super::number::Range;
use super::text::{MAX_LENGTH, plain};
use super::value::{MAX_MEMBERS, type_of, value};
use super::view::View;

/// Listed values that are tried, of one place.
const MAX_LISTED: usize = 24;

/// Values at the edges of what is allowed.
pub(super) fn variants<'a>(document: &Document<'a>, view: &View<'a>) -> NamedValues {
    let mut made: NamedValues = Vec::new();
    let listed = view.enums.into_iter().flatten().take(MAX_LISTED);
    for (index, listed) in listed.enumerate() {
        made.push((format!("enum member {index}"), listed.clone()));
    }
    let suggested = view.suggested.iter().take(4);
    made.extend(suggested.map(|value| ("suggested".to_owned(), (*value).clone())));
    let schemas = &view.origin;
    for nth in 1..view.branches.min(8) {
        if let Some(value) = value(document, schemas, Choice::Minimal(nth)) {
            made.push((format!("branch {nth}"), value));
        }
    }
    if view.enums.is_some() || !view.consts.is_empty() {
        return made;
    }
    let mut types = view.types.clone().unwrap_or_default();
    if types.is_empty() {
        types.extend(type_of(view, Choice::Minimal(0)));
    }
    for name in types {
        match name {
            "boolean" => made.extend([
                ("true".to_owned(), json!(true)),
                ("false".to_owned(), json!(false)),
            ]),
            "null" => made.push(("null".to_owned(), Value::Null)),
            "string" => strings(view, &mut made),
            "integer" | "number" => numbers(view, &mut made),
            "array" => arrays(document, view, &mut made),
            "object" => {
                if let Some(value) = value(document, schemas, Choice::Maximal(0)) {
                    made.push(("every member".to_owned(), value));
                }
            }
            _ => {}
        }
    }
    made
}

fn strings(view: &View<'_>, made: &mut NamedValues) {
    if !view.patterns.is_empty() || view.format.is_some() {
        return;
    }
    let least = view.count("minLength").unwrap_or(0);
    made.push(("shortest".to_owned(), Value::from(plain(least))));
    if least == 0 {
        made.push(("one character".to_owned(), Value::from("a")));
    }
    let scripts = "é漢😀".repeat(least / 3 + 1);
    made.push(("other scripts".to_owned(), Value::from(scripts)));
    if let Some(most) = view.count("maxLength").filter(|most| *most <= MAX_LENGTH) {
        made.push(("longest".to_owned(), Value::from(plain(most))));
    }
}

fn numbers(view: &View<'_>, made: &mut NamedValues) {
    let range = Range::from_view(view);
    let zero = [("zero", Some(0.0)), ("negative", Some(-range.step))];
    let edges = [
        ("least", range.low),
        ("least and one", range.low.map(|low| low + range.step)),
        ("greatest", range.high),
        (
            "greatest less one",
            range.high.map(|high| high - range.step),
        ),
    ];
    for (name, number) in edges.into_iter().chain(zero) {
        made.extend(number.map(|number| (name.to_owned(), Range::value(number))));
    }
}

fn arrays<'a>(document: &Document<'a>, view: &View<'a>, made: &mut NamedValues) {
    let schemas = &view.origin;
    if let Some(shortest) = value(document, schemas, Choice::Minimal(0)) {
        made.push(("fewest items".to_owned(), shortest));
    }
    if let Some(few) = value(document, schemas, Choice::Maximal(0)) {
        made.push(("several items".to_owned(), few));
    }
    if let Some(most) = view.count("maxItems").filter(|most| *most <= MAX_MEMBERS) {
        made.extend(items(document, view, most).map(|all| ("most items".to_owned(), all)));
    }
}

/// An array of exactly so many items.
pub(super) fn items<'a>(document: &Document<'a>, view: &View<'a>, count: usize) -> Option<Value> {
    let item = |index: usize| {
        let schemas = view.prefix.get(index).unwrap_or(&view.items);
        let choice = if view.unique && index > 0 {
            Choice::Random(index as u64 * 7919)
        } else {
            Choice::Minimal(0)
        };
        value(document, schemas, choice)
    };
    (0..count)
        .map(item)
        .collect::<Option<_>>()
        .map(Value::Array)
}
