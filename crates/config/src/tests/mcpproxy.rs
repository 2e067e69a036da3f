//! A file as mcpproxy writes it, with Go's durations and addresses and any server name, loads.

use std::time::Duration;

use insta::assert_snapshot;

use super::{read, refused, warnings};
use crate::{Config, is_server_name};

const FILE: &str = r#"{
  "listen": ":8080",
  "enable_socket": true,
  "data_dir": "/home/ada/.mcpproxy",
  "debug_search": false,
  "mcpServers": [
    {"name": "GitHub_Issues", "protocol": "stdio", "command": "npx", "args": ["-y", "x"], "enabled": true, "created": "2025-06-01T10:00:00Z"},
    {"name": "sequential-thinking-server", "protocol": "stdio", "command": "uvx", "enabled": true, "quarantined": false},
    {"name": "plain", "url": "https://example.com/mcp", "protocol": "http", "enabled": true}
  ],
  "tools_limit": 15, "tool_response_limit": 20000,
  "call_tool_timeout": "2m0s",
  "health_check_interval": "30s"
}"#;

fn names(config: &Config) -> Vec<(&str, Option<&str>)> {
    let servers = config.servers.iter();
    servers
        .map(|server| (server.name.as_str(), server.configured_name.as_deref()))
        .collect()
}

fn servers(names: &[&str]) -> String {
    let servers: Vec<_> = names
        .iter()
        .map(|name| serde_json::json!({"name": name, "command": "x"}))
        .collect();
    serde_json::json!({ "mcpServers": servers }).to_string()
}

fn loaded(names: &[&str]) -> Config {
    read(&servers(names)).expect("the file loads").0
}

#[test]
fn an_mcpproxy_file_loads_as_its_users_have_it() {
    let (config, _) = read(FILE).expect("the file loads");
    assert_eq!(config.listen.to_string(), "0.0.0.0:8080");
    assert_eq!(config.call_tool_timeout, Duration::from_mins(2));
    assert_eq!(
        names(&config),
        [
            ("github-issues", Some("GitHub_Issues")),
            ("sequential-thinking", Some("sequential-thinking-server")),
            ("plain", None),
        ]
    );
    assert_snapshot!(warnings(FILE), @r#"
    not implemented in this version and ignored: created, debug_search, enable_socket, health_check_interval, tools_limit
    7:5: /mcpServers/0: "GitHub_Issues" does not fit into tool names, so this server is called "github-issues"
    hint: to choose another name, write 1 to 20 characters of a-z, 0-9 and -
    8:5: /mcpServers/1: "sequential-thinking-server" does not fit into tool names, so this server is called "sequential-thinking"
    hint: to choose another name, write 1 to 20 characters of a-z, 0-9 and -
    11:22: /tool_response_limit: "tool_response_limit" is not implemented in this version and is ignored: results are not cut
    "#);
}

#[test]
fn names_that_become_the_same_stay_apart() {
    let together = ["My_Files", "my.files", "My Files"];
    let config = loaded(&together);
    let apart: Vec<_> = config
        .servers
        .iter()
        .map(|server| server.name.as_str())
        .collect();
    assert!(apart.iter().all(|name| is_server_name(name)), "{apart:?}");
    let mut distinct = apart.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 3, "{apart:?}");
    // The order of the file decides nothing.
    let reversed = loaded(&["My Files", "my.files", "My_Files"]);
    let again: Vec<_> = reversed
        .servers
        .iter()
        .rev()
        .map(|server| server.name.as_str())
        .collect();
    assert_eq!(apart, again);
}

#[test]
fn a_name_that_needs_no_change_is_never_given_away() {
    let config = loaded(&["My_Files", "my-files"]);
    let [renamed, kept] = &*config.servers else {
        panic!("two servers");
    };
    assert_eq!(kept.name, "my-files");
    assert!(renamed.name.starts_with("my-files-"), "{}", renamed.name);
    // Even if it looks like another's mark.
    let mark = renamed.name.clone();
    let config = loaded(&["My_Files", "my-files", &mark]);
    let [renamed, _, kept] = &*config.servers else {
        panic!("three servers");
    };
    assert_eq!(kept.name, mark);
    assert_ne!(renamed.name, mark);
}

#[test]
fn a_name_without_a_single_allowed_character_gets_one() {
    let config = loaded(&["日本語", "中文"]);
    for server in &config.servers {
        assert!(
            server.name.starts_with("server-") && is_server_name(&server.name),
            "{}",
            server.name
        );
    }
    assert_ne!(config.servers[0].name, config.servers[1].name);
}

#[test]
fn what_is_no_name_or_given_twice_is_refused() {
    assert_snapshot!(refused(&servers(&[""])), @r#"
    1:38: /mcpServers/0/name: a server needs a "name"
    hint: a name is 1 to 20 characters of a-z, 0-9 and -
    "#);
    assert_snapshot!(refused(&servers(&["A_b", "A_b"])), @r#"
    1:45: /mcpServers/1: the name "A_b" is already that of /mcpServers/0
    hint: give each server its own
    "#);
}

#[test]
fn an_address_is_read_as_go_reads_it() {
    let listen = |text: &str| {
        let file = serde_json::json!({ "listen": text }).to_string();
        read(&file)
            .map(|(config, _)| config.listen.to_string())
            .ok()
    };
    for (text, expected) in [
        (":8080", Some("0.0.0.0:8080")),
        ("localhost:9000", Some("127.0.0.1:9000")),
        ("127.0.0.1:1", Some("127.0.0.1:1")),
        ("[::1]:1", Some("[::1]:1")),
        (":", None),
        (":http", None),
        (":70000", None),
        ("8080", None),
        ("example.com:80", None),
    ] {
        assert_eq!(listen(text).as_deref(), expected, "{text}");
    }
}
