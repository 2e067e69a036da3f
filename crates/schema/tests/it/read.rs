//! Values that are judged while they are read: which are, and that nothing is that should not be.

use countersign_schema::Schema;

use crate::reading::is_settled_by_reading;
use crate::support::{compile, judge, parse};

/// Whether reading settles an instance, whose verdict is the same either way.
fn is_read(schema: &Schema, instance: &str) -> bool {
    let verdict = judge(schema, instance);
    is_settled_by_reading(schema, instance, &parse(instance), verdict)
}

#[track_caller]
fn expect(schema: &str, read: &[&str], left: &[&str]) {
    let compiled = compile(schema);
    for instance in read {
        assert!(is_read(&compiled, instance), "{schema} leaves {instance}");
    }
    for instance in left {
        assert!(!is_read(&compiled, instance), "{schema} reads {instance}");
    }
}

const ITEMS: &str = r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{
    "id":{"type":"integer"},"name":{"type":"string","minLength":1},"a name of more than sixteen bytes":{"type":"null"}},
    "required":["id"],"additionalProperties":false},"minItems":1},"total":{"type":"number"}},"required":["items"]}"#;

#[test]
fn lists_of_objects_are_read_however_they_are_written() {
    expect(
        ITEMS,
        &[
            r#"{"items":[{"id":1,"name":"one"},{"id":2}],"total":2.5}"#,
            r#"{"total":2,"items":[{"name":"one","id":1}]}"#,
            " { \"items\" : [ { \"id\" : -0 , \"name\" : \"\u{fc}ml\\u00e4ut\" } ] } ",
            r#"{"items":[{"id":1.0,"a name of more than sixteen bytes":null}],"other":[{}],"more":{"a":{"b":[1]}}}"#,
        ],
        &[
            // Violations of every sort.
            r#"{"total":1}"#,
            r#"{"items":[]}"#,
            r#"{"items":[{"name":"one"}]}"#,
            r#"{"items":[{"id":1,"name":""}]}"#,
            r#"{"items":[{"id":"1"}]}"#,
            r#"{"items":[{"id":1.5}]}"#,
            r#"{"items":[{"id":1,"extra":1}]}"#,
            r#"{"items":[{"id":1}],"total":"2"}"#,
            r#"{"items":{"id":1}}"#,
            r"[]",
            r"7",
        ],
    );
}

#[test]
fn what_readers_may_read_differently_is_left_to_the_tape() {
    expect(
        ITEMS,
        &[],
        &[
            // Repeated names: listed, not listed, inside values of which nothing is asked, and by another spelling.
            r#"{"items":[{"id":1,"id":2}]}"#,
            r#"{"items":[{"id":1}],"other":1,"other":2}"#,
            r#"{"items":[{"id":1}],"other":{"a":1,"a":1}}"#,
            r#"{"items":[{"id":1,"\u0069d":2}]}"#,
            r#"{"items":[{"id":1}],"\u0069tems":[]}"#,
            // Lone surrogates: in a value, in a name, in a value of which nothing is asked.
            r#"{"items":[{"id":1,"name":"\ud800"}]}"#,
            r#"{"items":[{"id":1}],"\ud800":1}"#,
            r#"{"items":[{"id":1}],"other":["\udc00"]}"#,
        ],
    );
}

#[test]
fn text_that_is_not_json_is_not_read() {
    let schema = compile(ITEMS);
    for text in [
        r#"{"items":[{"id":1}]"#,
        r#"{"items":[{"id":1},]}"#,
        r#"{"items":[{"id":01}]}"#,
        r#"{"items"[{"id":1}]}"#,
        r#"{"items":[{"id":1}],"other":[1,}"#,
        r#"{"items":[{"id":1 "name":"a"}]}"#,
        "{\"items\":[{\"id\":1,\"name\":\"\n\"}]}",
        "",
    ] {
        assert_eq!(schema.read_conforming(text, 0, 64, 1.0), None, "{text}");
    }
}

#[test]
fn names_that_need_escapes_are_not_taken_for_their_bytes() {
    let schema =
        r#"{"type":"object","properties":{"a\"b":{},"c\\d":{}},"additionalProperties":false}"#;
    let compiled = compile(schema);
    assert_eq!(
        compiled.read_conforming(r#"{"a"b":1,"x":1}"#, 0, 64, 1.0),
        None
    );
    expect(
        schema,
        &[],
        &[r#"{"a\"b":1}"#, r#"{"c\\d":1}"#, r#"{"a":1}"#],
    );
}

const KINDS: &str = r##"{"type":"array","items":{"oneOf":[{"$ref":"#/$defs/cat"},{"$ref":"#/$defs/dog"}]},"$defs":{
    "cat":{"type":"object","properties":{"kind":{"const":"cat"},"kittens":{"type":"array","items":{"$ref":"#"}}},"required":["kind"]},
    "dog":{"type":"object","properties":{"kind":{"enum":["dog","hound"]},"barks":{"type":"boolean"}},"required":["kind","barks"]}}}"##;

#[test]
fn an_object_is_read_as_the_kind_that_its_first_member_names() {
    let read = [
        r#"[{"kind":"cat"},{"kind":"hound","barks":true},{"kind":"dog","barks":false}]"#,
        r#"[{ "kind" : "dog" , "barks" : false }]"#,
        // The kind comes later, so the object is put aside and judged in full.
        r#"[{"barks":true,"kind":"dog"}]"#,
        r#"[{"kind":"c\u0061t"}]"#,
    ];
    let left = [
        r#"[{"kind":"cow"}]"#,
        r#"[{"kind":"dog"}]"#,
        r#"[{"kind":"cat","kind":"dog","barks":true}]"#,
        r"[{}]",
        r"[7]",
    ];
    expect(KINDS, &read, &left);
    expect(&KINDS.replace("oneOf", "anyOf"), &read, &left);
}

#[test]
fn kinds_that_share_a_constant_are_all_judged() {
    let both = KINDS.replace(r#""hound""#, r#""cat""#);
    // Valid as a cat, and as a dog: `oneOf` refuses it, `anyOf` does not.
    let pet = r#"[{"kind":"cat","barks":true}]"#;
    expect(&both, &[], &[pet]);
    expect(&both.replace("oneOf", "anyOf"), &[pet], &[]);
}

#[test]
fn fuel_that_would_not_do_on_a_tape_does_not_do_here() {
    let schema = compile(ITEMS);
    let instance = r#"{"items":[{"id":1,"name":"one"}]}"#;
    let used = schema
        .read_conforming(instance, 0, 64, 1.0)
        .map(|read| read.fuel_used);
    assert!(used.is_some_and(|used| used > 0));
    assert_eq!(schema.read_conforming(instance, 0, 64, 0.0), None);
}
