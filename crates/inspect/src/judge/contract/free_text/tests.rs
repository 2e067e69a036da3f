use super::*;
use countersign_tape::Limits;

const PLAIN: Interpretation = Interpretation {
    dialect: Dialect::Draft202012,
    assert_formats: false,
};

fn free(schema: &str, reading: Interpretation) -> bool {
    let tape = Tape::parse(schema.as_bytes(), &Limits::default()).unwrap();
    admits_free_text(&tape, reading)
}

#[test]
fn closed_schemas() {
    for schema in [
        "false",
        r#"{"type":"integer"}"#,
        r#"{"type":["number","null"]}"#,
        r#"{"enum":["a","b"]}"#,
        r#"{"const":{"text":"fixed"}}"#,
        r#"{"type":"string","enum":["a"]}"#,
        r#"{"type":"object","additionalProperties":false}"#,
        r#"{"type":"object","properties":{"n":{"type":"number"}},"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"n":{"type":"number"}},"unevaluatedProperties":false}"#,
        r#"{"type":"array","items":{"type":"boolean"}}"#,
        r#"{"type":"array","prefixItems":[{"type":"null"}],"items":false}"#,
        r#"{"type":"array","items":[{"type":"null"}],"additionalItems":false}"#,
        r#"{"type":"array","prefixItems":[{"type":"null"}],"unevaluatedItems":false}"#,
        r#"{"anyOf":[{"type":"integer"},{"const":"none"}]}"#,
        r#"{"oneOf":[{"type":"integer"},{"type":"null"}]}"#,
        r#"{"allOf":[{"type":"integer"},{"minimum":3}]}"#,
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"integer"}}}"##,
        r##"{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"integer"}}}"##,
        r##"{"$id":"https://e.example/s","$ref":"#/$defs/n","$defs":{"n":{"type":"integer"}}}"##,
        r##"{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}"##,
    ] {
        assert!(!free(schema, PLAIN), "{schema}");
    }
}

#[test]
fn open_schemas() {
    for schema in [
        "true",
        "{}",
        r#"{"type":"string"}"#,
        r#"{"type":"string","maxLength":9,"pattern":"^[a-z]+$"}"#,
        r#"{"type":"string","format":"date"}"#,
        r#"{"type":["integer","string"]}"#,
        r#"{"minimum":1}"#,
        r#"{"type":"integer","type":"string"}"#,
        r#"{"type":"object"}"#,
        r#"{"type":"object","properties":{"n":{"type":"number"}}}"#,
        r#"{"type":"object","properties":{"n":{"type":"string"}},"additionalProperties":false}"#,
        r#"{"type":"object","additionalProperties":{"type":"integer"}}"#,
        r#"{"type":"object","patternProperties":{"^a":{"type":"null"}},"additionalProperties":false}"#,
        r#"{"type":"object","allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}"#,
        r#"{"type":"array"}"#,
        r#"{"type":"array","items":{"type":"string"}}"#,
        r#"{"type":"array","prefixItems":[{"type":"null"}]}"#,
        r#"{"type":"array","items":[{"type":"null"}]}"#,
        r#"{"type":"array","prefixItems":[{"type":"string"}],"items":false}"#,
        r#"{"anyOf":[{"type":"integer"},{"type":"string"}]}"#,
        r#"{"not":{"type":"string"}}"#,
        r#"{"if":{"type":"integer"},"then":{"type":"integer"},"else":{"type":"integer"}}"#,
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"string"}}}"##,
        r##"{"$ref":"#name","$defs":{"n":{"$anchor":"name","type":"integer"}}}"##,
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"integer"},"m":{"$id":"x"}}}"##,
        r##"{"type":"object","properties":{"next":{"$ref":"#"},"t":{"type":"string"}},"additionalProperties":false}"##,
    ] {
        assert!(free(schema, PLAIN), "{schema}");
    }
}

#[test]
fn an_asserted_narrow_format_limits_a_string() {
    let asserted = Interpretation {
        assert_formats: true,
        ..PLAIN
    };
    assert!(!free(r#"{"type":"string","format":"date-time"}"#, asserted));
    assert!(!free(r#"{"type":"string","format":"uuid"}"#, asserted));
    assert!(free(r#"{"type":"string","format":"email"}"#, asserted));
    assert!(free(r#"{"type":"string","format":"regex"}"#, asserted));
    assert!(free(r#"{"type":"string","format":"made-up"}"#, asserted));
}

#[test]
fn in_draft_07_a_reference_hides_its_siblings() {
    let schema =
        r##"{"$ref":"#/definitions/s","enum":["a"],"definitions":{"s":{"type":"string"}}}"##;
    assert!(!free(schema, PLAIN));
    for dialect in [Dialect::Draft4, Dialect::Draft6, Dialect::Draft7] {
        assert!(
            free(schema, Interpretation { dialect, ..PLAIN }),
            "{dialect:?}"
        );
    }
}

#[test]
fn a_keyword_that_the_dialect_does_not_know_proves_nothing() {
    use Dialect::{Draft4, Draft6, Draft7, Draft201909};
    for (schema, before, since) in [
        (r#"{"const":"a"}"#, Draft4, Draft6),
        (
            r#"{"type":"object","unevaluatedProperties":false}"#,
            Draft7,
            Draft201909,
        ),
        (
            r#"{"type":"array","unevaluatedItems":false}"#,
            Draft7,
            Draft201909,
        ),
    ] {
        let read = |dialect| free(schema, Interpretation { dialect, ..PLAIN });
        assert!(read(before), "{schema}");
        assert!(!read(since), "{schema}");
    }
    let asserted = |dialect| Interpretation {
        dialect,
        assert_formats: true,
    };
    let date = r#"{"type":"string","format":"date"}"#;
    assert!(free(date, asserted(Draft6)));
    assert!(!free(date, asserted(Draft7)));
}

#[test]
fn an_inner_id_or_dialect_is_doubt() {
    let named =
        r##"{"$ref":"#/definitions/n","definitions":{"n":{"type":"integer"},"m":{"id":"x"}}}"##;
    let draft_4 = Interpretation {
        dialect: Dialect::Draft4,
        ..PLAIN
    };
    assert!(free(named, draft_4));
    assert!(!free(named, PLAIN));
    let property =
        r#"{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":false}"#;
    assert!(!free(property, draft_4));
    let other =
        r#"{"anyOf":[{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","const":"a"}]}"#;
    assert!(free(other, PLAIN));
}

#[test]
fn a_long_chain_of_backward_references_is_doubt_not_work() {
    let mut defs = vec![r#""d0":{"type":"integer"}"#.to_owned()];
    defs.extend((1..200).map(|i| format!(r##""d{i}":{{"$ref":"#/$defs/d{}"}}"##, i - 1)));
    let chain = format!(
        r##"{{"$defs":{{{}}},"$ref":"#/$defs/d199"}}"##,
        defs.join(",")
    );
    assert!(!free(&chain, PLAIN));
    let chain = chain.replace("integer", "string");
    assert!(free(&chain, PLAIN));
}
