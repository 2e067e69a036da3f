//! Draft-04 and draft-06, where they differ from the dialects after them. The published suite at hand has neither, so
//! these are tables of their own; the differential tests compare both with other engines.

use countersign_schema::{Compiler, Dialect, Fuel, Limits, Outcome, Unenforceable, Verdict};

use crate::support::{compile, holds, judge, parse};

/// A schema of a draft, from its members.
fn draft(number: u8, members: &str) -> String {
    format!(r#"{{"$schema":"http://json-schema.org/draft-0{number}/schema#",{members}}}"#)
}

fn refusal(schema: &str) -> Unenforceable {
    countersign_schema::compile(schema.as_bytes(), &Limits::default())
        .expect_err("the schema is unenforceable")
}

#[test]
fn the_dialect_is_named_with_or_without_fragment_and_by_https() {
    for (uri, dialect) in [
        ("http://json-schema.org/draft-04/schema#", Dialect::Draft4),
        ("http://json-schema.org/draft-04/schema", Dialect::Draft4),
        ("https://json-schema.org/draft-04/schema#", Dialect::Draft4),
        ("http://json-schema.org/draft-06/schema#", Dialect::Draft6),
        ("https://json-schema.org/draft-06/schema", Dialect::Draft6),
    ] {
        let schema = compile(&format!(r#"{{"$schema":"{uri}"}}"#));
        assert_eq!(schema.dialect(), dialect, "{uri}");
    }
    assert_eq!(Dialect::Draft4.as_str(), "draft-04");
    assert_eq!(Dialect::Draft6.as_str(), "draft-06");
}

#[test]
fn draft_4_bounds_are_made_exclusive_by_a_flag() {
    for (members, valid, invalid) in [
        (r#""minimum":3"#, ["3", "4"], ["2", "2.9"]),
        (
            r#""minimum":3,"exclusiveMinimum":false"#,
            ["3", "4"],
            ["2", "2.9"],
        ),
        (
            r#""minimum":3,"exclusiveMinimum":true"#,
            ["3.1", "4"],
            ["3", "3.0"],
        ),
        (
            r#""exclusiveMaximum":true,"maximum":3"#,
            ["2.9", "-4"],
            ["3", "4"],
        ),
        (
            r#""maximum":3,"exclusiveMaximum":false"#,
            ["3", "\"x\""],
            ["3.5", "4"],
        ),
    ] {
        holds(&draft(4, members), &valid, &invalid);
    }
    let schema = compile(&draft(4, r#""minimum":3,"exclusiveMinimum":true"#));
    let tape = parse("3");
    let outcome = schema.validate(&tape, &mut Fuel::for_instance(&tape, 1.0));
    let Outcome::Invalid(violations) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        violations.first().to_string(),
        "exclusiveMinimum at the root: expected a number above 3, got number"
    );
}

#[test]
fn what_draft_4_forbids_is_refused_with_its_place() {
    for (members, pointer) in [
        (r#""exclusiveMinimum":3"#, "/exclusiveMinimum"),
        (r#""exclusiveMinimum":true"#, "/exclusiveMinimum"),
        (
            r#""minimum":1,"exclusiveMaximum":true"#,
            "/exclusiveMaximum",
        ),
        (r#""properties":{"a":true}"#, "/properties/a"),
        (r#""items":false"#, "/items"),
        (r#""not":true"#, "/not"),
        (r#""anyOf":[{},false]"#, "/anyOf/1"),
        (r#""dependencies":{"a":true}"#, "/dependencies/a"),
        (r#""definitions":{"a":true}"#, "/definitions/a"),
        // A property of this name is a property.
        (
            r#""properties":{"additionalProperties":true}"#,
            "/properties/additionalProperties",
        ),
        (
            r##""default":true,"allOf":[{"$ref":"#/default"}]"##,
            "/default",
        ),
        (r#""id":5"#, "/id"),
    ] {
        match refusal(&draft(4, members)) {
            Unenforceable::Invalid { pointer: found, .. } => assert_eq!(found, pointer),
            other => panic!("{members}: {other}"),
        }
    }
    let boolean = Compiler::new()
        .default_dialect(Dialect::Draft4)
        .compile(b"true")
        .expect_err("not a schema in draft-04");
    assert!(matches!(boolean, Unenforceable::Invalid { .. }));
}

#[test]
fn draft_6_bounds_are_numbers_and_schemas_may_be_booleans() {
    holds(&draft(6, r#""exclusiveMinimum":3"#), &["4"], &["3"]);
    assert!(matches!(
        refusal(&draft(6, r#""minimum":3,"exclusiveMinimum":true"#)),
        Unenforceable::Invalid { .. }
    ));
    holds(
        &draft(6, r#""properties":{"a":true,"b":false}"#),
        &["{}", r#"{"a":1}"#],
        &[r#"{"b":1}"#],
    );
}

#[test]
fn draft_4_takes_booleans_where_it_says_additional() {
    holds(
        &draft(4, r#""properties":{"a":{}},"additionalProperties":false"#),
        &["{}", r#"{"a":1}"#],
        &[r#"{"b":1}"#],
    );
    holds(
        &draft(4, r#""items":[{"type":"integer"}],"additionalItems":false"#),
        &["[]", "[1]"],
        &["[1,2]", "[\"x\"]"],
    );
    holds(
        &draft(4, r#""items":[{}],"additionalItems":true"#),
        &["[1,2,3]"],
        &[],
    );
    // Beside one schema for all items it has no meaning.
    holds(
        &draft(4, r#""items":{"type":"integer"},"additionalItems":false"#),
        &["[1,2]"],
        &["[\"x\"]"],
    );
    holds(
        &draft(
            4,
            r##""additionalProperties":false,"properties":{"a":{"$ref":"#/additionalProperties"}}"##,
        ),
        &["{}"],
        &[r#"{"a":1}"#, r#"{"b":1}"#],
    );
}

#[test]
fn an_integer_of_draft_4_is_written_as_one() {
    let integers = ["1", "-0", "12345678901234567890123"];
    let written_otherwise = ["1.0", "1e2", "100e-2", "-0.0"];
    let others = ["1.5", "\"1\"", "null"];
    let refused: Vec<&str> = written_otherwise.into_iter().chain(others).collect();
    let accepted: Vec<&str> = integers.into_iter().chain(written_otherwise).collect();
    holds(&draft(4, r#""type":"integer""#), &integers, &refused);
    holds(&draft(6, r#""type":"integer""#), &accepted, &others);
    holds(
        &draft(4, r#""type":["integer","null"]"#),
        &["1", "null"],
        &["1.0", "\"x\""],
    );
    holds(
        &draft(4, r#""type":["integer","number"]"#),
        &["1", "1.0", "1.5"],
        &["null"],
    );
    // In every way that validation takes to a value.
    for members in [
        r#""properties":{"a":{"type":"integer"}}"#,
        r#""properties":{"a":{"type":"integer","minimum":0}}"#,
        r#""properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}}"#,
        r#""additionalProperties":{"type":"integer","enum":[1,2]}"#,
        r##""properties":{"a":{"$ref":"#/definitions/n"}},"definitions":{"n":{"type":"integer"}}"##,
    ] {
        holds(&draft(4, members), &[r#"{"a":1}"#], &[r#"{"a":1.0}"#]);
        holds(&draft(6, members), &[r#"{"a":1}"#, r#"{"a":1.0}"#], &[]);
    }
    // Values are compared as numbers all the same.
    holds(&draft(4, r#""enum":[1]"#), &["1", "1.0"], &["2"]);
    holds(&draft(4, r#""uniqueItems":true"#), &["[1,2]"], &["[1,1.0]"]);
    holds(&draft(4, r#""multipleOf":2"#), &["4", "4.0"], &["3"]);
}

#[test]
fn keywords_of_later_drafts_assert_nothing() {
    let since_draft_7 = r#""if":{"type":"integer"},"then":false,"else":false"#;
    let since_2019 = r#""dependentRequired":{"a":["b"]},"dependentSchemas":{"a":false},"unevaluatedProperties":false,"unevaluatedItems":false,"prefixItems":[false],"minContains":9,"$defs":5,"$anchor":5"#;
    for number in [4, 6] {
        for members in [since_draft_7, since_2019] {
            holds(
                &draft(number, members),
                &["1", "null", r#"{"a":1}"#, "[1]"],
                &[],
            );
        }
    }
    let since_draft_6 = r#""const":1,"contains":{"type":"null"},"propertyNames":{"maxLength":1}"#;
    let others = ["2", "[1]", r#"{"ab":1}"#];
    holds(&draft(4, since_draft_6), &others, &[]);
    holds(&draft(6, since_draft_6), &["1"], &others);
    // What an unknown keyword holds is not looked at.
    holds(
        &draft(
            4,
            r#""const":{"$ref":"https://example.com/x"},"contains":5,"$id":5"#,
        ),
        &["null"],
        &[],
    );
    holds(&draft(6, r#""if":5,"id":5"#), &["null"], &[]);
}

#[test]
fn a_reference_hides_what_stands_beside_it() {
    for number in [4, 6] {
        let members = r##""properties":{"a":{"$ref":"#/definitions/s","maxLength":1,"pattern":"("}},"definitions":{"s":{"type":"string"}}"##;
        holds(
            &draft(number, members),
            &[r#"{"a":"long"}"#],
            &[r#"{"a":1}"#],
        );
    }
}

#[test]
fn draft_4_names_schemas_by_id() {
    holds(
        &draft(
            4,
            r##""id":"http://example.com/root.json","properties":{"a":{"$ref":"part.json"},"b":{"$ref":"#name"},"id":{"type":"string"}},"definitions":{"p":{"id":"part.json","type":"integer"},"n":{"id":"#name","type":"null"}}"##,
        ),
        &[r#"{"a":1,"b":null,"id":"x"}"#],
        &[r#"{"a":"x"}"#, r#"{"b":1}"#, r#"{"id":1}"#],
    );
    // A reference is read against the `id` around it.
    holds(
        &draft(
            4,
            r##""properties":{"a":{"id":"http://example.com/inner","properties":{"b":{"$ref":"#/definitions/n"}},"definitions":{"n":{"type":"null"}}}},"definitions":{"n":{"type":"integer"}}"##,
        ),
        &[r#"{"a":{"b":null}}"#],
        &[r#"{"a":{"b":1}}"#],
    );
    let other = draft(
        4,
        r#""properties":{"a":{"$ref":"part.json"}},"definitions":{"p":{"$id":"part.json"}}"#,
    );
    assert!(refusal(&other).is_external_ref());
    let twice = draft(
        4,
        r#""definitions":{"a":{"id":"x.json"},"b":{"id":"x.json"}}"#,
    );
    assert!(matches!(refusal(&twice), Unenforceable::Invalid { .. }));
}

#[test]
fn draft_6_names_schemas_by_dollar_id() {
    holds(
        &draft(
            6,
            r##""$id":"http://example.com/root.json","properties":{"a":{"$ref":"part.json"},"b":{"$ref":"#name"}},"definitions":{"p":{"$id":"part.json","type":"integer"},"n":{"$id":"#name","type":"null"}}"##,
        ),
        &[r#"{"a":1,"b":null}"#],
        &[r#"{"a":"x"}"#, r#"{"b":1}"#],
    );
}

#[test]
fn a_resource_of_another_draft_follows_its_own_rules() {
    let inner = draft(
        4,
        r#""id":"http://example.com/old","type":"integer","minimum":1,"exclusiveMinimum":true,"const":7"#,
    );
    let schema = format!(
        r#"{{"properties":{{"a":{{"$ref":"http://example.com/old"}},"b":{{"type":"integer"}}}},"$defs":{{"old":{inner}}}}}"#
    );
    holds(
        &schema,
        &[r#"{"a":2,"b":1.0}"#],
        &[r#"{"a":1}"#, r#"{"a":2.0}"#],
    );
}

#[test]
fn dependencies_take_both_forms() {
    for number in [4, 6] {
        holds(
            &draft(
                number,
                r#""dependencies":{"a":["b"],"c":{"required":["d"]}}"#,
            ),
            &["{}", r#"{"a":1,"b":2}"#, r#"{"c":1,"d":1}"#],
            &[r#"{"a":1}"#, r#"{"c":1}"#],
        );
    }
}

#[test]
fn each_draft_asserts_the_formats_it_defines() {
    let judged = |number, format: &str, instance: &str| {
        let schema = draft(number, &format!(r#""format":"{format}""#));
        let schema = Compiler::new()
            .assert_formats(true)
            .compile(schema.as_bytes())
            .expect("the schema compiles");
        judge(&schema, instance)
    };
    for format in ["date-time", "email", "hostname", "ipv4", "ipv6", "uri"] {
        assert_eq!(judged(4, format, "\"a b\""), Verdict::Invalid, "{format}");
        assert_eq!(judged(6, format, "\"a b\""), Verdict::Invalid, "{format}");
    }
    for format in ["json-pointer", "uri-reference", "uri-template"] {
        assert_eq!(judged(4, format, r#""\\a {""#), Verdict::Valid, "{format}");
        assert_eq!(
            judged(6, format, r#""\\a {""#),
            Verdict::Invalid,
            "{format}"
        );
    }
    for format in ["date", "time", "uuid", "regex", "iri", "duration"] {
        assert_eq!(judged(4, format, "\"( \""), Verdict::Valid, "{format}");
        assert_eq!(judged(6, format, "\"( \""), Verdict::Valid, "{format}");
        assert_eq!(judged(7, format, "\"( \""), Verdict::Invalid, "{format}");
    }
}

#[test]
fn the_published_metaschemas_judge_schemas() {
    let of = |number| format!(r#"{{"$ref":"http://json-schema.org/draft-0{number}/schema#"}}"#);
    holds(
        &of(4),
        &[
            r#"{"minimum":1,"exclusiveMinimum":true}"#,
            r#"{"additionalProperties":false}"#,
        ],
        &[
            "true",
            r#"{"exclusiveMinimum":1}"#,
            r#"{"exclusiveMinimum":true}"#,
            r#"{"properties":{"a":{"minLength":1.0}}}"#,
        ],
    );
    holds(
        &of(6),
        &["true", r#"{"exclusiveMinimum":1,"minLength":1.0}"#],
        &[r#"{"exclusiveMinimum":true}"#, r#"{"const":1,"type":5}"#],
    );
    // Their own text is a schema that conforms to itself.
    for text in [
        include_str!("../../metaschemas/draft-04.json"),
        include_str!("../../metaschemas/draft-06.json"),
    ] {
        holds(text, &[text], &["5"]);
    }
}
