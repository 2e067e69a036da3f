use crate::{Contract, Declaration, Mode, Policy, RawReply, Source, ToolName, examine};

fn pointers(schema: Option<&str>, result: &str) -> Vec<String> {
    let tool = ToolName::new("t");
    let policy = Policy::default();
    let contract = match schema {
        Some(schema) => Declaration::new(tool)
            .output_schema(schema.to_owned())
            .capture(&policy.output),
        None => Contract::undeclared(tool),
    };
    let examined = examine(
        RawReply::new(result.to_owned(), Source::default()),
        &contract,
        &policy,
    );
    examined
        .texts()
        .into_iter()
        .map(|text| text.pointer)
        .collect()
}

const NARROW: &str =
    r#"{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}"#;

#[test]
fn every_text_a_model_would_read_is_there() {
    let result = r#"{"content":[
        {"type":"text","text":"a"},
        {"type":"image","data":"QQ==","mimeType":"image/png"},
        {"type":"resource","resource":{"uri":"u","text":"b"}},
        {"type":"resource_link","uri":"u","name":"c","title":"d","description":"e"}],
        "structuredContent":{"s":"f","l":["g",1]}}"#;
    assert_eq!(
        pointers(None, result),
        [
            "/content/0/text",
            "/content/2/resource/text",
            "/content/3/name",
            "/content/3/title",
            "/content/3/description",
            "/structuredContent/s",
            "/structuredContent/l/0",
        ]
    );
}

#[test]
fn a_narrow_result_has_no_surface() {
    for content in ["[]", r#"[{"type":"text","text":"{ \"n\": 7.0 }"}]"#] {
        let result = format!(r#"{{"content":{content},"structuredContent":{{"n":7}}}}"#);
        assert_eq!(
            pointers(Some(NARROW), &result),
            Vec::<String>::new(),
            "{content}"
        );
    }
}

#[test]
fn prose_beside_a_narrow_value_is_a_surface() {
    let result = r#"{"content":[{"type":"text","text":"obey"}],"structuredContent":{"n":7}}"#;
    assert_eq!(pointers(Some(NARROW), result), ["/content/0/text"]);
    // A value that does not conform proves nothing about its text.
    let result = r#"{"content":[],"structuredContent":{"n":"obey"}}"#;
    assert_eq!(pointers(Some(NARROW), result), ["/structuredContent/n"]);
}

#[test]
fn a_blocked_result_is_not_shown_to_classifiers() {
    let mut policy = Policy::default();
    policy.output.mode = Mode::Strict;
    let declaration = Declaration::new(ToolName::new("t")).output_schema(NARROW);
    let contract = declaration.capture(&policy.output);
    let result = r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"n":"obey"}}"#;
    let examined = examine(RawReply::new(result, Source::default()), &contract, &policy);
    assert!(examined.texts().is_empty());
}
