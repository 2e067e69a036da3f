//! Every keyword, on a handful of instances each. These run without any data.

use crate::support::{compile, holds};

#[test]
fn boolean_schemas() {
    holds("true", &["null", "[]"], &[]);
    holds("false", &[], &["null", "{}"]);
}

#[test]
fn types() {
    holds(
        r#"{"type":"integer"}"#,
        &["1", "-0", "1.0", "1e2", "100e-2", "12345678901234567890123"],
        &["1.5", "1e-1", "\"1\"", "null", "true"],
    );
    holds(
        r#"{"type":["string","null"]}"#,
        &["null", "\"\""],
        &["0", "[]"],
    );
    holds(r#"{"type":"number"}"#, &["1", "1.5"], &["\"1\""]);
    holds(r#"{"type":"boolean"}"#, &["true", "false"], &["null"]);
    holds(r#"{"type":"object"}"#, &["{}"], &["[]"]);
    holds(r#"{"type":"array"}"#, &["[]"], &["{}"]);
}

#[test]
fn enumerations_compare_values_not_text() {
    holds(
        r#"{"enum":[1,"a",{"x":[1,2],"y":null},[]]}"#,
        &[
            "1.0",
            "10e-1",
            r#""\u0061""#,
            r#"{"y":null,"x":[1.0,2]}"#,
            "[]",
        ],
        &["2", "\"b\"", r#"{"x":[2,1],"y":null}"#, "true", "{}"],
    );
    holds(r#"{"const":false}"#, &["false"], &["0", "null"]);
    holds(r#"{"const":"é"}"#, &[r#""\u00e9""#], &["\"e\""]);
    holds(
        r#"{"const":9007199254740993}"#,
        &["9007199254740993.0"],
        &["9007199254740992"],
    );
}

#[test]
fn numeric_bounds_are_exact() {
    holds(
        r#"{"minimum":1.1}"#,
        &["1.1", "11e-1", "\"x\""],
        &["1.09999999999999999999"],
    );
    holds(
        r#"{"maximum":3}"#,
        &["3.0", "-1e400"],
        &["3.00000000000000000001", "1e400"],
    );
    holds(r#"{"exclusiveMinimum":0}"#, &["1e-300"], &["0", "-0.0"]);
    holds(
        r#"{"exclusiveMaximum":18446744073709551616}"#,
        &["18446744073709551615"],
        &["18446744073709551616"],
    );
    holds(
        r#"{"multipleOf":0.01}"#,
        &["19.99", "0", "4.35", "1e3"],
        &["0.075"],
    );
    holds(r#"{"multipleOf":3}"#, &["9", "-3", "3e2"], &["10", "3.5"]);
}

#[test]
fn string_lengths_count_code_points() {
    holds(
        r#"{"minLength":2,"maxLength":2}"#,
        &[
            "\"ab\"",
            "\"💩💩\"",
            r#""\ud83d\udca9a""#,
            r#""\n\u0041""#,
            "5",
        ],
        &["\"a\"", "\"💩\"", "\"abc\""],
    );
    holds(r#"{"maxLength":2.0}"#, &["\"ab\""], &["\"abc\""]);
}

#[test]
fn patterns_are_unanchored_ecma_262() {
    holds(
        r#"{"pattern":"a+"}"#,
        &["\"baab\"", "1", r#""\u0061""#],
        &["\"b\""],
    );
    holds(
        r#"{"pattern":"^\\d{2}$"}"#,
        &["\"42\""],
        &["\"٤٢\"", "\"421\"", r#""42\n""#],
    );
    holds(r#"{"pattern":"^\\p{Letter}+$"}"#, &["\"é\""], &["\"1\""]);
}

#[test]
fn objects() {
    holds(
        r#"{"properties":{"a":{"type":"integer"},"b/c":true},"required":["a"],"additionalProperties":false}"#,
        &[r#"{"a":1}"#, r#"{"b\/c":0,"\u0061":1}"#, "[]"],
        &["{}", r#"{"a":"x"}"#, r#"{"a":1,"z":1}"#, r#"{"b/c":1}"#],
    );
    holds(
        r#"{"patternProperties":{"^x-":{"type":"string"},"y$":{"minLength":2}},"additionalProperties":{"type":"null"}}"#,
        &[r#"{"x-y":"ab","z":null}"#],
        &[r#"{"x-y":"a"}"#, r#"{"x-":1}"#, r#"{"z":1}"#],
    );
    holds(
        r#"{"minProperties":1,"maxProperties":2}"#,
        &[r#"{"a":1,"b":2}"#],
        &["{}", r#"{"a":1,"b":2,"c":3}"#],
    );
    holds(
        r#"{"propertyNames":{"maxLength":2}}"#,
        &[r#"{"ab":1}"#, r#"{"\u0061b":1}"#],
        &[r#"{"abc":1}"#],
    );
    holds(
        r#"{"dependentRequired":{"card":["address"]},"dependentSchemas":{"a":{"maxProperties":1}}}"#,
        &["{}", r#"{"card":1,"address":2}"#, r#"{"a":1}"#],
        &[r#"{"card":1}"#, r#"{"a":1,"b":2}"#],
    );
}

#[test]
fn arrays() {
    holds(
        r#"{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}"#,
        &["[]", r#"["a"]"#, r#"["a",1]"#],
        &["[1]", r#"["a",1,2]"#],
    );
    holds(
        r#"{"items":{"type":"integer"}}"#,
        &["[1,2]", "{}"],
        &["[1,\"a\"]"],
    );
    holds(
        r#"{"minItems":1,"maxItems":2}"#,
        &["[0]"],
        &["[]", "[1,2,3]"],
    );
    holds(
        r#"{"contains":{"const":1},"minContains":2,"maxContains":3}"#,
        &["[1,0,1.0]"],
        &["[1]", "[1,1,1,1]"],
    );
    holds(
        r#"{"contains":{"const":1},"minContains":0}"#,
        &["[]", "[2]"],
        &[],
    );
    holds(
        r#"{"uniqueItems":true}"#,
        &["[1,2]", r#"[{"a":1},{"a":2}]"#, "[1,true]", "[[0],[false]]"],
        &[
            "[1,1.0]",
            r#"["a","\u0061"]"#,
            r#"[{"a":1,"b":[2]},{"b":[2.0],"a":1e0}]"#,
        ],
    );
    holds(r#"{"uniqueItems":false}"#, &["[1,1]"], &[]);
}

#[test]
fn logic() {
    holds(
        r#"{"allOf":[{"minimum":1},{"maximum":2}]}"#,
        &["1", "2"],
        &["0", "3"],
    );
    holds(
        r#"{"anyOf":[{"type":"string"},{"minimum":2}]}"#,
        &["\"a\"", "2"],
        &["1"],
    );
    holds(
        r#"{"oneOf":[{"multipleOf":2},{"multipleOf":3}]}"#,
        &["2", "3"],
        &["6", "1"],
    );
    holds(r#"{"not":{"type":"null"}}"#, &["0"], &["null"]);
    holds(
        r#"{"if":{"type":"string"},"then":{"minLength":1},"else":{"type":"integer"}}"#,
        &["\"a\"", "1"],
        &["\"\"", "null"],
    );
    holds(r#"{"then":false,"else":false}"#, &["1"], &[]);
    holds(r#"{"if":false,"else":{"const":1}}"#, &["1"], &["2"]);
}

#[test]
fn references() {
    holds(
        r##"{"$defs":{"node":{"properties":{"next":{"$ref":"#/$defs/node"},"v":{"type":"integer"}}}},"$ref":"#/$defs/node"}"##,
        &[r#"{"next":{"next":{"v":1}}}"#],
        &[r#"{"next":{"next":{"v":"x"}}}"#],
    );
    holds(
        r##"{"$id":"https://example.com/root","$defs":{"a":{"$id":"item","$anchor":"here","type":"string"},"~/%":{"type":"null"}},
        "anyOf":[{"$ref":"item#here"},{"$ref":"#/$defs/~0~1%25"},{"$ref":"https://example.com/item"}]}"##,
        &["\"a\"", "null"],
        &["1"],
    );
}

#[test]
fn dynamic_references_see_the_outermost_anchor() {
    let tree = r##""$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node","type":"object",
        "properties":{"data":true,"children":{"type":"array","items":{"$dynamicRef":"#node"}}}}}"##;
    holds(
        &format!(
            r#"{{"$id":"https://example.com/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,{tree}}}"#
        ),
        &[r#"{"children":[{"data":1}]}"#],
        &[r#"{"children":[{"daat":1}]}"#],
    );
    holds(
        &format!(
            r#"{{"$id":"https://example.com/lax","$ref":"tree","unevaluatedProperties":false,{tree}}}"#
        ),
        &[r#"{"children":[{"daat":1}]}"#],
        &[r#"{"daat":1}"#],
    );
}

#[test]
fn unevaluated_properties() {
    holds(
        r#"{"properties":{"a":true},"allOf":[{"properties":{"b":true}}],"unevaluatedProperties":false}"#,
        &[r#"{"a":1,"b":1}"#],
        &[r#"{"a":1,"c":1}"#],
    );
    holds(
        r#"{"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":true},"required":["b"]}],"unevaluatedProperties":{"type":"null"}}"#,
        &[r#"{"a":1,"b":2}"#, r#"{"b":2,"a":null}"#],
        &[r#"{"a":2,"b":2}"#],
    );
    holds(
        r#"{"if":{"properties":{"k":{"const":"x"}},"required":["k"]},"then":{"properties":{"x":true}},"else":{"properties":{"k":true}},"unevaluatedProperties":false}"#,
        &[r#"{"k":"x","x":1}"#, r#"{"k":"y"}"#],
        &[r#"{"k":"y","x":1}"#],
    );
    holds(
        r#"{"not":{"not":{"properties":{"a":true}}},"unevaluatedProperties":false}"#,
        &["{}"],
        &[r#"{"a":1}"#],
    );
    holds(
        r#"{"patternProperties":{"^p":true},"dependentSchemas":{"p":{"properties":{"q":true}}},"unevaluatedProperties":false}"#,
        &[r#"{"p":1,"q":1}"#],
        &[r#"{"px":1,"q":1}"#],
    );
    holds(
        r#"{"allOf":[{"additionalProperties":true}],"unevaluatedProperties":false}"#,
        &[r#"{"a":1}"#],
        &[],
    );
}

#[test]
fn unevaluated_items() {
    holds(
        r#"{"prefixItems":[true],"allOf":[{"prefixItems":[true,{"type":"integer"}]}],"unevaluatedItems":false}"#,
        &["[0,1]"],
        &["[0,1,2]"],
    );
    holds(
        r#"{"contains":{"type":"string"},"unevaluatedItems":{"type":"integer"}}"#,
        &[r#"["a",1,"b"]"#],
        &[r#"["a",null]"#],
    );
    holds(
        r#"{"oneOf":[{"prefixItems":[{"const":1}]},{"items":{"const":2}}],"unevaluatedItems":false}"#,
        &["[1]", "[2,2]"],
        &["[1,2]"],
    );
}

#[test]
fn unknown_keywords_and_formats_are_annotations() {
    holds(
        r#"{"format":"email","contentMediaType":"application/json","x-custom":{"type":"null"},"title":"t","deprecated":true}"#,
        &["\"not an address\"", "1"],
        &[],
    );
}

#[test]
fn declared_names_are_known() {
    let schema = compile(
        r#"{"properties":{"a":{"properties":{"b":true}}},"required":["c"],"dependentRequired":{"d":["e"]},"$defs":{"x":{"properties":{"f":true}}}}"#,
    );
    for name in ["a", "b", "c", "d", "e"] {
        assert!(schema.declares(name), "{name}");
    }
    for name in ["x", "properties", "z", ""] {
        assert!(!schema.declares(name), "{name}");
    }
}

/// Short names are compared as one number, so what looks alike in it is tried: NUL, other alphabets, every length.
#[test]
fn names_are_told_apart_whatever_their_length_and_spelling() {
    holds(
        r#"{"properties":{"a\u0000":{"type":"null"},"b":{"type":"null"}},"additionalProperties":{"type":"integer"}}"#,
        &[r#"{"a":1}"#, r#"{"a\u0000":null}"#, r#"{"\u0062":null}"#],
        &[
            r#"{"a":null}"#,
            r#"{"a\u0000":1}"#,
            r#"{"b":1}"#,
            r#"{"\u0062":1}"#,
        ],
    );
    holds(
        r#"{"properties":{"":{"type":"null"},"é":{"type":"null"},"seven77":{"type":"null"},"eight888":{"type":"null"}},
            "additionalProperties":{"type":"integer"}}"#,
        &[
            r#"{"":null,"é":null,"seven77":null,"eight888":null}"#,
            r#"{"\u00e9":null,"seven7":1,"eight88":1,"seven777":1,"eight8888":1,"\u0000":1}"#,
        ],
        &[
            r#"{"":1}"#,
            r#"{"é":1}"#,
            r#"{"\u00e9":1}"#,
            r#"{"seven77":1}"#,
            r#"{"eight888":1}"#,
            r#"{"\u0000":null}"#,
        ],
    );
}

#[test]
fn optional_values_pass_by_their_type_and_containers_are_still_looked_into() {
    holds(
        r#"{"properties":{"x":{"type":["integer","string","null"],"anyOf":[{"type":"number"},{"type":"null"},{"minLength":2}]}}}"#,
        &[
            r#"{"x":1}"#,
            r#"{"x":1.0}"#,
            r#"{"x":null}"#,
            r#"{"x":"ab"}"#,
        ],
        &[r#"{"x":1.5}"#, r#"{"x":"a"}"#, r#"{"x":[]}"#],
    );
    holds(
        r#"{"anyOf":[{"type":"object"},{"properties":{"a":true}}],"unevaluatedProperties":false}"#,
        &[r#"{"a":1}"#, "{}"],
        &[r#"{"b":1}"#],
    );
}
