//! What references and secrets become.

use std::path::Path;

use countersign_config::Environment;
use serde_json::{Value, json};

use super::super::definition::ParsedDefinition;
use super::{Context, FileFormat, TranslatedDefinition, translate};

fn lookup(name: &str) -> Option<String> {
    let set = [("REGION", "north"), ("SET_TOKEN", "s3cret-token")];
    let found = set.iter().find(|(key, _)| *key == name);
    found.map(|(_, value)| (*value).to_owned())
}

fn translate_server(
    file_format: FileFormat,
    inputs: &Value,
    server: &Value,
) -> Result<TranslatedDefinition, String> {
    let environment = Environment::new(lookup, Some("/home/me".into()));
    let context = Context {
        file_format,
        environment: &environment,
        workspace: Some(Path::new("/srv/shop")),
        inputs,
    };
    let read = ParsedDefinition::from_settings(server).expect("readable");
    translate(&context, "git-hub", &read.definition)
}

/// What became of a server, without the secrets.
fn shown(translated: &TranslatedDefinition) -> String {
    let members: Value = translated.definition.members().into_iter().collect();
    let mut lines = vec![members.to_string()];
    lines.extend(
        translated
            .secrets
            .iter()
            .map(|secret| format!("moved {}", secret.variable)),
    );
    lines.extend(
        translated
            .needed
            .iter()
            .map(|needed| format!("needed {}: {}", needed.variable, needed.why)),
    );
    lines.join("\n")
}

#[test]
fn secrets_become_variables() {
    let server = json!({"command": "npx", "args": ["-y"], "env": {
        "GIT_HUB_TOKEN": "ghp_0123456789", "api-key": "k", "LEVEL": "info", "ODD": "xoxb-1234567890",
    }});
    let translated = translate_server(FileFormat::Desktop, &Value::Null, &server).expect("usable");
    insta::assert_snapshot!(shown(&translated), @r#"
    {"args":["-y"],"command":"npx","env":{"GIT_HUB_TOKEN":"${env:GIT_HUB_TOKEN}","LEVEL":"info","ODD":"${env:GIT_HUB_ODD}","api-key":"${env:GIT_HUB_API_KEY}"}}
    moved GIT_HUB_TOKEN
    moved GIT_HUB_ODD
    moved GIT_HUB_API_KEY
    "#);
    let server = json!({"url": "https://x.example", "headers": {"Authorization": "Bearer abc", "X-Region": "north"}});
    let translated = translate_server(FileFormat::Desktop, &Value::Null, &server).expect("usable");
    insta::assert_snapshot!(shown(&translated), @r#"
    {"headers":{"Authorization":"Bearer ${env:GIT_HUB_TOKEN}","X-Region":"north"},"url":"https://x.example"}
    moved GIT_HUB_TOKEN
    "#);
    assert_eq!(translated.secrets[0].value, "abc");
}

#[test]
fn references_of_clients_become_ours() {
    let inputs = json!([
        {"id": "token", "type": "promptString", "description": "GitHub\ntoken", "password": true, "default": "never"},
        {"id": "port", "type": "promptString", "default": "80"},
    ]);
    let server = json!({"command": "${userHome}/bin/x", "cwd": "${workspaceFolder}/a", "args": ["--port", "${input:port}", "${env:REGION}${/}y", "${workspaceFolderBasename}"],
        "env": {"A": "Bearer ${input:token}", "B": "${env:SET_TOKEN}", "C": "${env:UNSET}", "D": "${keyring:my key}", "E": "${other}", "F": "${open"}});
    let translated = translate_server(FileFormat::VsCode, &inputs, &server).expect("usable");
    insta::assert_snapshot!(shown(&translated), @r#"
    {"args":["--port","80","north/y","shop"],"command":"/home/me/bin/x","env":{"A":"Bearer ${env:TOKEN}","B":"${env:SET_TOKEN}","C":"${env:UNSET}","D":"${env:MY_KEY}","E":"${other}","F":"${open"},"working_dir":"/srv/shop/a"}
    needed TOKEN: the client asks its user for it: GitHubtoken
    needed UNSET: C refers to it
    needed MY_KEY: it was in the keyring of mcpproxy
    "#);
    let code = json!({"command": "x", "env": {"A": "${SET_TOKEN}", "B": "${UNSET:-plain}"}});
    let translated = translate_server(FileFormat::Desktop, &Value::Null, &code).expect("usable");
    insta::assert_snapshot!(shown(&translated), @r#"{"command":"x","env":{"A":"${env:SET_TOKEN}","B":"plain"}}"#);
}

#[test]
fn a_secret_is_never_written_where_others_see_it() {
    for server in [
        json!({"command": "x", "args": ["${env:SET_TOKEN}"]}),
        json!({"command": "x", "args": ["${input:token}"]}),
        json!({"url": "https://x.example/?key=${env:UNSET}"}),
    ] {
        let refused = translate_server(FileFormat::VsCode, &Value::Null, &server)
            .expect_err("no place for it");
        assert!(refused.contains("references are replaced in"), "{refused}");
        assert!(!refused.contains("s3cret"), "{refused}");
    }
    let literal = json!({"command": "x", "args": ["--key", "sk-0123456789"]});
    let translated = translate_server(FileFormat::Desktop, &Value::Null, &literal).expect("usable");
    assert_eq!(translated.notes.len(), 1);
}
