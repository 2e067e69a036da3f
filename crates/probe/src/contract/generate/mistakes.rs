//! What can be wrong at one place: one step over each edge of what its keywords allow. Every mistake
//! is a single one, so that a refusal can be attributed.

use serde_json::{Value, json};

use super::NamedValues;
use super::choice::Choice;
use super::document::Document;
use super::edges::items;
use super::number::Range;
use super::text::{MAX_LENGTH, plain};
use super::value::{MAX_MEMBERS, value};
use super::view::View;

/// A member no schema declares.
const UNEXPECTED: &str = "countersign_unexpected";

/// Values that are wrong in one way, with the keyword that should say so.
pub(super) fn mistakes<'a>(document: &Document<'a>, view: &View<'a>) -> NamedValues {
    let mut made: NamedValues = Vec::new();
    if view.types.is_some() {
        made.extend(named("type", other_type(view)));
    }
    if view.enums.is_some() || !view.consts.is_empty() {
        let keyword = view.enums.map_or("const", |_| "enum");
        made.extend(named(keyword, unlisted(view)));
        return made;
    }
    made.extend(wrong_numbers(view));
    if view.allows("string") {
        made.extend(wrong_strings(view));
    }
    if view.allows("array") {
        made.extend(wrong_arrays(document, view));
    }
    made
}

fn named(keyword: &str, value: Option<Value>) -> Option<(String, Value)> {
    value.map(|value| (keyword.to_owned(), value))
}

fn wrong_numbers(view: &View<'_>) -> NamedValues {
    let range = Range::from_view(view);
    let fraction =
        (view.types.is_some() && range.integer).then(|| json!(range.low.unwrap_or(0.0) + 0.5));
    let beyond = |keyword: &str, by: f64| {
        let bound = view.bound(keyword);
        named(keyword, bound.map(|bound| Range::value(bound + by)))
    };
    let off = view.bound("multipleOf").map(|step| {
        let low = range.low.unwrap_or(0.0);
        Range::value(if range.integer {
            low + 1.0
        } else {
            low + step / 2.0
        })
    });
    let all = [
        named("type", fraction),
        beyond("minimum", -range.step),
        beyond("maximum", range.step),
        beyond("exclusiveMinimum", 0.0),
        beyond("exclusiveMaximum", 0.0),
        named("multipleOf", off),
    ];
    all.into_iter().flatten().collect()
}

fn wrong_strings(view: &View<'_>) -> NamedValues {
    let shorter = view.count("minLength").filter(|least| *least > 0);
    let longer = view.count("maxLength").filter(|most| *most < MAX_LENGTH);
    let text = |length: usize| Value::from(plain(length));
    let lengths = [
        named("minLength", shorter.map(|least| text(least - 1))),
        named("maxLength", longer.map(|most| text(most + 1))),
    ];
    let unmatched = if view.patterns.is_empty() {
        &[][..]
    } else {
        &["", "!", "~ ~", "\u{1}"]
    };
    let patterns = unmatched
        .iter()
        .map(|text| ("pattern".to_owned(), Value::from(*text)));
    lengths.into_iter().flatten().chain(patterns).collect()
}

fn wrong_arrays<'a>(document: &Document<'a>, view: &View<'a>) -> NamedValues {
    let exactly = |count| items(document, view, count);
    let fewer = view.count("minItems").filter(|least| *least > 0);
    let more = view.count("maxItems").filter(|most| *most < MAX_MEMBERS);
    let twice = view
        .unique
        .then(|| value(document, &view.items, Choice::Minimal(0)))
        .flatten();
    let all = [
        named("minItems", fewer.and_then(|least| exactly(least - 1))),
        named("maxItems", more.and_then(|most| exactly(most + 1))),
        named("uniqueItems", twice.map(|one| json!([one, one]))),
    ];
    all.into_iter().flatten().collect()
}

/// An object that lacks what it must have, or has what it must not have.
pub(super) fn missing(view: &View<'_>, present: Option<&Value>) -> NamedValues {
    let mut made = Vec::new();
    let Some(Value::Object(object)) = present else {
        return made;
    };
    for name in view.required.iter().take(16) {
        let mut without = object.clone();
        if without.remove(*name).is_some() {
            made.push((format!("required, without {name}"), Value::Object(without)));
        }
    }
    if view.additional.contains(&&Value::Bool(false)) {
        let mut with = object.clone();
        with.insert(UNEXPECTED.to_owned(), json!(1));
        made.push(("additionalProperties".to_owned(), Value::Object(with)));
    }
    let most = view.count("maxProperties");
    if let Some(most) = most.filter(|most| *most < MAX_MEMBERS) {
        let mut with = object.clone();
        for index in with.len()..=most {
            with.insert(format!("{UNEXPECTED}{index}"), json!(1));
        }
        made.push(("maxProperties".to_owned(), Value::Object(with)));
    }
    if !view.property_names.is_empty() {
        let mut with = object.clone();
        with.insert("~ ~".to_owned(), json!(1));
        made.push(("propertyNames".to_owned(), Value::Object(with)));
    }
    if view.count("minProperties").is_some_and(|least| least > 0) && view.required.is_empty() {
        made.push(("minProperties".to_owned(), json!({})));
    }
    made
}

/// A value of a type that is not allowed, and that no server would quietly convert.
fn other_type(view: &View<'_>) -> Option<Value> {
    let candidates = [
        ("string", json!("not what was declared")),
        ("array", json!([[]])),
        ("integer", json!(7)),
        ("boolean", json!(true)),
        ("object", json!({UNEXPECTED: 1})),
    ];
    let mut candidates = candidates.into_iter();
    candidates.find_map(|(name, value)| (!view.allows(name)).then_some(value))
}

/// A value like the listed ones that is not listed.
fn unlisted(view: &View<'_>) -> Option<Value> {
    let mut listed: Vec<&Value> = view.enums.into_iter().flatten().collect();
    listed.extend(&view.consts);
    let candidates = [
        json!("not_listed_by_the_schema"),
        json!(987_654),
        json!(true),
        json!([]),
        json!({}),
    ];
    let same_type = |value: &Value| {
        let mut listed = listed.iter();
        listed.any(|one| std::mem::discriminant(*one) == std::mem::discriminant(value))
    };
    let mut candidates = candidates.into_iter();
    candidates.find(|value| same_type(value) && !listed.contains(&value))
}
