//! A new configuration for a gateway that runs: which of its settings have to wait for the next start, and which
//! servers need not be reached anew.

use std::collections::BTreeMap;

use super::model::{Config, Transport};
use super::problem::Problem;
use super::resolve;
use super::secret::Secret;

impl Config {
    /// Sets back what cannot change while the gateway runs, and says which keys that were. What then holds may not be
    /// open to anyone, even if what was asked for is not.
    pub fn while_running(&mut self, running: &Self) -> Result<Vec<&'static str>, Problem> {
        let mut waiting = Waiting(Vec::new());
        waiting.plain("listen", &mut self.listen, &running.listen);
        waiting.plain("data_dir", &mut self.data_dir, &running.data_dir);
        let (new, old) = (&mut self.max_message_bytes, &running.max_message_bytes);
        waiting.plain("max_message_bytes", new, old);
        let (new, old) = (&mut self.max_inflight_bytes, &running.max_inflight_bytes);
        waiting.plain("max_inflight_bytes", new, old);
        let same = self.storage_url.expose() == running.storage_url.expose();
        waiting.unless(
            same,
            "storage.url",
            &mut self.storage_url,
            &running.storage_url,
        );
        self.activity_while_running(running, &mut waiting);
        resolve::exposure(self)?;
        Ok(waiting.0)
    }

    /// The store is opened once.
    fn activity_while_running(&mut self, running: &Self, waiting: &mut Waiting) {
        let (new, old) = (&mut self.activity, &running.activity);
        let days = (&mut new.retention_days, &old.retention_days);
        waiting.plain("activity.retention_days", days.0, days.1);
        let floor = (&mut new.retention_floor_days, &old.retention_floor_days);
        waiting.plain("activity.retention_floor_days", floor.0, floor.1);
        waiting.plain(
            "activity.max_records",
            &mut new.max_records,
            &old.max_records,
        );
        waiting.plain(
            "activity.max_size_mb",
            &mut new.max_size_mb,
            &old.max_size_mb,
        );
        waiting.plain("activity.durability", &mut new.durability, &old.durability);
        let exposed =
            [&new.signing_key, &old.signing_key].map(|key| key.as_ref().map(Secret::expose));
        let same = exposed[0] == exposed[1];
        let (new, old) = (&mut new.signing_key, &old.signing_key);
        waiting.unless(same, "activity.signing_key", new, old);
    }
}

/// The keys that wait for the next start.
struct Waiting(Vec<&'static str>);

impl Waiting {
    fn plain<T: Clone + PartialEq>(&mut self, key: &'static str, new: &mut T, running: &T) {
        let same = new == running;
        self.unless(same, key, new, running);
    }

    fn unless<T: Clone>(&mut self, same: bool, key: &'static str, new: &mut T, running: &T) {
        if !same {
            new.clone_from(running);
            self.0.push(key);
        }
    }
}

impl Transport {
    /// Whether a server reached like this need not be reached anew.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Stdio {
                    command,
                    args,
                    env,
                    working_dir,
                },
                Self::Stdio {
                    command: other_command,
                    args: other_args,
                    env: other_env,
                    working_dir: other_dir,
                },
            ) => {
                (command, args, working_dir) == (other_command, other_args, other_dir)
                    && exposed(env).eq(exposed(other_env))
            }
            (
                Self::Http {
                    url,
                    headers,
                    protocol,
                },
                Self::Http {
                    url: other_url,
                    headers: other_headers,
                    protocol: other_protocol,
                },
            ) => {
                (url, protocol) == (other_url, other_protocol)
                    && exposed(headers).eq(exposed(other_headers))
            }
            _ => false,
        }
    }
}

/// Both sides come from files of the same owner, so comparing them tells nobody anything.
fn exposed(values: &BTreeMap<String, Secret>) -> impl Iterator<Item = (&str, &str)> {
    let pairs = values.iter();
    pairs.map(|(name, value)| (name.as_str(), value.expose()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Environment, parse};

    fn config(text: &str) -> Config {
        let environment = Environment::new(|name| Some(format!("value of {name}")), None);
        parse(text, &environment).expect("a configuration").0
    }

    #[test]
    fn what_waits_is_named_and_set_back() {
        let running = config("{}");
        let mut same = config(r#"{"listen": "127.0.0.1:8080", "routing_mode": "direct"}"#);
        assert_eq!(same.while_running(&running), Ok(Vec::new()));
        assert_eq!(same.routing_mode.as_str(), "direct");
        let key = "0".repeat(64);
        let mut new = config(&format!(
            r#"{{"listen": "127.0.0.1:1", "data_dir": "/x", "max_message_bytes": 1024, "max_inflight_bytes": 4096,
            "storage": {{"url": "sqlite:x"}}, "call_tool_timeout": "5s", "activity": {{"retention_days": 1,
            "retention_floor_days": 2, "max_records": 1, "max_size_mb": 1, "durability": "async",
            "signing_key": "{key}", "payloads": "full"}}}}"#
        ));
        let waiting = new.while_running(&running).expect("closed");
        assert_eq!(waiting.len(), 11, "{waiting:?}");
        assert_eq!(waiting[4], "storage.url");
        assert_eq!(new.call_tool_timeout.as_secs(), 5);
        new.call_tool_timeout = running.call_tool_timeout;
        new.activity.payloads = running.activity.payloads;
        assert_eq!(new.show(), running.show());
        assert_eq!(new.while_running(&running), Ok(Vec::new()));
    }

    #[test]
    fn classifiers_that_did_not_change_are_not_made_again() {
        let file = |token: &str| {
            config(&format!(
                r#"{{"classifiers": [{{"kind": "webhook", "endpoint": "http://127.0.0.1:9/", "headers": {{"X": "{token}"}}}}]}}"#
            ))
        };
        let made = |config: &Config| std::ptr::from_ref(config.panel().expect("a panel"));
        let running = file("one");
        // Nothing was made yet, so there is nothing to take.
        let mut new = file("one");
        new.take_panel(&running);
        assert_ne!(made(&new), made(&running));
        let mut same = file("one");
        same.take_panel(&running);
        assert_eq!(made(&same), made(&running));
        let mut other = file("two");
        other.take_panel(&running);
        assert_ne!(made(&other), made(&running));
    }

    #[test]
    fn a_closed_gateway_is_not_opened_by_a_setting_that_waits() {
        let running = config(r#"{"listen": "0.0.0.0:8080"}"#);
        let mut new = config(r#"{"listen": "127.0.0.1:8080", "require_mcp_auth": false}"#);
        let problem = new.while_running(&running).expect_err("open to anyone");
        assert!(problem.message.contains("0.0.0.0:8080"), "{problem}");
    }

    #[test]
    fn a_transport_is_itself_whatever_it_is_written_like() {
        let server = |text: &str| {
            let file = format!(r#"{{"mcpServers": {{"a": {text}}}}}"#);
            config(&file).servers.remove(0).transport
        };
        let one = server(r#"{"command": "x", "args": ["y"], "env": {"A": "${env:B}"}}"#);
        let other = r#"{"enabled": true, "command": "x", "env": {"A": "value of B"}, "args": ["y"], "timeout": "1s"}"#;
        assert!(one.is(&server(other)));
        for changed in [
            r#"{"command": "x", "args": ["y"], "env": {"A": "${env:C}"}}"#,
            r#"{"command": "x", "args": ["z"], "env": {"A": "${env:B}"}}"#,
            r#"{"command": "x", "args": ["y"], "env": {"A": "${env:B}"}, "working_dir": "/"}"#,
            r#"{"url": "http://x.example/"}"#,
        ] {
            assert!(!one.is(&server(changed)), "{changed}");
        }
        let http = server(r#"{"url": "http://x.example/", "headers": {"A": "b"}}"#);
        assert!(http.is(&server(
            r#"{"url": "http://x.example/", "headers": {"A": "b"}}"#
        )));
        assert!(!http.is(&server(
            r#"{"url": "http://x.example/", "headers": {"A": "c"}}"#
        )));
    }

    #[test]
    fn a_server_of_another_era_is_connected_to_anew() {
        let server = |text: &str| {
            let file = format!(r#"{{"mcpServers": {{"a": {text}}}}}"#);
            config(&file).servers.remove(0)
        };
        let auto = server(r#"{"command": "x"}"#);
        assert!(auto.is_reached_like(&server(r#"{"command": "x", "era": "auto"}"#)));
        assert!(!auto.is_reached_like(&server(r#"{"command": "x", "era": "legacy"}"#)));
    }
}
