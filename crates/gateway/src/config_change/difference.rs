//! What a new configuration changes: the keys that differ, for the API's answer, and each setting with its old and new
//! value, for the record. Secrets are masked in both.

mod change;

use std::collections::BTreeSet;

use serde_json::Value;

use change::keys;
pub(crate) use change::{SettingChange, changes};

use countersign_config::{Config, Secret};

const SERVERS: &str = "mcpServers";

/// What differs, in words for a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) added: Vec<String>,
    pub(crate) removed: Vec<String>,
    pub(crate) changed: Vec<String>,
    /// Keys of the whole file.
    pub(crate) keys: Vec<String>,
}

impl Summary {
    /// Sorts the keys that differ, as [`changed_keys`] gives them.
    pub(crate) fn from_keys(old: &Config, new: &Config, differing: &[String]) -> Self {
        let mut summary = Self::default();
        for key in differing {
            let server = key.strip_prefix(SERVERS);
            let Some(server) = server.and_then(|server| server.strip_prefix('.')) else {
                summary.keys.push(key.clone());
                continue;
            };
            let list = match (old.server(server), new.server(server)) {
                (None, _) => &mut summary.added,
                (_, None) => &mut summary.removed,
                _ => &mut summary.changed,
            };
            list.push(server.to_owned());
        }
        summary
    }
}

/// The keys that differ.
pub(crate) fn changed_keys(old: &Config, new: &Config) -> Vec<String> {
    let [before, after] = [old, new].map(shown);
    let differs = |key: &str| before.get(key) != after.get(key);
    let keys = keys(&before, &after).into_iter();
    let keys = keys.filter(|key| *key != SERVERS && differs(key));
    let mut changed: Vec<String> = keys.cloned().collect();
    let secrets = changed_secrets(old, new).map(str::to_owned);
    let secrets: Vec<_> = secrets.filter(|key| !changed.contains(key)).collect();
    changed.extend(secrets);
    let servers = changed_servers((old, &before), (new, &after));
    changed.extend(servers.map(|name| format!("{SERVERS}.{name}")));
    changed
}

fn shown(config: &Config) -> Value {
    serde_json::from_str(&config.show()).unwrap_or_default()
}

/// The keys whose secrets differ, which cannot be seen in what is shown.
fn changed_secrets(old: &Config, new: &Config) -> impl Iterator<Item = &'static str> {
    let exposed = |key: &Option<Secret>| key.as_ref().map(|key| key.expose().to_owned());
    let differ = [
        ("api_key", exposed(&old.api_key) != exposed(&new.api_key)),
        (
            "admin_key",
            exposed(&old.admin_key) != exposed(&new.admin_key),
        ),
        ("classifiers", !old.classifies_like(new)),
        ("auth", issuer_secrets(old) != issuer_secrets(new)),
    ];
    differ
        .into_iter()
        .filter_map(|(key, differs)| differs.then_some(key))
}

/// The secrets of the gateway's clients at issuers.
fn issuer_secrets(config: &Config) -> Vec<Option<&str>> {
    let issuers = config.auth.issuers.iter();
    let secrets = issuers.flat_map(|issuer| {
        [
            &issuer.introspection.client_secret,
            &issuer.login.client_secret,
        ]
    });
    let secrets = secrets.map(Option::as_ref);
    secrets.map(|secret| secret.map(Secret::expose)).collect()
}

/// The names of the servers that came, went or changed.
fn changed_servers<'a>(
    (old, before): (&'a Config, &'a Value),
    (new, after): (&'a Config, &'a Value),
) -> impl Iterator<Item = &'a str> {
    let names: BTreeSet<&str> = [old, new]
        .into_iter()
        .flat_map(|config| config.servers.iter().map(|server| server.name.as_str()))
        .collect();
    let differs = |name: &&str| {
        is_reached_otherwise(old, new, name) || server(before, name) != server(after, name)
    };
    names.into_iter().filter(differs)
}

/// Whether a server is only in one of them, or is reached in another way, secrets included.
fn is_reached_otherwise(old: &Config, new: &Config, name: &str) -> bool {
    match (old.server(name), new.server(name)) {
        (Some(old), Some(new)) => !old.is_reached_like(new),
        _ => true,
    }
}

/// One server of a configuration, as it is shown.
fn server<'a>(shown: &'a Value, name: &str) -> Option<&'a Value> {
    let servers = shown.get(SERVERS)?.as_array()?;
    servers.iter().find(|server| server["name"] == name)
}

#[cfg(test)]
mod tests {
    use countersign_config::{Environment, parse};

    use super::*;

    fn read(text: &str) -> Config {
        let read = parse(text, &Environment::empty());
        read.expect("a configuration").0
    }

    const OLD: &str = r#"{"api_key": "0123456789abcdef", "mcpServers": {"a": {"command": "x"},
        "b": {"command": "x", "env": {"K": "1-secret"}}, "c": {"command": "x"}, "d": {"command": "x"}}}"#;
    const NEW: &str = r#"{"api_key": "fedcba9876543210", "routing_mode": "direct", "mcpServers": {"a": {"command": "x"},
        "b": {"command": "x", "env": {"K": "2-secret"}}, "c": {"command": "x", "input_validation": {"mode": "off"}},
        "e": {"command": "y"}}}"#;

    #[test]
    fn keys_are_told() {
        let (old, new) = (read(OLD), read(NEW));
        assert_eq!(changed_keys(&old, &old), [""; 0]);
        assert_eq!(
            changed_keys(&old, &new),
            [
                "routing_mode",
                "api_key",
                "mcpServers.b",
                "mcpServers.c",
                "mcpServers.d",
                "mcpServers.e"
            ]
        );
        let summary = Summary::from_keys(&old, &new, &changed_keys(&old, &new));
        assert_eq!(summary.added, ["e"]);
        assert_eq!(summary.removed, ["d"]);
        assert_eq!(summary.changed, ["b", "c"]);
        assert_eq!(summary.keys, ["routing_mode", "api_key"]);
    }

    #[test]
    fn old_and_new_values_are_told_and_secrets_are_not() {
        let (old, new) = (read(OLD), read(NEW));
        assert_eq!(changes(&old, &old), []);
        let told: Vec<_> = changes(&old, &new)
            .iter()
            .map(SettingChange::to_string)
            .collect();
        assert_eq!(
            told[..4],
            [
                r#"routing_mode "retrieve_tools" -> "direct""#,
                r#"api_key "[redacted]" -> "[redacted]""#,
                r#"mcpServers.b "[redacted]" -> "[redacted]""#,
                r#"mcpServers.c.input_validation.mode "warn" -> "off""#,
            ]
        );
        assert!(told[4].starts_with("mcpServers.d {"), "{told:?}");
        assert!(told[4].ends_with(" -> unset"), "{told:?}");
        assert!(told[5].starts_with("mcpServers.e unset -> {"), "{told:?}");
        assert!(told[5].contains(r#""command":"y""#), "{told:?}");
        let all = told.concat();
        assert!(!all.contains("secret") && !all.contains("0123") && !all.contains("fedc"));
    }

    #[test]
    fn what_a_server_inherits_is_told_once() {
        let strict = OLD.replacen('{', r#"{"output_validation": {"mode": "strict"}, "#, 1);
        let told = changes(&read(OLD), &read(&strict));
        let told: Vec<_> = told.iter().map(SettingChange::to_string).collect();
        assert_eq!(told, [r#"output_validation.mode "warn" -> "strict""#]);
    }
}
