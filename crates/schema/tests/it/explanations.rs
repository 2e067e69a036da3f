//! What a person is told: ten mistakes as they happen, and the violation that names each.

use countersign_schema::{Fuel, Outcome};

use crate::support::{compile, parse};

/// The violations as lines: what failed, where, by which keyword of the schema.
fn explain(schema: &str, instance: &str) -> String {
    let schema = compile(schema);
    let tape = parse(instance);
    let Outcome::Invalid(violations) = schema.validate(&tape, &mut Fuel::for_instance(&tape, 1.0))
    else {
        panic!("{instance} is not refused");
    };
    let lines: Vec<String> = violations
        .iter()
        .map(|violation| format!("{violation} [{}]", violation.schema_pointer()))
        .collect();
    lines.join("\n")
}

const ORDERS: &str = r##"{"type":"object","required":["orders"],"properties":{"orders":{"type":"array","items":{"$ref":"#/$defs/order"}}},
    "$defs":{"order":{"type":"object","required":["id","lines"],"properties":{"id":{"type":"string"},
    "lines":{"type":"array","minItems":1,"items":{"type":"object","required":["sku","quantity"],"properties":{"sku":{"type":"string","pattern":"^[A-Z]{3}-[0-9]+$"},
    "quantity":{"type":"integer","minimum":1}},"additionalProperties":false}},"status":{"enum":["open","paid","sent"]},
    "point":{"prefixItems":[{"type":"number"},{"type":"number"}],"minItems":2,"items":false},
    "note":{"anyOf":[{"type":"string"},{"type":"null"}]},"card":true},"dependentRequired":{"card":["address"]}}}}"##;

fn order(rest: &str) -> String {
    format!(
        r#"{{"orders":[{{"id":"1","lines":[{{"sku":"ABC-1","quantity":1}}]}},{{"id":"2",{rest}}}]}}"#
    )
}

#[test]
fn wrong_type_deep_in_an_array() {
    let instance =
        order(r#""lines":[{"sku":"ABC-1","quantity":2},{"sku":"ABC-2","quantity":"two"}]"#);
    insta::assert_snapshot!(
        explain(ORDERS, &instance),
        @"type at /orders/1/lines/1/quantity: expected integer, got string [/$defs/order/properties/lines/items/properties/quantity/type]"
    );
}

#[test]
fn missing_key() {
    insta::assert_snapshot!(
        explain(ORDERS, &order(r#""lines":[{"sku":"ABC-1"}]"#)),
        @"required at /orders/1/lines/0: expected property quantity, got object [/$defs/order/properties/lines/items/required]"
    );
}

const SHAPES: &str = r#"{"type":"array","items":{"oneOf":[
    {"type":"object","properties":{"type":{"const":"circle"},"radius":{"type":"number"}},"required":["type","radius"],"additionalProperties":false},
    {"type":"object","properties":{"type":{"const":"square"},"side":{"type":"number"}},"required":["type","side"],"additionalProperties":false},
    {"type":"object","properties":{"type":{"const":"path"},"points":{"type":"array","items":{"type":"array","items":{"type":"number"}}}},"required":["type","points"],"additionalProperties":false}]}}"#;

#[test]
fn missing_key_in_the_branch_the_discriminator_names() {
    insta::assert_snapshot!(
        explain(SHAPES, r#"[{"type":"circle","radius":1},{"type":"square"}]"#),
        @"required at /1: expected property side, got object [/items/oneOf/1/required]"
    );
}

#[test]
fn wrong_type_deep_in_the_branch_the_discriminator_names() {
    insta::assert_snapshot!(
        explain(SHAPES, r#"[{"type":"path","points":[[0,0],[1,"x"]]}]"#),
        @"type at /0/points/1/1: expected number, got string [/items/oneOf/2/properties/points/items/items/type]"
    );
}

#[test]
fn extra_property() {
    insta::assert_snapshot!(
        explain(ORDERS, &order(r#""lines":[{"sku":"ABC-1","quantity":2,"quantiy":3}]"#)),
        @"additionalProperties at /orders/1/lines/0/quantiy: expected no such property, got number [/$defs/order/properties/lines/items/additionalProperties]"
    );
}

#[test]
fn value_outside_an_enum() {
    insta::assert_snapshot!(
        explain(ORDERS, &order(r#""lines":[{"sku":"ABC-1","quantity":2}],"status":"closed""#)),
        @"enum at /orders/1/status: expected one of 3 declared values, got string [/$defs/order/properties/status/enum]"
    );
}

#[test]
fn none_of_several_types() {
    insta::assert_snapshot!(
        explain(ORDERS, &order(r#""lines":[{"sku":"ABC-1","quantity":2}],"note":5"#)),
        @"anyOf at /orders/1/note: expected null or string, got number [/$defs/order/properties/note/anyOf]"
    );
}

#[test]
fn tuple_of_the_wrong_length() {
    insta::assert_snapshot!(
        explain(ORDERS, &order(r#""lines":[{"sku":"ABC-1","quantity":2}],"point":[1]"#)),
        @"minItems at /orders/1/point: expected at least 2 items, got array [/$defs/order/properties/point/minItems]"
    );
    insta::assert_snapshot!(
        explain(ORDERS, &order(r#""lines":[{"sku":"ABC-1","quantity":2}],"point":[1,2,3]"#)),
        @"items at /orders/1/point/2: expected no such item, got number [/$defs/order/properties/point/items]"
    );
}

#[test]
fn pattern_that_does_not_match() {
    insta::assert_snapshot!(
        explain(ORDERS, &order(r#""lines":[{"sku":"abc-1","quantity":2}]"#)),
        @"pattern at /orders/1/lines/0/sku: expected a string that matches the declared pattern, got string [/$defs/order/properties/lines/items/properties/sku/pattern]"
    );
}

#[test]
fn number_below_its_minimum() {
    insta::assert_snapshot!(
        explain(ORDERS, &order(r#""lines":[{"sku":"ABC-1","quantity":0}]"#)),
        @"minimum at /orders/1/lines/0/quantity: expected a number at least 1, got number [/$defs/order/properties/lines/items/properties/quantity/minimum]"
    );
}

#[test]
fn dependent_property_missing() {
    insta::assert_snapshot!(
        explain(ORDERS, &order(r#""lines":[{"sku":"ABC-1","quantity":2}],"card":"4111""#)),
        @"dependentRequired at /orders/1: expected property address, got object [/$defs/order/dependentRequired]"
    );
}

#[test]
fn unevaluated_property() {
    let schema = r##"{"$ref":"#/$defs/base","properties":{"extra":true},"unevaluatedProperties":false,
        "$defs":{"base":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}}"##;
    insta::assert_snapshot!(
        explain(schema, r#"{"id":1,"extra":2,"other":3}"#),
        @"unevaluatedProperties at /other: expected no such property, got number [/unevaluatedProperties]"
    );
}

#[test]
fn several_mistakes_are_all_named() {
    let instance = r#"{"orders":[{"id":1,"lines":[]},{"lines":[{"sku":"x","quantity":1.5}]}]}"#;
    insta::assert_snapshot!(explain(ORDERS, instance), @r"
    type at /orders/0/id: expected string, got number [/$defs/order/properties/id/type]
    minItems at /orders/0/lines: expected at least 1 item, got array [/$defs/order/properties/lines/minItems]
    pattern at /orders/1/lines/0/sku: expected a string that matches the declared pattern, got string [/$defs/order/properties/lines/items/properties/sku/pattern]
    type at /orders/1/lines/0/quantity: expected integer, got number [/$defs/order/properties/lines/items/properties/quantity/type]
    required at /orders/1: expected property id, got object [/$defs/order/required]
    ");
}

#[test]
fn violations_are_capped_and_quote_no_values() {
    let instance = format!("[{}]", vec![r#""secret value""#; 1_000].join(","));
    let text = explain(r#"{"items":{"type":"integer"}}"#, &instance);
    assert_eq!(text.lines().count(), 16);
    assert!(!text.contains("secret"));
}
