//! Schemas whose paths double at every level: 2^30 visits for a validator that walks them all.

use std::fmt::Write;

use countersign_schema::Verdict;

use super::{Attack, AttackOutcome};

const LEVELS: usize = 30;

/// How a level uses the next one twice.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    AllOf,
    AnyOf,
    OneOf,
    IfThen,
    Mixed,
}

impl Shape {
    fn level(self, level: usize, next: &str) -> String {
        match self {
            Self::AllOf => format!(r#""allOf":[{next},{next}]"#),
            Self::AnyOf => format!(r#""anyOf":[{next},{next}]"#),
            Self::OneOf => format!(r#""oneOf":[{next},{{"not":{next}}}]"#),
            Self::IfThen => format!(r#""if":{next},"then":{next},"else":{next}"#),
            Self::Mixed => [Self::AllOf, Self::AnyOf, Self::IfThen][level % 3].level(level, next),
        }
    }
}

const SHAPES: [Shape; 5] = [
    Shape::AllOf,
    Shape::AnyOf,
    Shape::OneOf,
    Shape::IfThen,
    Shape::Mixed,
];

/// A chain of `levels` definitions, each using the next one twice; `extra` stands beside the root's reference, `every`
/// in every level.
pub(crate) fn doubling(
    shape: Shape,
    levels: usize,
    leaf: &str,
    every: &str,
    extra: &str,
) -> String {
    let mut schema = format!(r##"{{"$ref":"#/$defs/l0"{extra},"$defs":{{"##);
    for level in 0..levels {
        let next = format!(r##"{{"$ref":"#/$defs/l{}"}}"##, level + 1);
        write!(
            schema,
            r#""l{level}":{{{}{every}}},"#,
            shape.level(level, &next)
        )
        .expect("a string takes it");
    }
    write!(schema, r#""l{levels}":{leaf}}}}}"#).expect("a string takes it");
    schema
}

/// What a chain says when its leaf holds, and when it does not.
fn verdict(shape: Shape, leaf_holds: bool) -> Verdict {
    // `oneOf: [x, not x]` holds either way, except at the last level, where nothing tells it apart either.
    if leaf_holds || matches!(shape, Shape::OneOf) {
        Verdict::Valid
    } else {
        Verdict::Invalid
    }
}

/// A chain whose leaf is a name deep in the instance again.
const RECURSIVE_LEAF: &str = r##"{"type":"object","properties":{"next":{"$ref":"#/$defs/l0"}}}"##;

fn linked_list(length: usize, end: &str) -> String {
    format!(
        "{}{end}{}",
        r#"{"next":"#.repeat(length),
        "}".repeat(length)
    )
}

fn all(
    leaf: &str,
    instance: &str,
    leaf_holds: bool,
    every: &str,
    extra: &str,
    name: &str,
) -> Vec<Attack> {
    SHAPES
        .into_iter()
        .map(|shape| {
            Attack::new(
                format!("doubling {shape:?}, {name}"),
                doubling(shape, LEVELS, leaf, every, extra),
                instance,
                verdict(shape, leaf_holds),
            )
        })
        .collect()
}

/// Runs attacks that the in-place weight refuses by default. With it lifted the memo decides them or the fuel ends
/// them: both are an answer in bounded time, and the harness checks that it is not a wrong one.
fn refused_by_default(attacks: Vec<Attack>) {
    for attack in attacks {
        let name = attack.name.clone();
        let [default, lifted] = attack.run();
        assert_eq!(default, AttackOutcome::Limit, "{name}");
        assert!(
            matches!(lifted, AttackOutcome::Judged(_)),
            "{name}: {lifted:?}"
        );
    }
}

#[test]
fn doubling_chains_with_a_leaf_that_holds() {
    refused_by_default(all(
        r#"{"type":"integer"}"#,
        "1",
        true,
        "",
        "",
        "leaf holds",
    ));
}

#[test]
fn doubling_chains_with_a_leaf_that_fails() {
    refused_by_default(all(
        r#"{"type":"integer"}"#,
        "\"x\"",
        false,
        "",
        "",
        "leaf fails",
    ));
}

#[test]
fn doubling_chains_with_an_object_leaf() {
    let leaf = r#"{"properties":{"a":{"type":"integer"}},"required":["a"]}"#;
    refused_by_default(all(leaf, r#"{"a":1}"#, true, "", "", "object leaf holds"));
    refused_by_default(all(
        leaf,
        r#"{"a":"x"}"#,
        false,
        "",
        "",
        "object leaf fails",
    ));
}

#[test]
fn doubling_chains_that_recurse_into_the_instance() {
    refused_by_default(all(
        RECURSIVE_LEAF,
        &linked_list(60, "{}"),
        true,
        "",
        "",
        "recursive",
    ));
    refused_by_default(all(
        RECURSIVE_LEAF,
        &linked_list(60, "0"),
        false,
        "",
        "",
        "recursive, fails",
    ));
}

#[test]
fn doubling_chains_under_unevaluated_properties() {
    let leaf = r#"{"properties":{"a":{"type":"integer"}}}"#;
    let at_root = r#","unevaluatedProperties":false"#;
    for (instance, holds, name) in [
        (r#"{"a":1}"#, true, "unevaluatedProperties at the root"),
        (
            r#"{"a":"x"}"#,
            false,
            "unevaluatedProperties at the root, fails",
        ),
    ] {
        // `oneOf` loses what the failing side evaluated, so only its holding case is as stated.
        let attacks = all(leaf, instance, holds, "", at_root, name)
            .into_iter()
            .filter(|attack| holds || !attack.name.contains("OneOf"))
            .filter(|attack| !attack.name.contains("OneOf"))
            .collect();
        refused_by_default(attacks);
    }
    let everywhere = r#","unevaluatedProperties":{"type":"integer"}"#;
    let attacks = all(
        leaf,
        r#"{"a":1,"b":2}"#,
        true,
        everywhere,
        "",
        "unevaluatedProperties everywhere",
    );
    refused_by_default(attacks);
}

#[test]
fn doubling_chains_under_unevaluated_items() {
    let leaf = r#"{"prefixItems":[{"type":"integer"}]}"#;
    let attacks = all(
        leaf,
        "[1,2]",
        true,
        r#","unevaluatedItems":{"type":"integer"}"#,
        "",
        "unevaluatedItems everywhere",
    );
    refused_by_default(attacks);
    let attacks = all(
        leaf,
        "[1,2]",
        false,
        "",
        r#","unevaluatedItems":false"#,
        "unevaluatedItems at the root, fails",
    )
    .into_iter()
    .filter(|attack| !attack.name.contains("OneOf"))
    .collect();
    refused_by_default(attacks);
}
