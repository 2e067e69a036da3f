//! Width: properties, patterns, items, values of an enum, branches, and keys made to collide.

use std::fmt::Write;

use countersign_schema::Verdict::{Exhausted, Invalid, Valid};
use countersign_tape::fingerprint;

use super::{Attack, AttackOutcome};

use AttackOutcome::{Broken, Judged, Limit};

/// `open`, then what `item` makes for each number, separated by commas, then `close`.
pub(crate) fn list(
    count: usize,
    open: &str,
    close: &str,
    item: impl Fn(usize) -> String,
) -> String {
    let mut text = open.to_owned();
    for index in 0..count {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&item(index));
    }
    text.push_str(close);
    text
}

#[test]
fn a_hundred_thousand_properties() {
    let schema = list(
        100_000,
        r#"{"properties":{"#,
        r#"},"additionalProperties":false}"#,
        |n| format!(r#""p{n}":{{"type":"integer"}}"#),
    );
    let required = list(100_000, r#"{"required":["#, "]}", |n| format!(r#""p{n}""#));
    let instance = list(100_000, "{", "}", |n| format!(r#""p{n}":{n}"#));
    Attack::new("100,000 properties, both", schema, instance.clone(), Valid)
        .gives(Limit, Judged(Valid));
    Attack::new("100,000 required", required, instance.clone(), Valid).gives(Limit, Judged(Valid));
    Attack::new(
        "100,000 properties in the instance",
        r#"{"properties":{"p0":{"type":"integer"}},"propertyNames":{"pattern":"^p[0-9]+$"},"unevaluatedProperties":{"minimum":0}}"#,
        instance.clone(),
        Valid,
    )
    .gives(Judged(Valid), Judged(Valid));
    Attack::new(
        "100,000 properties, all evaluated twice",
        r#"{"allOf":[{"patternProperties":{"^p":true}},{"anyOf":[{"additionalProperties":true},{"patternProperties":{"7":true}}]}],"unevaluatedProperties":false}"#,
        instance,
        Valid,
    )
    .gives(Judged(Valid), Judged(Valid));
}

#[test]
fn dependencies_on_everything() {
    let schema = list(2_000, r#"{"dependentRequired":{"#, "}}", |n| {
        format!(r#""p{n}":["p{}","p{}"]"#, (n + 1) % 2_000, (n + 2) % 2_000)
    });
    let instance = list(2_000, "{", "}", |n| format!(r#""p{n}":{n}"#));
    Attack::new("2,000 dependencies", schema, instance, Valid).gives(Judged(Valid), Judged(Valid));
}

#[test]
fn counted_repetition_bombs() {
    for pattern in [
        "^((a{1,100}){1,100}){1,100}$",
        "^(a{0,1000}){0,1000}$",
        "^(((((a{2}){2}){2}){2}){2}){1000}$",
        "^(?:\\\\p{L}{1,200}){1,200}$",
        "^[^x]{1000}{1000}$",
        "^(((((((((a?){9}){9}){9}){9}){9}){9}){9}){9}){9}$",
        "^a{1000000000}$",
        "^a{0,99999999999999999999}$",
        "^(\\\\w{0,60}\\\\W{0,60}){60}$",
    ] {
        let [default, lifted] = Attack::new(
            format!("regex {pattern}"),
            format!(r#"{{"pattern":"{pattern}"}}"#),
            format!("\"{}b\"", "a".repeat(100)),
            Invalid,
        )
        .run();
        for answer in [default, lifted] {
            assert!(
                matches!(answer, Broken | Limit | Judged(Invalid)),
                "{pattern}: {answer:?}"
            );
        }
    }
    // Unanchored, they say no more than `a`, which can be judged.
    Attack::new(
        "regex (a{1,1000}){1,1000}",
        r#"{"pattern":"(a{1,1000}){1,1000}"}"#,
        "\"bab\"",
        Valid,
    )
    .gives(Judged(Valid), Judged(Valid));
}

#[test]
fn many_large_patterns_share_a_bound() {
    // Each stays under the bound of one pattern; together they must stay under a bound too.
    let classes: String = (b'a'..=b'w')
        .flat_map(|first| ['[', char::from(first), '-', char::from(first + 3), ']'])
        .collect();
    let schema = list(64, r#"{"allOf":["#, "]}", |n| {
        format!(r#"{{"pattern":"(é|{classes}\\p{{L}}){{{}}}-"}}"#, 20 + n)
    });
    let [default, lifted] = Attack::new("64 large patterns", schema, "\"a\"", Invalid).run();
    for answer in [default, lifted] {
        assert!(matches!(answer, Limit | Judged(Invalid)), "{answer:?}");
    }
}

#[test]
fn backtracking_patterns_run_in_linear_time() {
    for pattern in [
        "^(a+)+$",
        "(x+x+)+y",
        "^(a|aa)+$",
        "(a*)*b",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
    ] {
        Attack::new(
            format!("regex {pattern}"),
            format!(r#"{{"pattern":"{pattern}"}}"#),
            format!("\"{}!\"", "a".repeat(1_000_000)),
            Invalid,
        )
        .gives(Judged(Invalid), Judged(Invalid));
    }
}

#[test]
fn regex_state_does_not_grow_with_the_instance() {
    // An exponential number of deterministic states: the lazy cache must stay bounded.
    let schema = r#"{"pattern":"[ab]*a[ab]{24}c"}"#;
    let text: String = (0..400_000_u32)
        .map(|n| {
            if (n.wrapping_mul(2_654_435_761) >> 13) & 1 == 0 {
                'a'
            } else {
                'b'
            }
        })
        .collect();
    let [default, lifted] = Attack::new(
        "2^25 automaton states",
        schema,
        format!("\"{text}\""),
        Invalid,
    )
    .run();
    for answer in [default, lifted] {
        assert!(matches!(answer, Judged(Invalid | Exhausted)), "{answer:?}");
    }
}

#[test]
fn a_thousand_pattern_properties_on_a_thousand_keys() {
    let schema = list(1_000, r#"{"patternProperties":{"#, "}}", |n| {
        format!(r#""k[0-9]*{n}x?":{{"type":"integer"}}"#)
    });
    let instance = list(1_000, "{", "}", |n| format!(r#""k{n}":{n}"#));
    Attack::new(
        "1,000 patternProperties x 1,000 keys",
        schema,
        instance.clone(),
        Valid,
    )
    .gives(Limit, Judged(Exhausted));
    let schema = list(60, r#"{"patternProperties":{"#, "}}", |n| {
        format!(r#""k[0-9]*{n}x?":{{"type":"integer"}}"#)
    });
    Attack::new("60 patternProperties x 1,000 keys", schema, instance, Valid)
        .gives(Judged(Valid), Judged(Valid));
}

#[test]
fn unique_items_on_a_hundred_thousand_values() {
    for (name, item) in [
        ("numbers", (|n| n.to_string()) as fn(usize) -> String),
        ("strings", |n| format!("\"value {n}\"")),
        ("escaped strings", |n| format!(r#""\u0061{n}""#)),
        ("objects", |n| format!(r#"{{"id":{n},"a":[1,2]}}"#)),
        ("long common prefixes", |n| {
            format!("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{n:08}bbbbbbbb\"")
        }),
    ] {
        let valid = list(100_000, "[", "]", item);
        Attack::new(
            format!("uniqueItems, 100,000 {name}"),
            r#"{"uniqueItems":true}"#,
            valid,
            Valid,
        )
        .gives(Judged(Valid), Judged(Valid));
        let last = list(100_000, "[", &format!(",{}]", item(99_999)), item);
        Attack::new(
            format!("uniqueItems, 100,000 {name}, last repeats"),
            r#"{"uniqueItems":true}"#,
            last,
            Invalid,
        )
        .gives(Judged(Invalid), Judged(Invalid));
    }
}

#[test]
fn unique_items_on_deep_values() {
    let deep = |core: usize| super::deep::arrays(3_000, &core.to_string());
    let valid = list(100, "[", "]", deep);
    Attack::new(
        "uniqueItems, 100 deep values",
        r#"{"uniqueItems":true}"#,
        valid,
        Valid,
    )
    .gives(Judged(Valid), Judged(Valid));
    let twice = list(100, "[", "]", |n| deep(n % 99));
    Attack::new(
        "uniqueItems, deep value twice",
        r#"{"uniqueItems":true}"#,
        twice,
        Invalid,
    )
    .gives(Judged(Invalid), Judged(Invalid));
    // Applied at every level of a deep value, the same bytes would be compared again and again.
    let nested = format!(
        "{}{}",
        "[0,".repeat(3_000),
        format_args!("1{}", "]".repeat(3_000))
    );
    let [default, lifted] = Attack::new(
        "uniqueItems at every one of 3,000 levels",
        r##"{"uniqueItems":true,"items":{"$ref":"#"}}"##,
        nested,
        Valid,
    )
    .run();
    for answer in [default, lifted] {
        assert!(matches!(answer, Judged(Valid | Exhausted)), "{answer:?}");
    }
}

#[test]
fn enum_of_a_hundred_thousand() {
    let schema = list(100_000, r#"{"items":{"enum":["#, "]}}", |n| {
        format!("\"v{n}\"")
    });
    let instance = list(10_000, "[", "]", |n| format!("\"v{}\"", n * 7));
    Attack::new("enum of 100,000", schema.clone(), instance, Valid).gives(Limit, Judged(Valid));
    Attack::new(
        "enum of 100,000, no match",
        schema,
        "[\"v100000\"]",
        Invalid,
    )
    .gives(Limit, Judged(Invalid));
    let schema = list(9_999, r#"{"items":{"enum":["#, "]}}", |n| {
        format!(r#"{{"a":[{n}]}}"#)
    });
    let instance = list(10_000, "[", "]", |n| format!(r#"{{"a":[{}]}}"#, n % 9_999));
    Attack::new("enum of 9,999 objects", schema, instance, Valid)
        .gives(Judged(Valid), Judged(Valid));
}

#[test]
fn error_flood() {
    let schema = list(100, r#"{"items":{"anyOf":["#, "]}}", |n| {
        format!(r#"{{"type":"object","required":["r{n}"],"properties":{{"a":{{"const":{n}}}}}}}"#)
    });
    let instance = list(10_000, "[", "]", |n| {
        format!(r#"{{"a":{},"b":1}}"#, n % 100)
    });
    Attack::new(
        "10,000 items x 100 branches",
        schema.clone(),
        instance,
        Invalid,
    )
    .gives(Judged(Invalid), Judged(Invalid));
    let scalars = list(10_000, "[", "]", |n| n.to_string());
    Attack::new("10,000 scalars x 100 branches", schema, scalars, Invalid)
        .gives(Judged(Invalid), Judged(Invalid));
    let nested = r##"{"anyOf":[{"items":{"$ref":"#"},"minItems":3},{"items":{"$ref":"#"},"maxItems":0},{"type":"null"}]}"##;
    Attack::new(
        "nested alternatives that all fail",
        nested,
        super::deep::arrays(200, "[1]"),
        Invalid,
    )
    .run()
    .into_iter()
    .for_each(|answer| assert!(matches!(answer, Judged(Invalid | Exhausted)), "{answer:?}"));
}

#[test]
fn explaining_failures_far_into_a_long_array_is_paid_for() {
    // The closest of a hundred branches is looked for at every level, for each failure, past half a million siblings.
    let branches = list(100, "[", r#",{"type":"string"}]"#, |_| {
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}}}"##.to_owned()
    });
    let schema = format!(
        r##"{{"items":{{"anyOf":[{{"type":"integer"}},{{"$ref":"#/$defs/n"}}]}},"$defs":{{"n":{{"anyOf":{branches}}}}}}}"##
    );
    let end = list(20, "", "]", |_| super::deep::objects(7, "1"));
    let instance = format!("[{}{end}", "1,".repeat(500_000));
    Attack::new("explaining far into an array", schema, instance, Invalid)
        .gives(Judged(Invalid), Judged(Invalid));
}

/// Names that the tape's fingerprint cannot tell apart: it sees the length and both ends.
fn colliding(number: usize) -> String {
    format!("prefix__{number:06}__suffix")
}

#[test]
fn colliding_names() {
    let one = fingerprint(colliding(1).as_bytes());
    assert!(
        (0..1_000).all(|n| fingerprint(colliding(n).as_bytes()) == one),
        "the names do not collide"
    );
    let item = |n: usize| format!(r#""{}":{n}"#, colliding(n));
    let instance = list(50_000, "{", "}", item);
    let schema = list(3_000, r#"{"properties":{"#, "}}", |n| {
        format!(r#""{}":{{"type":"integer"}}"#, colliding(n))
    });
    let wide = list(
        50_000,
        r#"{"properties":{"#,
        r#"},"additionalProperties":false}"#,
        |n| format!(r#""{}":{{"type":"integer"}}"#, colliding(n)),
    );
    Attack::new(
        "colliding names, 3,000 declared",
        schema,
        instance.clone(),
        Valid,
    )
    .gives(Judged(Valid), Judged(Valid));
    Attack::new(
        "colliding names, 50,000 declared",
        wide,
        instance.clone(),
        Valid,
    )
    .gives(Limit, Judged(Valid));
    Attack::new(
        "colliding names, none declared",
        r#"{"maxProperties":60000}"#,
        instance,
        Valid,
    )
    .gives(Judged(Valid), Judged(Valid));
    let strings = list(50_000, "[", "]", |n| format!("\"{}\"", colliding(n)));
    Attack::new(
        "colliding strings under uniqueItems",
        r#"{"uniqueItems":true}"#,
        strings,
        Valid,
    )
    .gives(Judged(Valid), Judged(Valid));
    let schema = list(9_999, r#"{"items":{"enum":["#, "]}}", |n| {
        format!("\"{}\"", colliding(n))
    });
    let strings = list(50_000, "[", "]", |n| {
        format!("\"{}\"", colliding(n % 9_999))
    });
    let [default, lifted] =
        Attack::new("colliding strings in an enum", schema, strings, Valid).run();
    assert!(matches!(default, Limit | Judged(Valid)), "{default:?}");
    assert_eq!(lifted, Judged(Valid));
}

#[test]
fn repeated_names_are_one_property_each_time() {
    let instance = list(20_000, "{", "}", |_| r#""a":1"#.to_owned());
    let mut schema = String::new();
    write!(
        schema,
        r#"{{"properties":{{"a":{{"type":"integer"}}}},"required":["a"]}}"#
    )
    .expect("a string takes it");
    Attack::new("20,000 times the same name", schema, instance, Valid)
        .gives(Judged(Valid), Judged(Valid));
}
