//! Files of every client, and files that cannot be used.

use insta::assert_snapshot;
use serde_json::Value;

use super::{DESKTOP, ENV};
use crate::support::finish;
use crate::support::home::{OURS, TestHome};

#[test]
fn every_client_is_understood() {
    let vscode = r#"{
  // Servers of this project
  "inputs": [{"type": "promptString", "id": "gh-token", "description": "GitHub token", "password": true}],
  "servers": {
    "github": {"type": "http", "url": "https://api.example/mcp/", "headers": {"Authorization": "Bearer ${input:gh-token}"}},
    "local": {"type": "stdio", "command": "server", "args": ["--root", "${workspaceFolder}"], "env": {"REGION": "${env:REGION}"}, "envFile": ".env"},
    "asks": {"command": "x", "args": ["${input:gh-token}"]}, /* the last */
  },
}"#;
    let mcpproxy = r#"{"listen": ":9", "mcpServers": [
  {"name": "held", "protocol": "stdio", "command": "h", "enabled": true, "quarantined": true, "created": "2025-01-01T00:00:00Z"},
  {"name": "off", "url": "https://o.example/sse", "protocol": "sse", "enabled": false, "headers": {"X-API-Key": "${keyring:off_key}"}}]}"#;
    let home = TestHome::with(&[
        (".vscode/mcp.json", vscode),
        (".mcpproxy/mcp_config.json", mcpproxy),
    ]);
    assert_snapshot!(home.run("import --yes --workspace ."), @r#"
    exit: 0
    --- stdout
    ~/.vscode/mcp.json
      add       github  https://api.example/mcp/  needs GH_TOKEN
      add       local   server                    needs REGION; ${workspaceFolder} is ~; without envFile
          arguments: --root ~
      left out  asks                              "args" needs ${input:gh-token}, and references are replaced in "env" and "headers" only
    ~/.mcpproxy/mcp_config.json
      add  held  h                      without created
      add  off   https://o.example/sse  needs OFF_KEY
    --- stderr
    wrote ~/.countersign/mcp_config.json: 4 servers
    hint: set GH_TOKEN, REGION, OFF_KEY in ~/.countersign/env before starting
    hint: `countersign doctor` says whether all is well, `countersign serve` starts
    "#);
    assert_snapshot!(home.read(OURS).replace(home.path().to_str().expect("UTF-8"), "~"), @r#"
    {
      "mcpServers": {
        "github": {
          "url": "https://api.example/mcp/",
          "headers": {"Authorization": "Bearer ${env:GH_TOKEN}"}
        },
        "local": {
          "command": "server",
          "args": ["--root", "~"],
          "env": {"REGION": "${env:REGION}"}
        },
        "held": {
          "command": "h",
          "quarantined": true
        },
        "off": {
          "url": "https://o.example/sse",
          "headers": {"X-API-Key": "${env:OFF_KEY}"},
          "protocol": "sse",
          "enabled": false
        }
      }
    }
    "#);
    assert_snapshot!(home.read(ENV), @"
    # GH_TOKEN=''  # to be set for github: the client asks its user for it: GitHub token
    # REGION=''  # to be set for local: REGION refers to it
    # OFF_KEY=''  # to be set for off: it was in the keyring of mcpproxy
    ");
}

#[test]
fn one_bad_server_does_not_keep_the_others_out() {
    let desktop = r#"{"mcpServers": {
  "pw": {"url": "https://me:s3cret@x.example/mcp"},
  "odd": {"command": "x", "env": {"B": "${env:N O}"}},
  "line": {"command": "x", "env": {"C\nEVIL": "${env:UNSET}"}},
  "good": {"command": "y", "env": {"GOOD_TOKEN": "s3cret"}}
}}"#;
    let home = TestHome::with(&[(DESKTOP, desktop)]);
    let mut command = home.command("import --yes --data-dir state");
    let ran = finish(command.env("GOOD_TOKEN", "another"), b"");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(!ran.to_string().contains("s3cret"), "{ran}");
    for said in [
        "user and password cannot be part of the address",
        "a ${env:…} reference does not name a variable",
        "GOOD_TOKEN is set to something else here, which wins",
        "`countersign serve --data-dir state` starts",
    ] {
        assert!(ran.to_string().contains(said), "{said}: {ran}");
    }
    let config: Value = serde_json::from_str(&home.read(OURS)).expect("JSON");
    let names: Vec<_> = config["mcpServers"]
        .as_object()
        .expect("servers")
        .keys()
        .collect();
    assert_eq!(names, ["good", "line"]);
    let env = home.read("state/env");
    assert!(
        env.lines()
            .all(|line| line.starts_with("# UNSET=") || line == "GOOD_TOKEN='s3cret'"),
        "{env}"
    );
}

#[test]
fn a_file_that_cannot_be_used_does_not_keep_the_others_out() {
    let home = TestHome::with(&[
        (DESKTOP, r#"{"globalShortcut": ""}"#),
        (".mcp.json", r#"{"mcpServers": {"code": {"command": "x"}}}"#),
        (".cursor/mcp.json", "{"),
        (
            ".codeium/windsurf/mcp_config.json",
            r#"{"mcpServers": {"surf": {"serverUrl": "https://s.example"}}}"#,
        ),
    ]);
    let ran = home.run("import --yes");
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(
        ran.stderr
            .contains("claude_desktop_config.json has no servers\n"),
        "{ran}"
    );
    assert!(ran.stderr.contains("not JSON at line 1"), "{ran}");
    let config: Value = serde_json::from_str(&home.read(OURS)).expect("JSON");
    assert_eq!(config["mcpServers"]["code"]["command"], "x");
    assert_eq!(config["mcpServers"]["surf"]["url"], "https://s.example");
    let ran = home.run("import --wrap --yes");
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(home.read(".mcp.json").contains("\"--name=code\""), "{ran}");
    assert_eq!(
        home.run("import claude-desktop").code,
        Some(0),
        "nothing to import"
    );
    assert_eq!(home.run("import cursor").code, Some(2), "the only one");
}

#[test]
fn files_are_refused_with_a_reason() {
    let home = TestHome::with(&[
        ("bad.json", "{\"mcpServers\": {,}"),
        ("none.json", "{}"),
        ("twice.json", r#"{"mcpServers": {"a": {}, "a": {}}}"#),
    ]);
    for (file, why) in [
        ("bad.json", "not JSON at line 1"),
        ("none.json", "it has no servers"),
        ("twice.json", "repeated"),
        ("missing.json", "No such file"),
    ] {
        let ran = home.run(&format!("import {file}"));
        assert_eq!(ran.code, Some(2), "{ran}");
        assert!(
            ran.stderr.contains(why) && ran.stderr.contains("\nhint: "),
            "{ran}"
        );
    }
    let ran = home.run("import vscode");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("~/.vscode/mcp.json"), "{ran}");
}
