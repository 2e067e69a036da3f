//! A new configuration for a gateway that runs: which of its settings have to wait for the next start.

use super::model::Config;
use super::problem::Problem;
use super::public_url::encrypted_tokens;
use super::resolve;
use super::setting::Keys;

impl Config {
    /// Sets back what cannot change while the gateway runs, and returns the keys of these settings. Fails if the
    /// result would let every client in without a key, even if the new configuration alone would not.
    pub fn while_running(&mut self, running: &Self) -> Result<Vec<String>, Problem> {
        let mut waiting = Vec::new();
        self.keep_keys(running, &mut waiting);
        resolve::exposure(self)?;
        encrypted_tokens(self)?;
        Ok(waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Block, ChangeTiming, Form};
    use crate::model::ROOT;
    use crate::{Environment, parse};

    fn config(text: &str) -> Config {
        let environment = Environment::new(|name| Some(format!("value of {name}")), None);
        parse(text, &environment).expect("a configuration").0
    }

    /// The declared keys that wait for a restart.
    fn restart_keys(block: &Block, prefix: &str) -> Vec<String> {
        let keys = block.keys.iter();
        keys.flat_map(|key| match key.form {
            Form::Block(inner) => restart_keys(inner, &format!("{}.", key.name)),
            _ if key.change == ChangeTiming::Restart => vec![format!("{prefix}{}", key.name)],
            _ => Vec::new(),
        })
        .collect()
    }

    #[test]
    fn what_waits_is_named_and_set_back() {
        let running = config("{}");
        let mut same = config(r#"{"listen": "127.0.0.1:8080", "routing_mode": "direct"}"#);
        assert_eq!(same.while_running(&running), Ok(Vec::new()));
        assert_eq!(same.routing_mode.as_str(), "direct");
        let key = "0".repeat(64);
        let mut new = config(&format!(
            r#"{{"listen": ["127.0.0.1:1", "unix:x.sock"], "tls": {{"cert_file": "a", "key_file": "b", "client_ca_file": "c",
            "client_auth": "required"}}, "session_key": "{key}", "seal_key": "{key}", "data_dir": "/x", "max_message_bytes": 1024, "max_inflight_bytes": 4096,
            "storage": {{"url": "sqlite:x"}}, "call_tool_timeout": "5s", "activity": {{"retention_days": 1,
            "retention_floor_days": 2, "max_records": 1, "max_size_mb": 1, "durability": "async",
            "signing_key": "{key}", "previous_signing_key": "{key}", "log_origin": "example.com/log",
            "anchors": ["stdout"], "payloads": "full"}}, "otlp": {{"endpoint": "http://127.0.0.1:4318",
            "headers": {{"X": "y"}}, "traces": false, "metrics": false, "logs": false, "metrics_interval": "5s",
            "service_name": "x", "resource_attributes": {{"a": "b"}}}}}}"#
        ));
        let waiting = new.while_running(&running).expect("closed");
        assert_eq!(waiting, restart_keys(ROOT, ""));
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
        assert!(one.is_same(&server(other)));
        for changed in [
            r#"{"command": "x", "args": ["y"], "env": {"A": "${env:C}"}}"#,
            r#"{"command": "x", "args": ["z"], "env": {"A": "${env:B}"}}"#,
            r#"{"command": "x", "args": ["y"], "env": {"A": "${env:B}"}, "working_dir": "/"}"#,
            r#"{"url": "http://x.example/"}"#,
        ] {
            assert!(!one.is_same(&server(changed)), "{changed}");
        }
        let http = server(r#"{"url": "http://x.example/", "headers": {"A": "b"}}"#);
        assert!(http.is_same(&server(
            r#"{"url": "http://x.example/", "headers": {"A": "b"}}"#
        )));
        assert!(!http.is_same(&server(
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
