//! Fuel: honest data never runs out of it, and what it costs grows with the data, not faster.

use std::fs;

use countersign_schema::{Compiler, Fuel, Limits, Schema, Verdict};

use crate::support::{compile, data, parse, say};

/// Five megabytes of text in one string, without its quotes.
fn five_megabytes() -> String {
    "lorem ipsum, ".repeat(5 * 1024 * 1024 / 13)
}

fn used(schema: &Schema, instance: &str, expected: Verdict) -> u64 {
    let tape = parse(instance);
    let mut fuel = Fuel::for_instance(&tape, 1.0);
    assert_eq!(
        schema.is_valid(&tape, &mut fuel),
        expected,
        "{instance:.60}"
    );
    let mut explained = Fuel::for_instance(&tape, 1.0);
    assert_eq!(
        schema.validate(&tape, &mut explained).verdict(),
        expected,
        "{instance:.60}"
    );
    fuel.used()
}

#[test]
#[ignore = "needs COUNTERSIGN_TEST_DATA"]
fn bench_pairs_are_judged_on_test_data() {
    let folder = data("bench");
    for name in ["a_weather", "b_issues", "c_records", "d_fhir"] {
        let read = |suffix: &str| {
            fs::read_to_string(folder.join(format!("{name}{suffix}"))).expect("the pair is there")
        };
        let schema = compile(&read(".schema.json"));
        let instance = read(".json");
        let units = used(&schema, &instance, Verdict::Valid);
        say(format_args!(
            "fuel: {name} {units} units for {} bytes",
            instance.len()
        ));
    }
}

#[test]
fn a_five_megabyte_string_is_judged() {
    let long = five_megabytes();
    let quoted = format!("\"{long}\"");
    for pattern in [
        "lorem",
        "^lorem.*ipsum, $",
        "^[a-z, ]*$",
        "(lorem|ipsum|dolor|sit)+, $",
        "ipsum, $",
        r"^[^\\s]+(\\s[^\\s]+)*\\s?$",
        r"^[\\p{L}\\p{P}\\s]*$",
        r"^(\\p{Ll}+[,.]? )*$",
        r"^[\\s\\S]{1,400}",
    ] {
        let schema = compile(&format!(
            r#"{{"type":"string","pattern":"{pattern}","maxLength":6000000}}"#
        ));
        used(&schema, &quoted, Verdict::Valid);
    }
    let schema = compile(r#"{"pattern":"dolor"}"#);
    used(&schema, &quoted, Verdict::Invalid);
    let large = Compiler::new().limits(Limits::lifted());
    let schema = large
        .compile(format!(r#"{{"const":{quoted}}}"#).as_bytes())
        .expect("a large schema compiles without limits");
    used(&schema, &quoted, Verdict::Valid);
    used(&schema, &format!("\"{long}!\""), Verdict::Invalid);
    let schema = large
        .compile(format!(r#"{{"enum":[1,{quoted},null]}}"#).as_bytes())
        .expect("a large schema compiles without limits");
    used(&schema, &quoted, Verdict::Valid);
    let schema = compile(r#"{"uniqueItems":true,"items":{"type":"string"}}"#);
    used(
        &schema,
        &format!(r#"[{quoted},"{long}!","a","b"]"#),
        Verdict::Valid,
    );
    used(
        &schema,
        &format!(r#"["a",{quoted},{quoted}]"#),
        Verdict::Invalid,
    );
    let schema =
        compile(r#"{"propertyNames":{"pattern":"ipsum"},"additionalProperties":{"minLength":10}}"#);
    used(&schema, &format!("{{{quoted}:{quoted}}}"), Verdict::Valid);
}

#[test]
fn an_escaped_five_megabyte_string_is_judged() {
    let escaped = r"l\u006frem \/ ipsum\n".repeat(5 * 1024 * 1024 / 20);
    let quoted = format!("\"{escaped}\"");
    let schema = compile(r#"{"pattern":"^(lorem / ipsum\\n)*$","minLength":1000}"#);
    used(&schema, &quoted, Verdict::Valid);
    let schema = compile(r#"{"uniqueItems":true}"#);
    used(&schema, &format!("[{quoted},{quoted},0]"), Verdict::Invalid);
}

/// A schema with most of what real ones use, and records for it.
const RECORDS: &str = r##"{"type":"array","items":{"$ref":"#/$defs/record"},"$defs":{"record":{"type":"object","required":["id","kind"],
    "properties":{"id":{"type":"integer","minimum":0},"kind":{"enum":["new","old"]},"name":{"type":"string","maxLength":80,"pattern":"^[a-z ]*$"},
    "price":{"type":"number","multipleOf":0.01},"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true},
    "note":{"anyOf":[{"type":"string"},{"type":"null"}]},"child":{"$ref":"#/$defs/record"}},
    "oneOf":[{"properties":{"kind":{"const":"new"}}},{"properties":{"kind":{"const":"old"}}}],"unevaluatedProperties":false}}}"##;

fn records(bytes: usize) -> String {
    let mut text = "[".to_owned();
    let mut number = 0;
    while text.len() < bytes {
        if number > 0 {
            text.push(',');
        }
        text.push_str(r#"{"id":12345,"kind":"old","name":"lorem ipsum dolor","price":19.99,"tags":["a","b","c"],"note":null,"child":{"id":7,"kind":"new"}}"#);
        number += 1;
    }
    text.push(']');
    text
}

#[test]
fn fuel_grows_linearly_with_the_instance() {
    let schema = compile(RECORDS);
    let sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    let costs = sizes.map(|size| {
        let text = records(size);
        (text.len() as u64, used(&schema, &text, Verdict::Valid))
    });
    say(format_args!("fuel: (bytes, units) {costs:?}"));
    let [(_, first), .., (_, _)] = costs;
    assert!(first > 0);
    for pair in costs.windows(2) {
        let [(small, less), (large, more)] = pair else {
            unreachable!("windows of two");
        };
        // Units per byte may fall, as what is fixed weighs less; they may not rise by more than rounding.
        assert!(
            more * small <= less * large * 11 / 10,
            "{less} units for {small} bytes, but {more} for {large}"
        );
    }
}

#[test]
fn fuel_is_the_same_every_time() {
    let schema = compile(RECORDS);
    let text = records(20_000);
    let once = used(&schema, &text, Verdict::Valid);
    assert_eq!(once, used(&schema, &text, Verdict::Valid));
}

#[test]
fn too_little_fuel_is_exhausted_and_never_a_verdict() {
    let schema = compile(RECORDS);
    let text = records(2_000);
    let tape = parse(&text);
    let enough = used(&schema, &text, Verdict::Valid);
    for units in (0..enough).step_by(7) {
        let mut fuel = Fuel::new(units);
        assert_eq!(
            schema.is_valid(&tape, &mut fuel),
            Verdict::Exhausted,
            "{units} of {enough}"
        );
        assert_eq!(fuel.remaining(), 0);
    }
    assert_eq!(
        schema.is_valid(&tape, &mut Fuel::new(enough)),
        Verdict::Valid
    );
}

#[test]
fn schemas_that_assert_nothing_are_paid_for_too() {
    const UNITS: u64 = 1_000;
    const VALUES: u64 = 100;
    let many = |unit: &str| vec![unit; 1_000].join(",");
    let named = |value: &str| {
        let members: Vec<String> = (0..1_000).map(|n| format!(r#""k{n}":{value}"#)).collect();
        members.join(",")
    };
    let instance = format!("[{}]", vec!["{}"; 100].join(","));
    for items in [
        format!(r#"{{"allOf":[{}]}}"#, many("true")),
        format!(r#"{{"allOf":[{}]}}"#, many("{}")),
        format!(r#"{{"anyOf":[{},true]}}"#, many("false")),
        format!(
            r#"{{"anyOf":[{},true],"unevaluatedProperties":false}}"#,
            many("false")
        ),
        format!(r#"{{"oneOf":[{},true]}}"#, many(r#"{"type":"null"}"#)),
        format!(r#"{{"dependentSchemas":{{{}}}}}"#, named("false")),
        format!(r#"{{"dependentRequired":{{{}}}}}"#, named("[]")),
    ] {
        let schema = compile(&format!(r#"{{"items":{items}}}"#));
        let units = used(&schema, &instance, Verdict::Valid);
        // A unit may pay for sixteen of the cheapest steps.
        assert!(
            units >= UNITS * VALUES / 16,
            "{units} units for {items:.60}"
        );
    }
    let tuple = compile(&format!(
        r#"{{"items":{{"prefixItems":[{}]}}}}"#,
        many("true")
    ));
    let instance = format!("[{}]", vec![format!("[{}]", many("0")); 10].join(","));
    let units = used(&tuple, &instance, Verdict::Valid);
    assert!(units >= UNITS * 10 / 16, "{units} units for prefixItems");
}
