use serde_json::json;

use super::*;

/// The old schema, the new one, what it means for arguments, what it means for results.
const TABLE: &str = r##"
{"properties":{"p":{"type":"string"}}}  | {"properties":{"p":{"type":"string"}}}          | -          | -
{"properties":{"p":{"type":"string"}}}  | {"properties":{"p":{"type":["string","null"]}}} | compatible | breaking
{"properties":{"p":{"type":"string"}}}  | {"properties":{"p":{"type":"integer"}}}         | breaking   | breaking
{"properties":{"p":{"maximum":5}}}      | {"properties":{"p":{"maximum":9}}}              | compatible | breaking
{"properties":{"p":{"maximum":5}}}      | {"properties":{"p":{"maximum":3}}}              | breaking   | compatible
{"properties":{"p":{}}}                 | {"properties":{"p":{"minLength":1}}}            | breaking   | compatible
{"properties":{"p":{"minLength":1}}}    | {"properties":{"p":{}}}                         | compatible | breaking
{"properties":{"p":{"enum":["a"]}}}     | {"properties":{"p":{"enum":["a","b"]}}}         | compatible | breaking
{"properties":{"p":{"enum":["a","b"]}}} | {"properties":{"p":{"enum":["a"]}}}             | breaking   | compatible
{"properties":{"p":{"title":"x"}}}      | {"properties":{"p":{"title":"y"}}}              | compatible | compatible
{"properties":{"p":{"pattern":"a"}}}    | {"properties":{"p":{"pattern":"b"}}}            | breaking   | breaking
{"properties":{"p":{"items":{"maximum":5}}}} | {"properties":{"p":{"items":{"maximum":6}}}} | compatible | breaking
{}                                      | {"required":["p"]}                              | breaking   | compatible
{"required":["p"]}                      | {}                                              | compatible | breaking
{}                                      | {"additionalProperties":false}                  | breaking   | compatible
{"additionalProperties":false}          | {}                                              | compatible | breaking
{}                                      | {"properties":{"p":{}}}                         | compatible | compatible
{"properties":{"p":{}}}                 | {}                                              | compatible | breaking
{"$ref":"#/$defs/a"}                    | {"$ref":"#/$defs/b"}                            | breaking   | breaking
{"$defs":{"a":{"maximum":5}}}           | {"$defs":{"a":{"maximum":3}}}                   | breaking   | compatible
"##;

fn worst(old: &Value, new: &Value) -> &'static str {
    let changes = diff(old, new).expect("two lists");
    match changes.into_iter().map(|change| change.impact).max() {
        None => "-",
        Some(Impact::Compatible) => "compatible",
        Some(Impact::Breaking) => "breaking",
    }
}

#[test]
fn narrower_breaks_who_sends_and_wider_who_receives() {
    for line in TABLE.trim().split('\n') {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let schema = |cell: &str| serde_json::from_str::<Value>(cell).expect(cell);
        let (old, new) = (schema(cells[0]), schema(cells[1]));
        let takes = |schema: &Value| json!([{"name": "t", "inputSchema": schema}]);
        assert_eq!(worst(&takes(&old), &takes(&new)), cells[2], "{line}");
        let gives =
            |schema: &Value| json!([{"name": "t", "inputSchema": {}, "outputSchema": schema}]);
        assert_eq!(worst(&gives(&old), &gives(&new)), cells[3], "{line}");
    }
}

#[test]
fn tools_come_and_go() {
    let one = json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]});
    let two = json!({"jsonrpc": "2.0", "result": {"tools": [{"name": "b", "inputSchema": {"type": "object"}}]}});
    let changes = diff(&one, &two).expect("two lists");
    let told: Vec<(&str, Impact)> = changes
        .iter()
        .map(|change| (change.tool.as_str(), change.impact))
        .collect();
    assert_eq!(told, [("a", Impact::Breaking), ("b", Impact::Compatible)]);
    assert!(diff(&json!({}), &one).is_err());
}

#[test]
fn a_tool_that_stops_being_harmless_breaks() {
    let annotated = |hint: bool| json!([{"name": "t", "inputSchema": {}, "annotations": {"readOnlyHint": hint}}]);
    assert_eq!(worst(&annotated(true), &annotated(false)), "breaking");
    assert_eq!(worst(&annotated(false), &annotated(true)), "compatible");
}

#[test]
fn depth_is_bounded() {
    let deep = |leaf: Value| (0..60).fold(leaf, |inner, _| json!({"items": inner}));
    let takes = |schema: Value| json!([{"name": "t", "inputSchema": schema}]);
    assert_eq!(
        worst(
            &takes(deep(json!({"maximum": 1}))),
            &takes(deep(json!({"maximum": 2})))
        ),
        "breaking"
    );
}
