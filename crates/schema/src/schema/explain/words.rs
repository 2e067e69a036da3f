//! What a failed assertion expected, in words.
//!
//! The words end up before a model, so they quote little: type names, counts, bounds, and names the schema declares
//! when those are plain. Never a value of the instance, never a constant of the schema.

use crate::keyword::Keyword;
use crate::program::{Node, Operation, Program};
use crate::types::TypeSet;
use crate::validate::Failure;

pub(crate) fn expected(program: &Program, failure: &Failure) -> String {
    let node = &program.nodes[failure.node as usize];
    match failure.keyword {
        Keyword::Type => node.types.to_string(),
        Keyword::Const => "the declared constant".to_owned(),
        Keyword::Enum => format!("one of {} declared values", enum_size(program, node)),
        Keyword::Minimum
        | Keyword::ExclusiveMinimum
        | Keyword::Maximum
        | Keyword::ExclusiveMaximum => bound(program, node, failure.keyword),
        Keyword::MultipleOf => "a multiple of the declared divisor".to_owned(),
        Keyword::Format => "a string of the declared format".to_owned(),
        Keyword::Pattern => "a string that matches the declared pattern".to_owned(),
        Keyword::Required | Keyword::DependentRequired | Keyword::Dependencies => {
            let plan = program.objects.get(node.object as usize);
            let name = plan.map_or("", |plan| plan.names.text(failure.detail));
            format!("property {}", shown_name(name, failure.detail))
        }
        Keyword::AdditionalProperties | Keyword::UnevaluatedProperties => {
            "no such property".to_owned()
        }
        Keyword::Items
        | Keyword::AdditionalItems
        | Keyword::PrefixItems
        | Keyword::UnevaluatedItems => "no such item".to_owned(),
        Keyword::PropertyNames => "an allowed property name".to_owned(),
        Keyword::AnyOf => alternatives(program, node, "at least one alternative to match"),
        Keyword::OneOf if failure.detail > 1 => {
            "exactly one alternative to match, not several".to_owned()
        }
        Keyword::OneOf => alternatives(program, node, "exactly one alternative to match"),
        Keyword::Not => "a value the schema does not exclude".to_owned(),
        Keyword::UniqueItems => "items that differ from each other".to_owned(),
        _ => count(program, node, failure.keyword),
    }
}

/// A name as it may be shown: as it is when it is short and plain, else by its number.
fn shown_name(name: &str, number: u32) -> String {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_$.-".contains(&byte);
    if !name.is_empty() && name.len() <= 64 && name.bytes().all(allowed) {
        name.to_owned()
    } else {
        format!("<property #{number}>")
    }
}

fn enum_size(program: &Program, node: &Node) -> usize {
    let mut all = node.values.slice(&program.values).iter();
    let listed = all.find(|values| values.keyword == Keyword::Enum);
    listed.map_or(0, |values| {
        let simple = usize::from(values.null) + usize::from(values.yes) + usize::from(values.no);
        simple + values.strings.len() + values.canonical.len()
    })
}

fn bound(program: &Program, node: &Node, keyword: Keyword) -> String {
    let relation = match keyword {
        Keyword::Minimum => "at least",
        Keyword::ExclusiveMinimum => "above",
        Keyword::Maximum => "at most",
        _ => "below",
    };
    let plan = program.numbers.get(node.number as usize);
    let bound = plan.and_then(|plan| plan.bounds.iter().find(|bound| bound.keyword == keyword));
    match bound.and_then(|bound| bound.small) {
        Some(limit) => format!("a number {relation} {limit}"),
        None => format!("a number {relation} the declared bound"),
    }
}

/// A bound on a count: of characters, members or items.
fn count(program: &Program, node: &Node, keyword: Keyword) -> String {
    let string = program.strings.get(node.string as usize);
    let object = program.objects.get(node.object as usize);
    let array = program.arrays.get(node.array as usize);
    let (bound, noun) = match keyword {
        Keyword::MinLength => (string.map(|plan| plan.min_length), "character"),
        Keyword::MaxLength => (string.map(|plan| plan.max_length), "character"),
        Keyword::MinProperties => (object.map(|plan| plan.min_properties), "property"),
        Keyword::MaxProperties => (object.map(|plan| plan.max_properties), "property"),
        Keyword::MinItems => (array.map(|plan| plan.min_items), "item"),
        Keyword::MaxItems => (array.map(|plan| plan.max_items), "item"),
        Keyword::Contains | Keyword::MinContains => (array.map(|plan| plan.min_contains), "item"),
        Keyword::MaxContains => (array.map(|plan| plan.max_contains), "item"),
        _ => (None, ""),
    };
    let Some(bound) = bound else {
        return "nothing".to_owned();
    };
    let relation = if keyword.as_str().starts_with("max") {
        "at most"
    } else {
        "at least"
    };
    let is_contained = matches!(
        keyword,
        Keyword::Contains | Keyword::MinContains | Keyword::MaxContains
    );
    let counted = counted(bound, noun);
    let whose = if is_contained {
        " that `contains` accepts"
    } else {
        ""
    };
    format!("{relation} {counted}{whose}")
}

fn counted(count: u64, noun: &str) -> String {
    match (count, noun) {
        (1, _) => format!("1 {noun}"),
        (_, "property") => format!("{count} properties"),
        _ => format!("{count} {noun}s"),
    }
}

/// When all alternatives ask for a type, those types say it best.
fn alternatives(program: &Program, node: &Node, otherwise: &str) -> String {
    let mut operations = node.operations.slice(&program.operations).iter();
    let branches = operations.find_map(|operation| match operation {
        Operation::Any(range) | Operation::One(range) => Some(range.slice(&program.branches)),
        _ => None,
    });
    let types = branches.unwrap_or_default().iter();
    let types = types.map(|branch| program.nodes[*branch as usize].types);
    match types.fold(TypeSet::EMPTY, TypeSet::union) {
        TypeSet::EMPTY | TypeSet::ANY => otherwise.to_owned(),
        types => types.to_string(),
    }
}
