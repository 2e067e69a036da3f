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
        Keyword::MinLength | Keyword::MaxLength | Keyword::Pattern | Keyword::Format => {
            string(program, node, failure.keyword)
        }
        Keyword::Required | Keyword::DependentRequired | Keyword::Dependencies => {
            let plan = program.objects.get(node.object as usize);
            let name = plan.map_or("", |plan| plan.names.text(failure.detail));
            format!("property {}", plain(name, failure.detail))
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
fn plain(name: &str, number: u32) -> String {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_$.-".contains(&byte);
    if !name.is_empty() && name.len() <= 64 && name.bytes().all(allowed) {
        name.to_owned()
    } else {
        format!("<property #{number}>")
    }
}

fn enum_size(program: &Program, node: &Node) -> usize {
    let values = node.values.of(&program.values);
    values
        .iter()
        .find(|values| values.keyword == Keyword::Enum)
        .map_or(0, |values| {
            let simple =
                usize::from(values.null) + usize::from(values.yes) + usize::from(values.no);
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

fn string(program: &Program, node: &Node, keyword: Keyword) -> String {
    let plan = program.strings.get(node.string as usize);
    match (keyword, plan) {
        (Keyword::MinLength, Some(plan)) => {
            format!("at least {}", counted(plan.min_length, "character"))
        }
        (Keyword::MaxLength, Some(plan)) => {
            format!("at most {}", counted(plan.max_length, "character"))
        }
        (Keyword::Format, Some(_)) => "a string of the declared format".to_owned(),
        _ => "a string that matches the declared pattern".to_owned(),
    }
}

fn count(program: &Program, node: &Node, keyword: Keyword) -> String {
    let object = program.objects.get(node.object as usize);
    let array = program.arrays.get(node.array as usize);
    match (keyword, object, array) {
        (Keyword::MinProperties, Some(plan), _) => {
            format!("at least {}", counted(plan.min_properties, "property"))
        }
        (Keyword::MaxProperties, Some(plan), _) => {
            format!("at most {}", counted(plan.max_properties, "property"))
        }
        (Keyword::MinItems, _, Some(plan)) => {
            format!("at least {}", counted(plan.min_items, "item"))
        }
        (Keyword::MaxItems, _, Some(plan)) => {
            format!("at most {}", counted(plan.max_items, "item"))
        }
        (Keyword::Contains | Keyword::MinContains, _, Some(plan)) => {
            format!(
                "at least {} that `contains` accepts",
                counted(plan.min_contains, "item")
            )
        }
        (Keyword::MaxContains, _, Some(plan)) => {
            format!(
                "at most {} that `contains` accepts",
                counted(plan.max_contains, "item")
            )
        }
        _ => "nothing".to_owned(),
    }
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
    let operations = node.operations.of(&program.operations);
    let branches = operations.iter().find_map(|operation| match operation {
        Operation::Any(range) | Operation::One(range) => Some(range.of(&program.branches)),
        _ => None,
    });
    let types = branches
        .unwrap_or_default()
        .iter()
        .fold(TypeSet::EMPTY, |set, branch| {
            set.union(program.nodes[*branch as usize].types)
        });
    if types == TypeSet::EMPTY || types == TypeSet::ANY {
        otherwise.to_owned()
    } else {
        types.to_string()
    }
}
