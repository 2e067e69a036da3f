//! What a change of the file over the API may not touch, even with the admin key; each key says so where it is declared. Some keys are the file's alone: the
//! keys of the gateway, where it listens and where it keeps its state. Others decide which programs are started and
//! where secrets are sent; they need `allow_api_commands` in the file. The texts before and after the change are
//! compared, so it does not matter how a patch is written.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::classifier::CLASSIFIER;
use super::document::step;
use super::keys::{Api, Block, Form};
use super::model::ROOT;
use super::problem::{ConfigError, FilePosition, MAX_REPORTED, Problem};
use super::server::Server;
use super::setting::Keys;

const ALLOWING: &str = "allow_api_commands";

/// Refuses a change from one text of the file to another that may not be made over the API.
pub fn check_api_change(before: &str, after: &str) -> Result<(), ConfigError> {
    let [before, after] = [before, after].map(|text| {
        // A text that is no JSON is refused where it is read.
        serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')).unwrap_or_default()
    });
    let mut problems: Vec<_> = file_only(ROOT, "")
        .into_iter()
        .filter(|pointer| before.pointer(pointer) != after.pointer(pointer))
        .map(|pointer| {
            let hint = "change it in the configuration file";
            let place = FilePosition { pointer, at: None };
            Problem::new("cannot be changed over the API", hint).at(place)
        })
        .collect();
    if before.get(ALLOWING) != Some(&Value::Bool(true)) {
        problems.extend(servers(&before, &after));
        problems.extend(classifiers(&before, &after));
    }
    problems.truncate(MAX_REPORTED);
    ConfigError::if_any(problems)
}

/// Pointers to what only the file may say. Depth of recursion is that of the declared keys.
fn file_only(block: &Block, pointer: &str) -> Vec<String> {
    let mut found = Vec::new();
    for key in block.keys {
        let pointer = format!("{pointer}/{}", key.name);
        match key.form {
            _ if key.api == Api::FileOnly => found.push(pointer),
            Form::Block(inner) => found.extend(file_only(inner, &pointer)),
            _ => {}
        }
    }
    found
}

/// The keys of a block that need `allow_api_commands`.
fn commands(block: &Block) -> impl Iterator<Item = &'static str> {
    let keys = block.keys.iter().filter(|key| key.api == Api::Commands);
    keys.map(|key| key.name)
}

fn refuse(pointer: &str, message: &str) -> Problem {
    let place = FilePosition {
        pointer: pointer.to_owned(),
        at: None,
    };
    let hint = format!("change it in the configuration file, or set \"{ALLOWING}\": true there");
    Problem::new(message, hint).at(place)
}

/// Programs and credentials of servers that the file did not have before.
fn servers(before: &Value, after: &Value) -> Vec<Problem> {
    let (before, after) = (by_name(before), by_name(after));
    let nothing = Map::new();
    let mut problems = Vec::new();
    for (name, (pointer, new)) in after {
        let old = before.get(name).map_or(&nothing, |(_, old)| old);
        let changed = |key: &&str| old.get(*key) != new.get(*key);
        if new.contains_key("command")
            && let Some(key) = commands(Server::BLOCK).find(changed)
        {
            let message = "which programs are started cannot be changed over the API";
            problems.push(refuse(&format!("{pointer}/{key}"), message));
        }
        for header in carried_headers(old, new) {
            let message = "where secrets are sent cannot be changed over the API";
            let pointer = format!("{pointer}/headers{}", step(header));
            problems.push(refuse(&pointer, message));
        }
        if carries_client_secret(old, new) {
            let message = "where secrets are sent cannot be changed over the API";
            problems.push(refuse(&format!("{pointer}/oauth"), message));
        }
    }
    problems
}

/// Whether a change would bring a client's secret to a server, or to an authorization server, that did not get it before:
/// the server says which authorization server it is.
fn carries_client_secret(old: &Map<String, Value>, new: &Map<String, Value>) -> bool {
    let secrets = ["client_secret", "private_key", "private_key_file"];
    let has_secret = new.get("oauth").is_some_and(|oauth| {
        let mut secrets = secrets.iter();
        secrets.any(|key| oauth.get(key).is_some())
    });
    let changed = |key: &str| old.get(key) != new.get(key);
    has_secret && (changed("url") || changed("oauth"))
}

/// The headers that would bring a secret to an address which did not get it before: a reference to a variable that was
/// not there, or, at a new address, a value of the old one.
fn carried_headers<'a>(
    old: &'a Map<String, Value>,
    new: &'a Map<String, Value>,
) -> impl Iterator<Item = &'a str> {
    let headers = |server: &'a Map<String, Value>| server.get("headers").and_then(Value::as_object);
    let (old_headers, new_headers) = (headers(old), headers(new));
    let is_moved = old.get("url") != new.get("url");
    let is_carried = move |(name, value): &(&String, &Value)| {
        let known = || old_headers.into_iter().flat_map(Map::values);
        if is_moved {
            return refers(value) || known().any(|old| old == *value);
        }
        let same = old_headers.and_then(|headers| headers.get(*name)) == Some(*value);
        !same && refers(value)
    };
    let new_headers = new_headers.into_iter().flatten();
    new_headers
        .filter(is_carried)
        .map(|(name, _)| name.as_str())
}

/// Whether a value is made from variables of the gateway.
fn refers(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains("${"))
}

/// Each server by its name, with the pointer to it.
fn by_name<'a>(file: &'a Value) -> BTreeMap<&'a str, (String, &'a Map<String, Value>)> {
    let mut servers = BTreeMap::new();
    let mut add = |name, step: String, server: &'a Value| {
        if let (Some(name), Some(server)) = (name, server.as_object()) {
            servers.insert(name, (format!("/mcpServers{step}"), server));
        }
    };
    match file.get("mcpServers") {
        Some(Value::Array(list)) => {
            for (ordinal, server) in list.iter().enumerate() {
                let name = server.get("name").and_then(Value::as_str);
                add(name, format!("/{ordinal}"), server);
            }
        }
        Some(Value::Object(named)) => {
            for (name, server) in named {
                add(Some(name), step(name), server);
            }
        }
        _ => {}
    }
    servers
}

/// Classifiers at places, or with credentials, that the file did not have before. Bedrock takes credentials from the
/// environment by itself, so a place alone is enough.
fn classifiers(before: &Value, after: &Value) -> Vec<Problem> {
    let list = |file: &Value| -> Vec<Vec<Option<Value>>> {
        let list = file.get("classifiers").and_then(Value::as_array);
        let reached = |one: &Value| {
            let keys = commands(&CLASSIFIER);
            keys.map(|key| one.get(key).cloned()).collect()
        };
        list.into_iter().flatten().map(reached).collect()
    };
    let known = list(before);
    let new = list(after).into_iter().enumerate();
    new.filter(|(_, classifier)| !known.contains(classifier))
        .map(|(ordinal, _)| {
            let message = "where text and secrets are sent cannot be changed over the API";
            refuse(&format!("/classifiers/{ordinal}"), message)
        })
        .collect()
}

#[cfg(test)]
mod tests;
