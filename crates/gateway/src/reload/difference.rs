//! What a new configuration changes, by its keys, for the people who read of it: which servers, and which settings beside
//! them. Values are not told.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::config::{Config, Secret};

/// The keys that differ.
pub(super) fn between(old: &Config, new: &Config) -> Vec<String> {
    let [before, after] = [old, new].map(shown);
    let keys: BTreeSet<&String> = [&before, &after]
        .into_iter()
        .filter_map(Value::as_object)
        .flat_map(|members| members.keys())
        .collect();
    let differs = |key: &str| before.get(key) != after.get(key);
    let keys = keys
        .into_iter()
        .filter(|key| *key != "mcpServers" && differs(key));
    let mut changed: Vec<String> = keys.cloned().collect();
    let [old_key, new_key] = [old, new].map(|config| config.api_key.as_ref().map(Secret::expose));
    if old_key != new_key && !changed.iter().any(|key| key == "api_key") {
        changed.push("api_key".to_owned());
    }
    if !old.classifies_like(new) && !changed.iter().any(|key| key == "classifiers") {
        changed.push("classifiers".to_owned());
    }
    changed.extend(servers((old, &before), (new, &after)));
    changed
}

fn shown(config: &Config) -> Value {
    serde_json::from_str(&config.show()).unwrap_or_default()
}

/// The servers that came, went or changed.
fn servers((old, before): (&Config, &Value), (new, after): (&Config, &Value)) -> Vec<String> {
    let names: BTreeSet<&str> = [old, new]
        .into_iter()
        .flat_map(|config| config.servers.iter().map(|server| server.name.as_str()))
        .collect();
    let find = |shown: &Value, name: &str| {
        let servers = shown.get("mcpServers")?.as_array()?;
        let found = servers.iter().find(|server| server["name"] == name);
        found.cloned()
    };
    let differs = |name: &&str| {
        let reached = match (old.server(name), new.server(name)) {
            (Some(old), Some(new)) => !old.transport.is(&new.transport),
            _ => true,
        };
        reached || find(before, name) != find(after, name)
    };
    let names = names.into_iter().filter(differs);
    names.map(|name| format!("mcpServers.{name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, parse};

    #[test]
    fn keys_are_told_and_values_are_not() {
        let read = |text| {
            parse(text, &Environment::empty())
                .expect("a configuration")
                .0
        };
        let old = read(
            r#"{"api_key": "0123456789abcdef", "mcpServers": {"a": {"command": "x"}, "b": {"command": "x", "env": {"K": "1"}},
            "c": {"command": "x"}, "d": {"command": "x"}}}"#,
        );
        let new = read(
            r#"{"api_key": "fedcba9876543210", "routing_mode": "direct", "mcpServers": {"a": {"command": "x"},
            "b": {"command": "x", "env": {"K": "2"}}, "c": {"command": "x", "input_validation": {"mode": "off"}},
            "e": {"command": "x"}}}"#,
        );
        assert_eq!(between(&old, &old), [""; 0]);
        assert_eq!(
            between(&old, &new),
            [
                "routing_mode",
                "api_key",
                "mcpServers.b",
                "mcpServers.c",
                "mcpServers.d",
                "mcpServers.e"
            ]
        );
    }
}
