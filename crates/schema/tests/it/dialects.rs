//! What changes with the dialect, and what makes a schema unenforceable.

use countersign_schema::{Compiler, Dialect, Limits, Unenforceable, Verdict};

use crate::support::{compile, holds, judge};

const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";
const DRAFT_2019: &str = "https://json-schema.org/draft/2019-09/schema";

fn refusal(schema: &str) -> Unenforceable {
    countersign_schema::compile(schema.as_bytes(), &Limits::default())
        .expect_err("the schema is unenforceable")
}

#[test]
fn dialect_is_chosen_by_schema_keyword_or_by_option() {
    assert_eq!(compile("{}").dialect(), Dialect::Draft202012);
    assert_eq!(
        compile(&format!(r#"{{"$schema":"{DRAFT_7}"}}"#)).dialect(),
        Dialect::Draft7
    );
    assert_eq!(
        compile(&format!(r#"{{"$schema":"{DRAFT_2019}"}}"#)).dialect(),
        Dialect::Draft201909
    );
    let schema = Compiler::new()
        .default_dialect(Dialect::Draft7)
        .compile(br#"{"items":[{"type":"integer"}],"additionalItems":false}"#)
        .expect("draft-07 tuples compile");
    assert_eq!(judge(&schema, "[1]"), Verdict::Valid);
    assert_eq!(judge(&schema, "[1,2]"), Verdict::Invalid);
}

#[test]
fn draft_7_reference_masks_its_siblings() {
    let rest = r##""properties":{"a":{"$ref":"#/definitions/any","type":"integer"}},"definitions":{"any":true}}"##;
    holds(
        &format!(r#"{{"$schema":"{DRAFT_7}",{rest}"#),
        &[r#"{"a":"text"}"#],
        &[],
    );
    holds(&format!("{{{rest}"), &[r#"{"a":1}"#], &[r#"{"a":"text"}"#]);
}

#[test]
fn keywords_of_later_drafts_are_annotations_in_earlier_ones() {
    holds(
        &format!(
            r#"{{"$schema":"{DRAFT_7}","dependentRequired":{{"a":["b"]}},"unevaluatedProperties":false,"minContains":2,"contains":{{"const":1}},"prefixItems":[false]}}"#
        ),
        &[r#"{"a":1}"#, "[1]"],
        &["[]"],
    );
    holds(
        &format!(
            r#"{{"$schema":"{DRAFT_2019}","prefixItems":[false],"items":[true],"additionalItems":false}}"#
        ),
        &["[1]"],
        &["[1,2]"],
    );
}

#[test]
fn draft_7_dependencies_take_both_forms() {
    holds(
        &format!(
            r#"{{"$schema":"{DRAFT_7}","dependencies":{{"a":["b"],"c":{{"required":["d"]}}}}}}"#
        ),
        &["{}", r#"{"a":1,"b":2}"#, r#"{"c":1,"d":1}"#],
        &[r#"{"a":1}"#, r#"{"c":1}"#],
    );
}

#[test]
fn recursive_reference_follows_the_outermost_resource() {
    holds(
        &format!(
            r##"{{"$schema":"{DRAFT_2019}","$id":"https://example.com/strict","$recursiveAnchor":true,
            "$ref":"tree","unevaluatedProperties":false,
            "$defs":{{"tree":{{"$id":"tree","$recursiveAnchor":true,"properties":{{"child":{{"$recursiveRef":"#"}}}}}}}}}}"##
        ),
        &[r#"{"child":{"child":{}}}"#],
        &[r#"{"child":{"chlid":{}}}"#],
    );
}

#[test]
fn unknown_dialects_and_vocabularies_are_refused() {
    assert!(matches!(
        refusal(r#"{"$schema":"https://example.com/my-dialect"}"#),
        Unenforceable::UnknownDialect { .. }
    ));
    assert!(matches!(
        refusal(r#"{"$schema":"http://json-schema.org/draft-03/schema#"}"#),
        Unenforceable::UnknownDialect { .. }
    ));
    let error = Compiler::new()
        .document(
            "https://example.com/meta",
            br#"{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.com/meta",
            "$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/core":true,"https://example.com/vocab/maths":true}}"#
                .to_vec(),
        )
        .compile(br#"{"$schema":"https://example.com/meta"}"#)
        .expect_err("a required vocabulary is unknown");
    assert!(
        matches!(error, Unenforceable::UnknownVocabulary { .. }),
        "{error}"
    );
}

#[test]
fn references_out_of_the_documents_are_refused_used_or_not() {
    for schema in [
        r#"{"$ref":"https://example.com/other.json"}"#,
        r#"{"$defs":{"unused":{"$ref":"file:///etc/passwd"}}}"#,
        r#"{"properties":{"a":{"$dynamicRef":"other.json#node"}}}"#,
        r#"{"anyOf":[true,{"$ref":"//example.com/x"}]}"#,
    ] {
        assert!(refusal(schema).is_external_ref(), "{schema}");
    }
    assert!(matches!(
        refusal(r##"{"$ref":"#/$defs/missing"}"##),
        Unenforceable::DanglingRef { .. }
    ));
}

#[test]
fn handed_in_documents_are_resolved() {
    let schema = Compiler::new()
        .document(
            "https://example.com/point.json",
            br#"{"$defs":{"n":{"type":"number"}},"prefixItems":[{"$ref":"\u0023/$defs/n"}]}"#
                .to_vec(),
        )
        .compile(br#"{"properties":{"p":{"$ref":"https://example.com/point.json"}}}"#)
        .expect("the document is at hand");
    assert_eq!(judge(&schema, r#"{"p":[1]}"#), Verdict::Valid);
    assert_eq!(judge(&schema, r#"{"p":["x"]}"#), Verdict::Invalid);
}

#[test]
fn broken_schemas_are_refused() {
    assert!(matches!(refusal("{"), Unenforceable::NotJson { .. }));
    for schema in [
        "3",
        r#"{"type":"integr"}"#,
        r#"{"properties":[]}"#,
        r#"{"required":"a"}"#,
        r#"{"minLength":-1}"#,
        r#"{"multipleOf":0}"#,
        r#"{"allOf":[]}"#,
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}"##,
    ] {
        assert!(
            matches!(refusal(schema), Unenforceable::Invalid { .. }),
            "{schema}: {}",
            refusal(schema)
        );
    }
    for schema in [
        r#"{"pattern":"("}"#,
        r#"{"pattern":"(?=a)b"}"#,
        r#"{"pattern":"(a)\\1"}"#,
        r#"{"patternProperties":{"[":true}}"#,
    ] {
        assert!(
            matches!(refusal(schema), Unenforceable::Pattern { .. }),
            "{schema}: {}",
            refusal(schema)
        );
    }
}
