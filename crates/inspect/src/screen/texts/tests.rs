use crate::{Contract, Declaration, Mode, Policy, RawReply, Source, ToolName, examine};

fn pointers(schema: Option<&str>, result: &str) -> Vec<String> {
    let tool = ToolName::new("t");
    let policy = Policy {
        max_message_depth: 1_000_000,
        ..Policy::default()
    };
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
fn what_is_said_by_other_methods_is_there_too() {
    let picture = "QUJD".repeat(100);
    for (result, expected) in [
        (
            r#"{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"a b"}},{"role":"user","content":[{"type":"resource","resource":{"uri":"u:1","text":"c d"}}]}]}"#.to_owned(),
            &["/description", "/messages/0", "/messages/1", "/messages/1", "/messages/1"][..],
        ),
        (
            format!(r#"{{"messages":[{{"role":"user","content":{{"type":"text","data":"{picture}"}}}}]}}"#),
            &[],
        ),
        (r#"{"contents":[{"uri":"a:b","text":"t"},{"uri":"a:c","blob":"QQ=="}]}"#.to_owned(), &["/contents/0/text"]),
        (r#"{"completion":{"values":["x y"]}}"#.to_owned(), &["/completion"]),
        (r#"{"prompts":[{"name":"p","description":"a list"}]}"#.to_owned(), &[]),
    ] {
        assert_eq!(pointers(None, &result), expected, "{result}");
    }
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no way","data":{"why":["so so"]}}}"#;
    let raw = RawReply::new(error, Source::default());
    let contract = Contract::undeclared(ToolName::new("t"));
    let examined = examine(raw, &contract, &Policy::default());
    let texts: Vec<String> = examined
        .texts()
        .iter()
        .map(|it| it.text.to_string())
        .collect();
    assert_eq!(texts, ["no way", "so so"]);
}

#[test]
fn a_request_of_a_server_is_all_text() {
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"your key?","_meta":{"a":"b c"},"requestedSchema":{"type":"object","properties":{"k":{"type":"string","description":"the key"}}}}}"#;
    let note = crate::Note::request(message, b"7", &crate::NotePolicy::default());
    let note = note.expect("a request");
    let texts: Vec<String> = note.texts().iter().map(|it| it.text.to_string()).collect();
    assert_eq!(texts, ["your key?", "the key"]);
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

#[test]
fn a_name_that_could_carry_a_message_is_a_text() {
    let result =
        r#"{"structuredContent":{"plain_name":1,"do as I say":2,"ok":{"\u0069gnore it":"x"}}}"#;
    assert_eq!(
        pointers(None, result),
        [
            "/structuredContent/do as I say",
            "/structuredContent/ok/ignore it",
            "/structuredContent/ok/ignore it",
        ]
    );
}

#[test]
fn nothing_is_too_deep_to_be_read() {
    let depth = 200_000;
    let (open, close) = (r#"{"a":"#.repeat(depth), "}".repeat(depth));
    let result = format!(r#"{{"structuredContent":{open}"prose"{close}}}"#);
    assert_eq!(pointers(None, &result), ["/structuredContent"]);
    let (open, close) = (r#"{"resource":"#.repeat(depth), "}".repeat(depth));
    let block = format!(r#"{{"type":"resource","text":"a","resource":{open}1{close}}}"#);
    let result = format!(r#"{{"content":[{block}]}}"#);
    assert_eq!(pointers(None, &result), ["/content/0/text"]);
}

#[test]
fn a_long_name_is_not_repeated_for_every_string() {
    let (name, strings) = ("n".repeat(1 << 20), r#""s","#.repeat(1 << 18));
    let result = format!(r#"{{"structuredContent":{{"{name}":[{strings}"s"]}}}}"#);
    let pointers = pointers(None, &result);
    assert_eq!(pointers.len(), (1 << 18) + 2);
    assert!(
        pointers
            .iter()
            .all(|pointer| pointer == "/structuredContent")
    );
}

#[test]
fn the_operator_knows_better_what_is_free_text() {
    let codes =
        r#"{"type":"object","properties":{"s":{"type":"string"}},"additionalProperties":false}"#;
    let screened = |schema: &str, result: &str, free_text| {
        let policy = Policy {
            free_text,
            ..Policy::default()
        };
        let declaration = Declaration::new(ToolName::new("t"));
        let contract = declaration
            .output_schema(schema.to_owned())
            .capture(&policy.output);
        let raw = RawReply::new(result.to_owned(), Source::default());
        examine(raw, &contract, &policy).texts().len()
    };
    let result = r#"{"structuredContent":{"s":"AB-12"}}"#;
    assert_eq!(screened(codes, result, None), 1);
    assert_eq!(screened(codes, result, Some(false)), 0);
    assert_eq!(
        screened(codes, r#"{"structuredContent":{"s":1}}"#, Some(false)),
        0
    );
    assert_eq!(
        screened(codes, r#"{"structuredContent":{"x":"y"}}"#, Some(false)),
        1
    );
    let number = r#"{"structuredContent":{"n":5}}"#;
    assert_eq!(screened(NARROW, number, None), 0);
    assert_eq!(
        screened(
            NARROW,
            r#"{"structuredContent":{"n":5},"content":[{"type":"text","text":"{\"n\":5}"}]}"#,
            Some(true)
        ),
        1
    );
}
