//! Depth: of the instance, of the schema, of reference chains, of values that are compared.

use std::fmt::Write;

use countersign_schema::Verdict::{Exhausted, Invalid, Valid};

use super::{Attack, AttackOutcome};

use AttackOutcome::{Broken, Judged, Limit};

/// A nest of arrays.
pub(crate) fn arrays(depth: usize, core: &str) -> String {
    format!("{}{core}{}", "[".repeat(depth), "]".repeat(depth))
}

/// A nest of objects.
pub(crate) fn objects(depth: usize, core: &str) -> String {
    format!("{}{core}{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
}

/// References in a row, back to the first through a property.
pub(crate) fn reference_chain(links: usize, last: &str) -> String {
    let mut schema = r##"{"$ref":"#/$defs/r0","$defs":{"##.to_owned();
    for link in 1..links {
        write!(schema, r##""r{}":{{"$ref":"#/$defs/r{link}"}},"##, link - 1)
            .expect("a string takes it");
    }
    write!(schema, r#""r{}":{last}}}}}"#, links - 1).expect("a string takes it");
    schema
}

/// The same with an `allOf` and assertions in each link, which no engine can skip.
pub(crate) fn applicator_chain(links: usize, every: &str, last: &str) -> String {
    let mut schema = r##"{"$ref":"#/$defs/r0","$defs":{"##.to_owned();
    for link in 1..links {
        write!(
            schema,
            r##""r{}":{{"type":"object","allOf":[{{"$ref":"#/$defs/r{link}"}}]{every}}},"##,
            link - 1
        )
        .expect("a string takes it");
    }
    write!(schema, r#""r{}":{last}}}}}"#, links - 1).expect("a string takes it");
    schema
}

#[test]
fn recursive_references_on_a_10_000_deep_instance() {
    for (name, schema) in [
        (
            "items",
            r##"{"type":["array","integer"],"items":{"$ref":"#"}}"##,
        ),
        (
            "anyOf",
            r##"{"anyOf":[{"type":"integer"},{"type":"array","items":{"$ref":"#"}}]}"##,
        ),
        (
            "oneOf",
            r##"{"oneOf":[{"type":"integer"},{"type":"array","items":{"$ref":"#"}}]}"##,
        ),
        (
            "not not",
            r##"{"not":{"not":{"type":["array","integer"],"items":{"$ref":"#"}}}}"##,
        ),
        (
            "contains",
            r##"{"anyOf":[{"type":"integer"},{"contains":{"$ref":"#"}}]}"##,
        ),
        (
            "unevaluatedItems",
            r##"{"type":["array","integer"],"allOf":[true],"unevaluatedItems":{"$ref":"#"}}"##,
        ),
        (
            "$dynamicRef",
            r##"{"$dynamicAnchor":"n","type":["array","integer"],"items":{"$dynamicRef":"#n"}}"##,
        ),
    ] {
        Attack::new(
            format!("10,000 deep, {name}"),
            schema,
            arrays(10_000, "1"),
            Valid,
        )
        .gives(Judged(Valid), Judged(Valid));
    }
    Attack::new(
        "10,000 deep, wrong at the bottom",
        r##"{"anyOf":[{"type":"integer"},{"type":"array","items":{"$ref":"#"}}]}"##,
        arrays(10_000, "null"),
        Invalid,
    )
    .gives(Judged(Invalid), Judged(Invalid));
    Attack::new(
        "10,000 deep objects",
        r##"{"properties":{"a":{"$ref":"#"}},"unevaluatedProperties":false}"##,
        objects(10_000, "{}"),
        Valid,
    )
    .gives(Judged(Valid), Judged(Valid));
}

#[test]
fn a_120_deep_instance_through_a_100_link_chain() {
    let last = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/r0"}}}"##;
    let unevaluated = r#","unevaluatedProperties":false"#;
    for schema in [
        reference_chain(100, last),
        applicator_chain(100, "", last),
        applicator_chain(100, unevaluated, last),
    ] {
        let [default, lifted] =
            Attack::new("120 deep x 100 links", schema, objects(120, "{}"), Valid).run();
        assert_eq!(default, Limit);
        assert!(matches!(lifted, Judged(Valid | Exhausted)), "{lifted:?}");
    }
}

#[test]
fn a_60_link_chain_is_judged_on_a_deep_instance() {
    let last = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/r0"}}}"##;
    Attack::new(
        "1,000 deep x 60 links",
        reference_chain(60, last),
        objects(1_000, "{}"),
        Valid,
    )
    .gives(Judged(Valid), Judged(Valid));
}

#[test]
fn a_20_000_link_chain() {
    let [default, lifted] = Attack::new(
        "20,000 links",
        reference_chain(20_000, r#"{"type":"integer"}"#),
        "1",
        Valid,
    )
    .run();
    assert_eq!(default, Limit);
    assert!(matches!(lifted, Judged(Valid | Exhausted)), "{lifted:?}");
}

#[test]
fn a_20_000_link_chain_with_forks() {
    let mut schema = r##"{"$ref":"#/$defs/r0","$defs":{"##.to_owned();
    for link in 0..20_000 {
        write!(
            schema,
            r##""r{link}":{{"anyOf":[{{"$ref":"#/$defs/r{}"}},{{"$ref":"#/$defs/r{}"}}]}},"##,
            link + 1,
            link + 2
        )
        .expect("a string takes it");
    }
    schema.push_str(r#""r20000":{"type":"null"},"r20001":{"type":"null"}}}"#);
    let [default, lifted] = Attack::new("20,000 forks", schema, "1", Invalid).run();
    assert_eq!(default, Limit);
    assert!(matches!(lifted, Judged(Invalid | Exhausted)), "{lifted:?}");
}

#[test]
fn a_schema_of_10_000_levels() {
    let levels = 10_000;
    for (name, open, close) in [
        ("items", r#"{"items":"#, "}"),
        ("properties", r#"{"properties":{"a":"#, "}}"),
        ("additionalProperties", r#"{"additionalProperties":"#, "}"),
        ("prefixItems", r#"{"prefixItems":["#, "]}"),
    ] {
        let schema = format!(
            "{}{}{}",
            open.repeat(levels),
            r#"{"type":"null"}"#,
            close.repeat(levels)
        );
        let instance = if name.contains("roperties") {
            objects(levels, "1")
        } else {
            arrays(levels, "1")
        };
        Attack::new(
            format!("10,000 levels of {name}"),
            schema,
            instance,
            Invalid,
        )
        .gives(Limit, Judged(Invalid));
    }
    // In place, the bound on frames of one value answers instead.
    for (name, open, close) in [
        ("allOf", r#"{"allOf":["#, "]}"),
        ("anyOf", r#"{"anyOf":["#, "]}"),
        ("oneOf", r#"{"oneOf":["#, "]}"),
        ("if", r#"{"else":true,"if":"#, "}"),
        (
            "unevaluatedProperties",
            r#"{"unevaluatedProperties":false,"allOf":["#,
            "]}",
        ),
    ] {
        let schema = format!(
            "{}{}{}",
            open.repeat(levels),
            r#"{"type":"integer"}"#,
            close.repeat(levels)
        );
        let [default, lifted] =
            Attack::new(format!("10,000 levels of {name}"), schema, "1", Valid).run();
        assert_eq!(default, Limit);
        assert!(
            matches!(lifted, Judged(Valid | Exhausted)),
            "{name}: {lifted:?}"
        );
    }
}

#[test]
fn keywords_that_hold_no_schema_nest_10_000_levels() {
    for keyword in ["const", "default", "x-unknown"] {
        let schema = format!(r#"{{"{keyword}":{}}}"#, arrays(10_000, "1"));
        Attack::new(
            format!("10,000 levels inside {keyword}"),
            schema,
            arrays(10_000, "1"),
            Valid,
        )
        .gives(Limit, Judged(Valid));
    }
    let schema = format!(r#"{{"enum":[{}]}}"#, objects(10_000, "1"));
    Attack::new(
        "10,000 levels inside enum",
        schema,
        objects(10_000, "2"),
        Invalid,
    )
    .gives(Limit, Judged(Invalid));
}

#[test]
fn nested_not_of_2_000() {
    let schema = format!("{}true{}", r#"{"not":"#.repeat(2_000), "}".repeat(2_000));
    let [default, lifted] = Attack::new("2,000 nots", schema, "1", Valid).run();
    assert_eq!(default, Limit);
    assert!(matches!(lifted, Judged(Valid | Exhausted)), "{lifted:?}");
}

#[test]
fn dynamic_reference_cycles() {
    for (name, schema) in [
        ("itself", r##"{"$dynamicAnchor":"n","$dynamicRef":"#n"}"##),
        (
            "through allOf",
            r##"{"$dynamicAnchor":"n","allOf":[{"not":{"$dynamicRef":"#n"}}]}"##,
        ),
        (
            "two resources",
            r##"{"$id":"https://example.com/a","$dynamicAnchor":"n","$ref":"b",
            "$defs":{"b":{"$id":"b","$dynamicAnchor":"n","anyOf":[{"$dynamicRef":"#n"}]}}}"##,
        ),
        (
            "a candidate that only some paths reach",
            r##"{"$id":"https://example.com/a","properties":{"x":{"$ref":"c"}},
            "$defs":{"b":{"$id":"b","$dynamicAnchor":"n","if":{"$dynamicRef":"#n"}},"c":{"$id":"c","$dynamicAnchor":"n","$ref":"b"}}}"##,
        ),
    ] {
        Attack::new(
            format!("$dynamicRef cycle, {name}"),
            schema,
            r#"{"x":{}}"#,
            Exhausted,
        )
        .gives(Broken, Broken);
    }
    Attack::new(
        "$recursiveRef cycle",
        r##"{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"anyOf":[{"$recursiveRef":"#"}]}"##,
        "{}",
        Exhausted,
    )
    .gives(Broken, Broken);
}

#[test]
fn dynamic_environments_do_not_multiply() {
    // Every resource overrides the anchor and enters all others, so that many paths make many environments.
    let count = 24;
    let mut schema = r#"{"$id":"https://example.com/root","$ref":"r0","$defs":{"#.to_owned();
    for resource in 0..count {
        let mut properties = String::new();
        for other in 0..count {
            write!(properties, r#""p{other}":{{"$ref":"r{other}"}},"#).expect("a string takes it");
        }
        write!(
            schema,
            r##""r{resource}":{{"$id":"r{resource}","$defs":{{"x":{{"$dynamicAnchor":"a{resource}"}},"n":{{"$dynamicAnchor":"n"}}}},"properties":{{{properties}"d":{{"$dynamicRef":"#n"}}}}}}{}"##,
            if resource + 1 < count { "," } else { "}}" }
        )
        .expect("a string takes it");
    }
    let mut instance = "{}".to_owned();
    for level in 0..2_000 {
        instance = format!(r#"{{"p{}":{instance},"d":0}}"#, level % count);
    }
    Attack::new("24 resources, 2,000 deep", schema, instance, Valid)
        .gives(Judged(Valid), Judged(Valid));
}
