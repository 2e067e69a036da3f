use super::*;
use crate::config::OutputValidation;

fn captured(tool: &str) -> Contract {
    let declaration = Declaration::read(tool.as_bytes()).expect("a tool");
    declaration
        .server("stub")
        .generation(3)
        .capture(&OutputValidation::default())
}

fn output(schema: &str) -> Contract {
    captured(&format!(r#"{{"name":"t","outputSchema":{schema}}}"#))
}

#[test]
fn a_declaration_is_kept_as_received() {
    let contract = captured(
        r#"{"name":"t","inputSchema":{ "type":"object" },"outputSchema":{"type" : "integer"},"x":1}"#,
    );
    assert_eq!(contract.tool().to_string(), "stub:t");
    assert_eq!(contract.generation(), 3);
    let schema = contract.output().expect("declared");
    assert_eq!(schema.bytes(), br#"{"type" : "integer"}"#);
    assert_eq!(
        schema.digest(),
        crate::Digest::sha256(br#"{"type" : "integer"}"#)
    );
    assert_eq!(
        contract.input().expect("declared").bytes(),
        br#"{ "type":"object" }"#
    );
    assert_eq!(contract.diagnostics(), &[]);
}

#[test]
fn what_is_not_a_declaration_is_an_error() {
    for tool in [
        "",
        "[]",
        "{}",
        r#"{"name":7}"#,
        r#"{"name":"a","outputSchema":{},"outputSchema":{}}"#,
    ] {
        let error = Declaration::read(tool.as_bytes()).expect_err(tool);
        assert!(error.is_declaration(), "{tool}");
    }
}

#[test]
fn a_diagnostic_is_told_once_per_generation() {
    let contract = output(r#"{"type":"nothing"}"#);
    assert_eq!(contract.diagnostics().len(), 1);
    assert_eq!(contract.take_diagnostics().len(), 1);
    assert_eq!(contract.take_diagnostics().len(), 0);
    assert_eq!(contract.diagnostics().len(), 1);
}

#[test]
fn diagnostics_say_what_is_wrong() {
    let said = |tool: &str| {
        let contract = captured(tool);
        let lines: Vec<String> = contract
            .diagnostics()
            .iter()
            .map(|told| format!("{} {}: {}", told.member, told.rule, told.detail))
            .collect();
        lines.join("\n")
    };
    insta::assert_snapshot!(said(r#"{"name":"t","outputSchema":{"type":"nothing"}}"#), @"outputSchema contract.uncompilable: invalid schema at /type: not the name of a type");
    insta::assert_snapshot!(said(r#"{"name":"t","outputSchema":{"$ref":"https://x.example/y"}}"#), @"outputSchema contract.external_ref: external $ref is never fetched: https://x.example/y");
    insta::assert_snapshot!(said(r#"{"name":"t","outputSchema":true}"#), @"outputSchema contract.uncompilable: invalid schema at the root: a tool's schema must be an object");
    insta::assert_snapshot!(said(r#"{"name":"t","inputSchema":{"anyOf":[{"type":"object"}]}}"#), @r#"inputSchema contract.not_object: the root does not say "type": "object"; advertised as {"type":"object"}"#);
    insta::assert_snapshot!(said(r#"{"name":"t","inputSchema":"none"}"#), @"inputSchema contract.uncompilable: invalid schema at the root: a schema must be an object or a boolean");
    insta::assert_snapshot!(said(r#"{"name":"t","outputSchema":{"type":"object","x-fastmcp-wrap-result":true}}"#), @"outputSchema contract.wrapped_result: declares x-fastmcp-wrap-result; results are validated as sent, never unwrapped");
}

#[test]
fn free_text_is_derived_and_may_be_overridden() {
    assert!(!output(r#"{"type":"integer"}"#).has_free_text());
    assert!(output(r#"{"type":"string"}"#).has_free_text());
    assert!(output(r#"{"type":"nothing"}"#).has_free_text());
    assert!(captured(r#"{"name":"t"}"#).has_free_text());
    let declaration = Declaration::new(ToolName::new("t")).output_schema(r#"{"type":"string"}"#);
    let contract = declaration
        .free_text(false)
        .capture(&OutputValidation::default());
    assert!(!contract.has_free_text());
}

#[test]
fn a_document_handed_in_resolves_a_reference() {
    let declaration = Declaration::new(ToolName::new("t"))
        .output_schema(r#"{"$ref":"https://x.example/y"}"#)
        .document("https://x.example/y", r#"{"type":"integer"}"#);
    let contract = declaration.capture(&OutputValidation::default());
    assert_eq!(contract.diagnostics(), &[]);
}

#[test]
fn schemas_are_advertised_to_those_who_can_read_them() {
    use Advertise::{Always, Conforming, Never};
    use ClientEra::{Legacy, Modern};
    let object = output(r#"{"type":"object"}"#);
    assert!(object.advertises_output(Legacy, Always, true));
    assert!(object.advertises_output(Legacy, Conforming, false));
    assert!(!object.advertises_output(Legacy, Conforming, true));
    assert!(!object.advertises_output(Modern, Never, false));
    for schema in [
        r#"{"type":"array"}"#,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}"##,
        "{}",
    ] {
        let contract = output(schema);
        assert!(
            !contract.advertises_output(Legacy, Always, false),
            "{schema}"
        );
        assert!(
            contract.advertises_output(Modern, Always, false),
            "{schema}"
        );
    }
    for schema in [
        r#"{"type":"nothing"}"#,
        r#"{"type":"object","$ref":"https://x.example/y"}"#,
        "true",
    ] {
        let contract = output(schema);
        assert!(
            !contract.advertises_output(Modern, Always, false),
            "{schema}"
        );
    }
}

#[test]
fn an_input_schema_is_advertised_whether_it_compiles_or_not() {
    let advertises = |schema: &str| {
        captured(&format!(r#"{{"name":"t","inputSchema":{schema}}}"#)).advertises_input()
    };
    for schema in [
        r#"{"type":"object"}"#,
        r#"{"\u0074ype":"obj\u0065ct"}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","pattern":"(?=a)"}},"required":["a"]}"#,
        r#"{"$schema":"http://json-schema.org/draft-03/schema#","type":"object","properties":{"a":{"type":"any","required":true}}}"#,
        r#"{"type":"object","properties":{"a":{"$ref":"https://x.example/y"},"b":true}}"#,
        r#"{"type":"object","additionalProperties":5,"a":1,"a":2}"#,
    ] {
        assert!(advertises(schema), "{schema}");
    }
    for schema in [
        "{}",
        "[]",
        "true",
        "\"object\"",
        r#"{"type":["object"]}"#,
        r#"{"type":"array","pattern":"("}"#,
        // Clients differ in which of the two they read.
        r#"{"type":"object","type":"array"}"#,
        r#"{"type":"array","type":"object"}"#,
        // The TypeScript SDK refuses the whole list for one of these.
        r#"{"type":"object","properties":[]}"#,
        r#"{"type":"object","properties":{"a":"string"}}"#,
        r#"{"type":"object","required":true}"#,
        r#"{"type":"object","required":[1]}"#,
    ] {
        assert!(!advertises(schema), "{schema}");
    }
    assert!(!captured(r#"{"name":"t"}"#).advertises_input());
    assert!(!captured(r#"{"name":"t","inputSchema":null}"#).advertises_input());
    let deep = format!(
        r#"{{"type":"object","properties":{{"a":{}}}}}"#,
        r#"{"not":"#.repeat(500) + "{}" + &"}".repeat(500)
    );
    assert!(advertises(&deep), "deeper than the compiler takes");
}
