use super::*;

const OBJECT: &str = r#"{"listen":   "127.0.0.1:1",
  "mcpServers": {
    "old": {"command": "old", "args": ["x"]},
    "My Files": {
      "command": "k",
      "env": {"T": "${env:T}"}
    }
  }
}"#;

fn add(name: &str) -> ServerChange {
    ServerChange::Add {
        name: name.to_owned(),
        definition: r#"{"url": "https://x.example/"}"#.to_owned(),
    }
}

fn apply(change: &ServerChange, file: &str) -> String {
    change.apply(file).expect("changed")
}

#[test]
fn everything_else_stays_as_it_was_written() {
    let added = apply(&add("new"), OBJECT);
    let entry = "\n    },\n    \"new\": {\"url\": \"https://x.example/\"}\n  }\n}";
    assert_eq!(added, OBJECT.replace("\n    }\n  }\n}", entry));
    let removed = apply(&ServerChange::Remove("new".to_owned()), &added);
    assert_eq!(removed, OBJECT);
    let disabled = apply(&ServerChange::Disable("my-files".to_owned()), OBJECT);
    let with_key = OBJECT.replace("${env:T}\"}", "${env:T}\"},\n      \"enabled\": false");
    assert_eq!(disabled, with_key);
    let enabled = apply(&ServerChange::Enable("My Files".to_owned()), &disabled);
    assert_eq!(enabled, with_key.replace("false", "true"));
    let removed = apply(&ServerChange::Remove("my-files".to_owned()), OBJECT);
    let value: Value = serde_json::from_str(&removed).expect("JSON");
    assert_eq!(value["mcpServers"].as_object().expect("servers").len(), 1);
}

#[test]
fn a_list_keeps_its_form() {
    let list = "{\"mcpServers\": [\n  {\"name\": \"a\", \"command\": \"x\"},\n  {\"name\": \"b\", \"command\": \"y\", \"disabled\": true}\n]}";
    let added = apply(&add("c"), list);
    let entry = "true},\n  {\"name\":\"c\",\"url\": \"https://x.example/\"}\n]}";
    assert_eq!(added, list.replace("true}\n]}", entry));
    for (name, left) in [("a", ["b", "c"]), ("b", ["a", "c"]), ("c", ["a", "b"])] {
        let removed = apply(&ServerChange::Remove(name.to_owned()), &added);
        let value: Value = serde_json::from_str(&removed).expect("JSON");
        let names = [0, 1].map(|at| value["mcpServers"][at]["name"].as_str().expect("a name"));
        assert_eq!(names, left, "{removed}");
    }
    let enabled = apply(&ServerChange::Enable("b".to_owned()), list);
    assert_eq!(enabled, list.replace("true", "false"));
    let one = r#"{"mcpServers": [ {"name": "a"} ]}"#;
    assert_eq!(
        apply(&ServerChange::Remove("a".to_owned()), one),
        r#"{"mcpServers": []}"#
    );
}

#[test]
fn a_file_may_be_empty() {
    for (file, expected) in [
        (
            "{}\n",
            "{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"https://x.example/\"}\n  }\n}\n",
        ),
        (
            "{\"mcpServers\": {}}",
            "{\"mcpServers\": {\n    \"a\": {\"url\": \"https://x.example/\"}\n  }}",
        ),
        (
            "{\"listen\": \":1\"}",
            "{\"listen\": \":1\",\"mcpServers\": {\n    \"a\": {\"url\": \"https://x.example/\"}\n  }}",
        ),
    ] {
        assert_eq!(apply(&add("a"), file), expected);
    }
}

#[test]
fn what_changes_nothing_leaves_the_text() {
    for change in [
        ServerChange::Enable("old".to_owned()),
        ServerChange::Disable("off".to_owned()),
    ] {
        let file = r#"{"mcpServers": {"old": {}, "off": {"enabled": false}}}"#;
        assert_eq!(apply(&change, file), file);
    }
}

#[test]
fn what_cannot_be_done_is_refused_with_the_next_step() {
    let refused = |change: &ServerChange, file: &str| {
        let error = change.apply(file).expect_err("refused");
        (error.to_string(), error.hint().unwrap_or_default())
    };
    let (message, hint) = refused(&add("old"), OBJECT);
    assert_eq!(message, "there is a server named \"old\" already");
    assert!(hint.contains("another name"), "{hint}");
    // The name that the gateway gives a server of the file is taken too.
    assert!(refused(&add("my-files"), OBJECT).0.contains("already"));
    let (message, hint) = refused(&ServerChange::Remove("odl".to_owned()), OBJECT);
    assert_eq!(message, "there is no server named \"odl\"");
    assert_eq!(hint, "did you mean \"old\"? the servers are: my-files, old");
    let (message, _) = refused(&add("Bad Name"), OBJECT);
    assert!(message.contains("cannot be the name"), "{message}");
    let held = r#"{"mcpServers": {"q": {"command": "x", "quarantined": true}}}"#;
    let (message, hint) = refused(&ServerChange::Enable("q".to_owned()), held);
    assert_eq!(message, "the server \"q\" is quarantined");
    assert!(hint.contains("remove \"quarantined\""), "{hint}");
    for broken in ["[]", "{", r#"{"mcpServers": 1}"#] {
        let error = add("a").apply(broken).expect_err("refused");
        assert!(matches!(error, ServerChangeError::File(_)), "{broken}");
    }
}

#[test]
fn a_server_over_the_api_is_an_object_with_a_name() {
    assert_eq!(
        ServerChange::add(r#"{"url": "https://x.example/", "name": "a"}"#).expect("a server"),
        ServerChange::Add {
            name: "a".to_owned(),
            definition: r#"{"url": "https://x.example/"}"#.to_owned(),
        }
    );
    for text in [
        "",
        "[]",
        "{}",
        r#"{"name": 1}"#,
        r#"{"name": "a", "name": "b"}"#,
    ] {
        assert!(ServerChange::add(text).is_err(), "{text}");
    }
}
