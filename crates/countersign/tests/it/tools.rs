//! `countersign tools`: what a running gateway says about one tool.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::gateway::RunningGateway;
use crate::support::{CommandOutput, Folder};

/// Two tools: one with a schema that cannot be enforced and a description that would steer a terminal and a model, and one
/// whose name needs to be encoded in a URL and whose description is not cleaned.
fn script() -> Value {
    let hostile = "Reads a file.\nSecond line.\u{1b}[2J <|im_start|>";
    json!({"name": "x", "tools": [
        {"tool": {"name": "read", "description": hostile,
                  "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
                  "outputSchema": {"$ref": "https://schemas.example/file"}},
         "result": {"content": []}},
        {"tool": {"name": "a/b+c d", "description": "Clears\u{1b}[2J", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}},
         "result": {"content": []}},
    ]})
}

fn folder() -> Folder {
    let fixture = countersign_fixture::executable().expect("the fixture is built");
    let server = json!({"command": fixture, "args": ["stdio", "--script", "script.json"], "profile": "hardened",
                        "tools": {"read": {"output_validation": {"mode": "warn"}},
                                  "a/b+c d": {"output_sanitisation": {"mode": "off"}}}});
    let folder = Folder::over(&json!({ "files": server }), &[]);
    std::fs::write(folder.path().join("script.json"), script().to_string()).expect("written");
    folder
}

fn show(folder: &Folder, words: &[&str]) -> CommandOutput {
    let mut command = crate::support::binary();
    command.current_dir(folder.path()).args(["tools", "show"]);
    command.args(words);
    command.args(["--config", "c.json", "--data-dir", "data"]);
    crate::support::finish(&mut command, b"")
}

#[test]
fn tools_show_has_the_declaration_the_mode_and_which_key_set_it() {
    let folder = folder();
    let gateway = RunningGateway::start(&folder, "serve --config c.json");
    gateway.all_up(1);
    let read = show(&folder, &["files:read"]);
    assert_snapshot!(read, @r#"
    exit: 0
    --- stdout
    tool           files:read
    on the wire    files__read
    called with    call_tool_destructive
    mode           warn, set by mcpServers.files.tools.read.output_validation.mode
    enforceable    no: external $ref is never fetched: https://schemas.example/file
    free text      yes
    classifiers    none
    screened       no: no classifier is configured
    description
      Reads a file.
      Second line. (removed: control token)
    input schema
      {
        "properties": {
          "path": {
            "type": "string"
          }
        },
        "type": "object"
      }
    output schema
      {
        "$ref": "https://schemas.example/file"
      }
    --- stderr
    "#);
    let odd = show(&folder, &["files:a/b+c d"]);
    assert_eq!(odd.code, Some(0), "{odd}");
    for line in [
        "mode           strict, set by mcpServers.files.profile\n",
        "enforceable    yes: results that break it are blocked\n",
        "description\n  Clears\\u{1b}[2J\n",
    ] {
        assert!(odd.stdout.contains(line), "{odd}");
    }
    let read = show(&folder, &["files:read", "-o", "json"]);
    assert_eq!(read.stdout.lines().count(), 1, "{read}");
    let read: Value = serde_json::from_str(&read.stdout).expect("JSON");
    assert_eq!(read["output_validation"]["source"], "tool");
    assert_eq!(read["output_validation"]["enforceable"], false);
    assert_eq!(
        read["declaration"]["outputSchema"]["$ref"],
        "https://schemas.example/file"
    );
}
