//! Our configuration with servers added or replaced: spans are edited, so everything else in the file stays as its author
//! wrote it. A replaced server keeps the settings that say nothing about how it is reached.

use std::fmt::Write;

use anyhow::anyhow;
use countersign_tape::{Edits, Kind, Limits, Span, Tape};
use serde_json::{Value, json};

use super::definition::KEYS;
use super::plan::{ImportAction, PlannedServer};
use crate::report::Failure;

const LIMITS: Limits = Limits {
    max_bytes: 4 << 20,
    max_depth: 64,
};

/// The file with what is planned. No file is an empty one.
pub(super) fn merged(text: Option<&str>, planned: &[PlannedServer]) -> Result<String, Failure> {
    let text = text.unwrap_or("{}\n");
    let bytes = text.strip_prefix('\u{feff}').unwrap_or(text).as_bytes();
    let broken = |why: String| {
        Failure::usage(anyhow!(why).context("the configuration cannot be merged into"))
            .hint("`countersign config check` says what is wrong with it")
    };
    let tape = Tape::parse(bytes, &LIMITS).map_err(|error| broken(error.to_string()))?;
    if tape.node(0).kind() != Kind::Object || !tape.duplicate_keys().is_empty() {
        return Err(broken("it is not an object with every key once".to_owned()));
    }
    let mut edits = Edits::new(bytes);
    let servers = tape.get(0, "mcpServers");
    let kind = servers.map(|servers| tape.node(servers).kind());
    if kind.is_some_and(|kind| !matches!(kind, Kind::Array | Kind::Object)) {
        return Err(broken(
            "its \"mcpServers\" is neither a list nor an object".to_owned(),
        ));
    }
    let is_list = kind == Some(Kind::Array);
    for server in planned
        .iter()
        .filter(|server| server.action == ImportAction::Replace)
    {
        if let Some(node) = servers.and_then(|servers| find(&tape, servers, &server.name)) {
            edits.replace(span(&tape, node), replaced(&tape, node, server));
        }
    }
    let added: Vec<_> = planned
        .iter()
        .filter(|server| server.action == ImportAction::Add)
        .collect();
    let entries = added
        .iter()
        .map(|server| entry(server, is_list))
        .collect::<Vec<_>>()
        .join(",\n");
    match servers {
        _ if added.is_empty() => {}
        Some(servers) => append(&tape, &mut edits, servers, &entries, 2),
        None => {
            let member = format!("  \"mcpServers\": {{\n{entries}\n  }}");
            append(&tape, &mut edits, 0, &member, 0);
        }
    }
    let edited = edits.apply().map_err(|error| broken(error.to_string()))?;
    String::from_utf8(edited.to_vec()).map_err(|error| broken(error.to_string()))
}

/// Puts text behind the last child, or into what is empty.
fn append(tape: &Tape<'_>, edits: &mut Edits<'_>, parent: u32, text: &str, indent: usize) {
    let whole = span(tape, parent);
    let last = tape
        .children(parent)
        .last()
        .map(|last| tape.node(last).end());
    let last = last.or_else(|| {
        tape.members(parent)
            .last()
            .map(|(_, value)| tape.node(value).end())
    });
    if let Some(end) = last {
        edits.replace(Span::new(end, end), format!(",\n{text}"));
    } else {
        let inside = Span::new(whole.start + 1, whole.end - 1);
        edits.replace(inside, format!("\n{text}\n{:indent$}", ""));
    }
}

fn find(tape: &Tape<'_>, servers: u32, name: &str) -> Option<u32> {
    if tape.node(servers).kind() == Kind::Object {
        return tape.get(servers, name);
    }
    tape.children(servers).find(|server| {
        let is_object = tape.node(*server).kind() == Kind::Object;
        let named = is_object.then(|| tape.get(*server, "name")).flatten();
        named.is_some_and(|named| tape.string(named) == name)
    })
}

/// A server as it is written, at its place.
fn entry(server: &PlannedServer, is_list: bool) -> String {
    let mut members = members(server);
    if is_list {
        members.insert(0, ("name".to_owned(), json!(server.name).to_string()));
        format!("    {}", object(&members))
    } else {
        format!("    {}: {}", json!(server.name), object(&members))
    }
}

fn members(server: &PlannedServer) -> Vec<(String, String)> {
    let switches = [
        ("enabled", false, server.off),
        ("quarantined", true, server.quarantined),
    ];
    let switches = switches.into_iter().filter(|(.., is_given)| *is_given);
    server
        .definition
        .members()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), spaced(&value)))
        .chain(switches.map(|(name, value, _)| (name.to_owned(), value.to_string())))
        .collect()
}

/// The new way to reach it, and every other setting as it stands.
fn replaced(tape: &Tape<'_>, node: u32, server: &PlannedServer) -> String {
    let kept = tape.members(node).filter_map(|(key, value)| {
        let name = tape.string(key);
        (!KEYS.contains(&&*name)).then(|| (name.into_owned(), tape.raw(value).to_owned()))
    });
    let new = server.definition.members().into_iter();
    let new = new.map(|(name, value)| (name.to_owned(), spaced(&value)));
    object(&new.chain(kept).collect::<Vec<_>>())
}

/// An object as it stands in the list of servers.
pub(in crate::commands) fn object(members: &[(String, String)]) -> String {
    let mut text = "{".to_owned();
    for (index, (name, value)) in members.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        // Writing to a string cannot fail.
        let _written = write!(text, "{comma}\n      {}: {value}", json!(name));
    }
    text.push_str("\n    }");
    text
}

/// Compact JSON with a space after commas and colons, for people.
pub(in crate::commands) fn spaced(value: &Value) -> String {
    let inner = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Array(items) => format!("[{}]", inner(items.iter().map(Value::to_string).collect())),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| format!("{}: {value}", json!(name)));
            format!("{{{}}}", inner(members.collect()))
        }
        other => other.to_string(),
    }
}

fn span(tape: &Tape<'_>, index: u32) -> Span {
    let node = tape.node(index);
    Span::new(node.start(), node.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::import::definition::Definition;

    fn planned(name: &str, action: ImportAction) -> PlannedServer {
        let definition = Definition {
            command: Some("new".to_owned()),
            args: vec!["a\"b".to_owned()],
            env: [("T".to_owned(), "${env:T}".to_owned())].into(),
            ..Definition::default()
        };
        PlannedServer {
            action,
            definition,
            off: name == "off",
            ..PlannedServer::left_out("f".into(), name, "")
        }
    }

    #[test]
    fn everything_else_stays_as_it_was() {
        let text = r#"{"listen":   "127.0.0.1:1",
  "mcpServers": {
    "old": {"command": "old", "timeout": "1s", "args": ["x"]},
    "kept": {"command": "k"}
  }
}"#;
        let plan = [
            planned("old", ImportAction::Replace),
            planned("off", ImportAction::Add),
            planned("no", ImportAction::Conflict),
        ];
        insta::assert_snapshot!(merged(Some(text), &plan).expect("merged"), @r#"
        {"listen":   "127.0.0.1:1",
          "mcpServers": {
            "old": {
              "command": "new",
              "args": ["a\"b"],
              "env": {"T": "${env:T}"},
              "timeout": "1s"
            },
            "kept": {"command": "k"},
            "off": {
              "command": "new",
              "args": ["a\"b"],
              "env": {"T": "${env:T}"},
              "enabled": false
            }
          }
        }
        "#);
    }

    #[test]
    fn a_file_may_be_empty_or_a_list_or_missing() {
        let plan = [planned("a", ImportAction::Add)];
        for text in [
            None,
            Some("{}"),
            Some(r#"{"mcpServers": []}"#),
            Some(r#"{"mcpServers": {}}"#),
            Some("{\"listen\": \"127.0.0.1:1\"}"),
            Some("{\"mcpServers\": [{\"name\": \"b\", \"command\": \"x\"}]}"),
        ] {
            let merged = merged(text, &plan).expect("merged");
            let value: Value =
                serde_json::from_str(&merged).unwrap_or_else(|error| panic!("{error}: {merged}"));
            let servers = &value["mcpServers"];
            let found = servers["a"]["command"] == "new"
                || servers
                    .as_array()
                    .is_some_and(|list| list.iter().any(|server| server["name"] == "a"));
            assert!(found, "{merged}");
        }
        assert!(merged(Some("[]"), &plan).is_err());
        assert!(merged(Some("{"), &plan).is_err());
    }
}
