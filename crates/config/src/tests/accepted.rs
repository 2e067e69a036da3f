//! Files that are accepted, and the settings they give.

use std::time::Duration;

use countersign_inspect::Mode;
use countersign_inspect::config::{OutputValidation, Posture};
use insta::assert_snapshot;

use super::{accepted, environment, warnings};
use crate::{Config, Isolation, Protocol, RoutingMode, Secret, Transport, template};

/// Most keys, and each kind of server.
pub(super) const EXAMPLE: &str = include_str!("accepted/example.json");

#[test]
fn a_whole_file_is_resolved() {
    let expected = include_str!("accepted/example.shown.json");
    assert_eq!(format!("{}\n", accepted(EXAMPLE).show()), expected);
}

#[test]
fn no_secret_is_shown() {
    let config = accepted(EXAMPLE);
    for text in [config.show(), format!("{config:?}")] {
        for secret in ["0123456789abcdef", "s3cr3t", "debug", "hunter2"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
    assert_eq!(
        config.api_key.as_ref().map(Secret::expose),
        Some("0123456789abcdef")
    );
}

#[test]
fn references_are_replaced() {
    let config = accepted(EXAMPLE);
    let Transport::Http {
        headers, protocol, ..
    } = &config.servers[1].transport
    else {
        panic!("not over HTTP");
    };
    assert_eq!(headers["Authorization"].expose(), "Bearer s3cr3t-crm-token");
    assert_eq!(*protocol, Protocol::Sse);
    let Transport::Stdio { env, .. } = &config.servers[0].transport else {
        panic!("not a child");
    };
    assert_eq!(env["TOKEN"].expose(), "s3cr3t-crm-token");
}

#[test]
fn a_file_that_says_nothing_new_is_the_defaults() {
    let empty = accepted("{}");
    for text in [
        "\u{feff}{}",
        &template(),
        r#"{"output_validation": {"mode": "warn", "max_bytes": 5242880, "max_depth": 64, "missing_structured_content": "allow"}}"#,
    ] {
        assert_eq!(accepted(text).show(), empty.show(), "{text}");
    }
    assert_eq!(empty.show(), Config::embedded(&environment()).show());
    assert_eq!(empty.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(empty.data_dir.to_str(), Some("/home/ada/.countersign"));
    assert_eq!(empty.routing_mode, RoutingMode::RetrieveTools);
    assert_eq!(empty.call_tool_timeout, Duration::from_mins(2));
    assert!(empty.require_mcp_auth && empty.servers.is_empty());
}

#[test]
fn the_template_has_every_key_with_its_default() {
    assert_eq!(template(), include_str!("accepted/template.json"));
}

#[test]
fn the_innermost_block_wins_key_by_key() {
    let config = accepted(EXAMPLE);
    let global = config.policy("files", "read").output;
    assert_eq!(
        global,
        OutputValidation {
            max_depth: 32,
            ..OutputValidation::default()
        }
    );
    let server = config.policy("crm", "other");
    assert_eq!(
        (server.output.mode, server.output.max_depth),
        (Mode::Strict, 32)
    );
    assert_eq!(server.input.mode, Mode::Off);
    assert_eq!(server.output.missing_structured_content, Posture::Allow);
    let tool = config.policy("crm", "search");
    assert_eq!(tool.output.missing_structured_content, Posture::Block);
    assert_eq!(tool.output.mode, Mode::Strict);
    assert_eq!(tool.max_message_bytes, 1_048_576);
    assert_eq!(config.policy("nobody", "x").output, global);
}

#[test]
fn sanitising_has_three_levels_and_its_mode_chooses_the_rest() {
    let config = accepted(
        r#"{"output_sanitisation": {"mode": "full", "structured": "report"}, "mcpServers": {
            "a": {"command": "x", "output_sanitisation": {"mode": "clean"}, "tools": {"t": {"output_sanitisation": {"families": ["mistral"]}}}},
            "b": {"command": "x"}}}"#,
    );
    let shown = |server: &str, tool: &str| {
        let settings = config.sanitisation(server, tool).settings;
        let words = [
            settings.mode.as_str(),
            settings.wrap.as_str(),
            settings.structured.as_str(),
        ];
        format!("{} {:?}", words.join(" "), settings.families)
    };
    assert_eq!(shown("b", "t"), "full delimit report []");
    assert_eq!(shown("a", "x"), "clean none report []");
    assert_eq!(shown("a", "t"), r#"clean none report ["mistral"]"#);
    // Tools with the same settings share one sanitiser, and it is the one they ask for.
    assert_eq!(
        config.policy("a", "x").sanitisation.config(),
        Some(&config.sanitisation("a", "y"))
    );
    let off = accepted(r#"{"output_sanitisation": {"mode": "off"}}"#);
    assert!(!off.policy("a", "x").sanitisation.is_on());
}

#[test]
fn servers_by_name_as_desktop_clients_write_them() {
    let config = accepted(
        r#"{"mcpServers": {
            "files": {"type": "stdio", "command": "npx", "args": ["-y", "server-files"], "cwd": "/srv"},
            "web": {"type": "http", "url": "http://127.0.0.1:3000/mcp", "disabled": true}
        }}"#,
    );
    let names: Vec<_> = config
        .servers
        .iter()
        .map(|s| (s.name.as_str(), s.enabled))
        .collect();
    assert_eq!(names, [("files", true), ("web", false)]);
    let Transport::Stdio { working_dir, .. } = &config.servers[0].transport else {
        panic!("not a child");
    };
    assert_eq!(
        working_dir.as_deref().and_then(|dir| dir.to_str()),
        Some("/srv")
    );
}

/// mcpproxy has a setting of the same name, which is an object.
#[test]
fn the_isolation_of_another_program_is_told_of_and_ours_is_read() {
    let theirs = r#"{"mcpServers": {"a": {"command": "x", "isolation": {"enabled": true}}}}"#;
    assert!(warnings(theirs).contains("it runs without a container"));
    let ours = r#"{"mcpServers": {"a": {"command": "x", "isolation": "client"}}}"#;
    assert_eq!(accepted(ours).servers[0].isolation, Some(Isolation::Client));
    let auto = r#"{"mcpServers": {"a": {"command": "x", "isolation": "auto"}}}"#;
    assert_eq!(accepted(auto).servers[0].isolation, None);
}

#[test]
fn what_is_not_implemented_is_said() {
    assert_snapshot!(warnings(r#"{
  "docker_isolation": {"enabled": true},
  "top_k": 5,
  "output_sanitisation": {"mode": "full"},
  "schema_refs": {"enabled": true},
  "api_key": "short",
  "mcpServers": {
    "held": {"command": "x", "quarantined": true},
    "free": {"command": "x", "quarantined": false, "env": {}, "headers": {"a": "b"}},
    "line": {"command": "npx -y server", "enabled_tools": ["a"]},
    "web": {"url": "https://example.com", "args": ["a"], "env": {"A": "b"},
      "tools": {"t": {"output_sanitisation": {"mode": "full"}}}},
    "off": {"command": "x", "env": {"A": "${env:NOT_SET}"}, "enabled": false}
  }
}"#), @r#"
    not implemented in this version and ignored: top_k
    2:3: /docker_isolation: "docker_isolation" is not implemented in this version and is ignored: servers run without a container
    6:14: /api_key: the key has fewer than 16 characters
    hint: remove it to have a good one generated, or use `openssl rand -hex 32`
    8:13: /mcpServers/held: quarantined, so it is not used
    hint: remove "quarantined" once you trust this server
    9:74: /mcpServers/free/headers: "headers" means nothing for this kind of server and is ignored
    10:25: /mcpServers/line/command: a program with spaces in its name and no "args"
    hint: this is not a shell line; put the arguments into "args"
    10:42: /mcpServers/line/enabled_tools: "enabled_tools" is not implemented in this version and is ignored: tools it does not list are visible
    11:51: /mcpServers/web/args: "args" means nothing for this kind of server and is ignored
    11:65: /mcpServers/web/env: "env" means nothing for this kind of server and is ignored
    13:42: /mcpServers/off/env/A: the environment variable NOT_SET is not set
    hint: set NOT_SET before starting, or write NOT_SET=… into `env` in the data directory
    "#);
}

#[test]
fn a_quarantined_server_is_not_used() {
    let text =
        r#"{"mcpServers": {"held": {"command": "x", "enabled": true, "quarantined": true}}}"#;
    let (config, _) = super::read(text).expect("it is accepted");
    assert!(!config.servers[0].enabled);
}
