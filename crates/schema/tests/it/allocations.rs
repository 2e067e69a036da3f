//! Memory: once the buffers are warm, a validation takes none per node of the instance.

use countersign_schema::{Fuel, Schema, Verdict};
use countersign_tape::{Scratch, Tape};

use crate::support::{TAPE, compile};

/// Allocations of parsing and judging, after two rounds that warm the buffers.
fn allocations(schema: &Schema, text: &str) -> u64 {
    let mut scratch = Scratch::default();
    let mut judge = || {
        let tape = Tape::parse_with(text.as_bytes(), &TAPE, &mut scratch).expect("JSON");
        let verdict = schema.is_valid(&tape, &mut Fuel::for_instance(&tape, 1.0));
        tape.recycle(&mut scratch);
        assert_eq!(verdict, Verdict::Valid);
    };
    judge();
    judge();
    allocation_counter::measure(judge).count_total
}

fn array(count: usize, item: &str) -> String {
    format!("[{}]", vec![item; count].join(","))
}

#[test]
fn warm_validation_allocates_nothing() {
    for (schema, item) in [
        (
            r#"{"items":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}}"#,
            r#"{"a":1}"#,
        ),
        (
            r#"{"items":{"pattern":"^[a-z]+$","minLength":1}}"#,
            r#""abc""#,
        ),
        (
            r#"{"items":{"pattern":"^[a-z]+\\p{Lu}?[é]*$"}}"#,
            r#""abcé""#,
        ),
        (r#"{"items":{"pattern":"^[a-z]+$"}}"#, r#""ab\u0063""#),
        (
            r#"{"items":{"enum":["a",1,null,{"a":[1]}]}}"#,
            r#"{"a":[1.0]}"#,
        ),
        (
            r#"{"items":{"minimum":1.5,"multipleOf":0.01}}"#,
            "12345678901234567890.25",
        ),
        (
            r##"{"items":{"anyOf":[{"type":"string"},{"required":["b"]},{"properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"]}]},"$defs":{"n":{"not":{"type":"null"}}}}"##,
            r#"{"a":{}}"#,
        ),
        (
            r#"{"items":{"allOf":[{"properties":{"a":true}}],"patternProperties":{"^b":true},"unevaluatedProperties":false}}"#,
            r#"{"a":1,"b1":2}"#,
        ),
        (
            r#"{"items":{"prefixItems":[true],"contains":{"const":2},"unevaluatedItems":false}}"#,
            "[1,2]",
        ),
        (
            r#"{"items":{"uniqueItems":true,"propertyNames":{"maxLength":3}}}"#,
            r#"[1,"a",{"b":[1,2]}]"#,
        ),
        (
            r##"{"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},"type":["array","integer"]}"##,
            "[[1],[2]]",
        ),
        (
            r#"{"items":{"dependentRequired":{"a":["b"]},"if":{"required":["a"]},"then":{"maxProperties":2}}}"#,
            r#"{"a":1,"b":2}"#,
        ),
    ] {
        let compiled = compile(schema);
        for count in [10, 1_000, 20_000] {
            assert_eq!(
                allocations(&compiled, &array(count, item)),
                0,
                "{schema}, {count} items"
            );
        }
    }
}

#[test]
fn explaining_allocates_for_the_violations_only() {
    let schema = compile(r#"{"items":{"type":"object","properties":{"a":{"type":"integer"}}}}"#);
    let cost = |count: usize| {
        let text = format!(r#"[{},{{"a":"x"}}]"#, vec![r#"{"a":1}"#; count].join(","));
        let tape = Tape::parse(text.as_bytes(), &TAPE).expect("JSON");
        let explain = || {
            let outcome = schema.validate(&tape, &mut Fuel::for_instance(&tape, 1.0));
            assert_eq!(outcome.verdict(), Verdict::Invalid);
        };
        explain();
        allocation_counter::measure(explain).count_total
    };
    assert_eq!(cost(10), cost(10_000));
}

/// A gateway may hold the schemas of thousands of tools, so a schema has no room to grow.
#[test]
fn a_compiled_schema_holds_little_more_than_it_says() {
    for text in [
        r#"{"type":"object","properties":{"id":{"type":"string"},"state":{"enum":["open","closed"]}},"required":["id"]}"#,
        r#"{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":100},"labels":{"type":"array","items":{"type":"string","maxLength":9}}},"additionalProperties":false}"#,
    ] {
        let mut schema = None;
        let memory = allocation_counter::measure(|| schema = Some(compile(text)));
        let said = schema.map_or(0, |schema| schema.memory_usage());
        let held = usize::try_from(memory.bytes_current).expect("it is held");
        assert!(held <= said + 256, "{held} bytes, {said} said: {text}");
    }
}
