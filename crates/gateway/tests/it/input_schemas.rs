//! The `inputSchema` of a tool is what a model makes its arguments from. A client sees it as the server wrote it, whether
//! the gateway can enforce it or not.

use countersign_fixture::{Script, Tool};
use serde_json::{Value, json};

use crate::support::{Rig, result, scripted, text};

/// Schemas of tools, by the name of the tool. The compiler refuses all but the draft-04 and the draft-06 one.
const SHOWN: [(&str, &str); 6] = [
    (
        "look_around",
        r#"{ "type":"object", "properties":{"word":{"type":"string","pattern":"^(?=.*a)(?!b).+$"}},"required":["word"] }"#,
    ),
    (
        "draft_04",
        r#"{"$schema":"http:\/\/json-schema.org/draft-04/schema#","id":"word","type":"object","properties":{"n":{"type":"integer","minimum":0,"exclusiveMinimum":true}},"required":["n"]}"#,
    ),
    (
        "draft_06",
        r#"{"$schema":"http://json-schema.org/draft-06/schema#","type":"object","properties":{"n":{"exclusiveMinimum":0.0}}}"#,
    ),
    (
        "unknown_draft",
        r#"{"$schema":"http://json-schema.org/draft-03/schema#","type":"object","properties":{"n":{"type":"any","required":true}}}"#,
    ),
    (
        "external_ref",
        r#"{"type":"object","properties":{"place":{"$ref":"https://example.com/place.json"}},"required":["place"]}"#,
    ),
    (
        "numeric_flag",
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"n":{"exclusiveMinimum":1}}}"#,
    ),
];

/// Schemas that would make some client refuse the whole list.
const REPLACED: [(&str, &str); 5] = [
    ("array", "[]"),
    ("typeless", r#"{"properties":{"n":{"pattern":"("}}}"#),
    ("two_types", r#"{"type":"object","type":"array"}"#),
    (
        "list_of_properties",
        r#"{"type":"object","properties":["n"]}"#,
    ),
    ("required_flag", r#"{"type":"object","required":true}"#),
];

fn declared(name: &str, schema: &str) -> Tool {
    let tool = format!(
        r#"{{"name":"{name}","description":"Counts penguins.","inputSchema":{schema},"annotations":{{"readOnlyHint":true}}}}"#
    );
    Tool::new(tool).result(r#"{"content":[]}"#)
}

fn script() -> Script {
    let tools = SHOWN.iter().chain(&REPLACED);
    tools.fold(Script::new("s"), |script, (name, schema)| {
        script.tool(declared(name, schema))
    })
}

/// Each tool with the text that its list must have.
fn expected() -> impl Iterator<Item = (&'static str, &'static str)> {
    let replaced = REPLACED.map(|(name, _)| (name, r#"{"type":"object"}"#));
    SHOWN.into_iter().chain(replaced)
}

#[tokio::test]
async fn lists_show_the_input_schema_as_it_came_to_every_era() {
    let (server, _folder) = scripted("x", &script());
    let rig = Rig::over(vec![server]).await;
    for (path, prefix) in [("/mcp/s/x", ""), ("/mcp/all", "x__")] {
        let legacy = rig.client(path).handshake("2025-11-25").await;
        let legacy = legacy.expect("a session").request("tools/list", "{}").await;
        let modern = rig.client(path).modern("tools/list", "{}").await;
        let neither = rig.client(path).request("tools/list", "{}").await;
        for list in [legacy, modern, neither] {
            let list = text(&list.expect("an answer").body);
            for (name, schema) in expected() {
                let tool = format!(
                    r#"{{"name":"{prefix}{name}","description":"Counts penguins.","inputSchema":{schema},"annotations""#
                );
                assert!(list.contains(&tool), "{path} {name}: {list}");
            }
        }
    }
}

#[tokio::test]
async fn router_tools_show_the_input_schema_as_it_came() {
    let (server, _folder) = scripted("x", &script());
    let rig = Rig::over(vec![server]).await;
    for path in ["/mcp", "/mcp/call"] {
        let client = rig.client(path);
        let arguments = json!({"query": "penguins", "limit": 50}).to_string();
        let found = client.call("retrieve_tools", &arguments).await;
        let found = shown(&result(&found.expect("an answer")));
        for (name, schema) in expected() {
            let arguments = json!({ "name": format!("x:{name}") }).to_string();
            let described = client.call("describe_tool", &arguments).await;
            let described = shown(&result(&described.expect("an answer")));
            for (router, answer) in [("retrieve_tools", &found), ("describe_tool", &described)] {
                assert!(
                    answer.contains(&format!(r#""inputSchema":{schema}"#)),
                    "{path} {router} {name}: {answer}"
                );
            }
        }
    }
}

/// The text block of an answer.
fn shown(result: &str) -> String {
    let result: Value = serde_json::from_str(result).expect("JSON");
    let text = result["content"][0]["text"].as_str();
    text.expect("a text").to_owned()
}

#[tokio::test]
async fn a_schema_that_does_not_compile_is_cleaned_like_any_other() {
    let poisoned = r#"{"type":"object","properties":{"word":{"type":"string","description":"a <|im_start|>word","pattern":"(?=a)"}}}"#;
    let script = Script::new("s").tool(declared("poisoned", poisoned));
    let (server, _folder) = scripted("x", &script);
    let rig = Rig::over(vec![server]).await;
    let list = rig.client("/mcp/s/x").request("tools/list", "{}").await;
    let cleaned = poisoned.replace("<|im_start|>", "(removed: control token)");
    let list = text(&list.expect("an answer").body);
    assert!(list.contains(&cleaned), "{list}");
}

#[tokio::test]
async fn arguments_are_held_to_drafts_4_and_6() {
    let (mut server, _folder) = scripted("x", &script());
    server.input.mode = Some(countersign_inspect::Mode::Strict);
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    for (tool, arguments, accepted) in [
        ("draft_04", r#"{"n":1}"#, true),
        ("draft_04", r#"{"n":0}"#, false),
        ("draft_04", r#"{"n":1.0}"#, false),
        ("draft_06", r#"{"n":1}"#, true),
        ("draft_06", r#"{"n":0}"#, false),
    ] {
        let answer = client.call(tool, arguments).await.expect("an answer");
        let answer: Value = serde_json::from_str(&result(&answer)).expect("JSON");
        let refused = answer["isError"] == true;
        assert_eq!(refused, !accepted, "{tool} {arguments}: {answer}");
    }
}
