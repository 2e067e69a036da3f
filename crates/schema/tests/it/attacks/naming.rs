//! Names of schemas: long URIs, many anchors, pointers into large containers. All of it costs while compiling.

use countersign_schema::Verdict::Valid;

use super::wide::list;
use super::{Attack, AttackOutcome};

use AttackOutcome::{Judged, Limit};

#[test]
fn a_long_base_under_many_names() {
    let base = format!(
        r#"{{"$id":"https://example.com/{}/","allOf":["#,
        "a".repeat(100_000)
    );
    let schema = list(4_000, &base, "]}", |n| format!(r#"{{"$id":"q{n}"}}"#));
    Attack::new("4,000 names under a base of 100 KB", schema, "1", Valid).gives(Limit, Limit);
    let base = format!(
        r#"{{"$id":"https://example.com/{}/","$defs":{{"q":{{"$id":"q"}}}},"prefixItems":["#,
        "a".repeat(100_000)
    );
    let schema = list(1_000, &base, "]}", |_| r#"{"$ref":"q"}"#.to_owned());
    Attack::new(
        "1,000 references under a base of 100 KB",
        schema,
        "1",
        Valid,
    )
    .gives(Judged(Valid), Judged(Valid));
}

#[test]
fn names_that_grow_level_by_level() {
    let levels = 60;
    let open = format!(r#"{{"$id":"{}/","items":"#, "a".repeat(2_000)).repeat(levels);
    let schema = format!("{open}true{}", "}".repeat(levels));
    Attack::new("60 nested bases of 2 KB", schema, "1", Valid).gives(Limit, Limit);
}

#[test]
fn pointers_past_many_siblings() {
    let members = list(10_000, r#"{"x":{"#, "", |n| format!(r#""k{n}":0"#));
    let schema = list(
        1_000,
        &format!(r#"{members},"z":{{}}}},"prefixItems":["#),
        "]}",
        |_| r##"{"$ref":"#/x/z"}"##.to_owned(),
    );
    Attack::new("1,000 pointers past 10,000 members", schema, "1", Valid)
        .gives(Judged(Valid), Judged(Valid));
    let schema = format!(
        r#"{{"x":[{}{{}}],{}"#,
        "0,".repeat(100_000),
        list(1_000, r#""prefixItems":["#, "]}", |_| {
            r##"{"$ref":"#/x/100000"}"##.to_owned()
        })
    );
    Attack::new("1,000 pointers past 100,000 items", schema, "1", Valid)
        .gives(Judged(Valid), Judged(Valid));
}

#[test]
fn a_thousand_dynamic_references_to_a_thousand_anchors() {
    let schema = list(1_000, r#"{"$defs":{"#, "}}", |n| {
        format!(r##""d{n}":{{"$id":"r{n}","$dynamicAnchor":"n","items":{{"$dynamicRef":"#n"}}}}"##)
    });
    Attack::new("1,000 dynamic anchors and references", schema, "1", Valid)
        .gives(Judged(Valid), Judged(Valid));
}
