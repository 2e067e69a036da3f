//! Servers of desktop clients into our configuration, and the boundary into theirs: files in a home of the test's own,
//! the binary as a process, and afterwards the gateway or the client itself. Here: what a preview shows, and what becomes
//! of names that are taken.

mod files;
mod secrets;
mod wrapping;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::home::{OURS, TOKEN, TestHome};

const DESKTOP: &str = ".config/Claude/claude_desktop_config.json";
const ENV: &str = ".countersign/env";

#[test]
fn a_preview_shows_what_would_happen_and_writes_nothing() {
    let desktop = format!(
        r#"{{"globalShortcut": "", "mcpServers": {{
  "github": {{"command": "npx", "args": ["-y", "x"], "env": {{"GITHUB_TOKEN": "{TOKEN}", "LEVEL": "info"}}}},
  "My Files": {{"command": "files", "autoApprove": []}},
  "time": {{"command": "time"}},
  "same": {{"command": "same"}},
  "gateway": {{"url": "http://127.0.0.1:8080/mcp"}},
  "broken": {{"args": []}}
}}}}"#
    );
    let ours = r#"{"mcpServers": {"time": {"command": "other"}, "same": {"command": "same", "timeout": "3s"}}}"#;
    let home = TestHome::with(&[(DESKTOP, &desktop), (OURS, ours)]);
    assert_snapshot!(home.run("import claude-desktop"), @"
    exit: 0
    --- stdout
    ~/.config/Claude/claude_desktop_config.json
      add            github                npx    secret to GITHUB_TOKEN
          arguments: -y x
      add            My Files as my-files  files  without autoApprove
      conflict       time                  time   time is another server in the configuration
      already there  same                  same
      left out       gateway                      it is this gateway
      left out       broken                       it has neither a command nor a url
    --- stderr
    would write ~/.countersign/mcp_config.json: 2 servers
    would write ~/.countersign/env: 1 secret, for its owner only
    hint: --rename imports conflicting servers under another name, --replace takes them instead of those that are there
    hint: nothing is written yet; --yes does it
    ");
    assert_eq!(home.read(OURS), ours);
    assert!(!home.has(ENV));
    let json: Value = serde_json::from_str(&home.run("import -o json").stdout).expect("JSON");
    assert_eq!(json["written"], false);
    assert_eq!(json["servers"][0]["secrets"], json!(["GITHUB_TOKEN"]));
}

/// Claude Code keeps servers of one project under `projects` in its own file: its local scope.
#[test]
fn servers_of_claude_codes_local_scope_are_imported() {
    let home = TestHome::with(&[]);
    let (one, other) = (home.path().join("one"), home.path().join("other"));
    let code = json!({"numStartups": 3, "projects": {
        other.to_str().expect("UTF-8"): {"mcpServers": {}, "allowedTools": []},
        one.to_str().expect("UTF-8"): {"mcpServers": {
            "db": {"type": "stdio", "command": "node", "args": ["./db.js"], "env": {"DB_TOKEN": "s3cret"}},
            "time": {"type": "stdio", "command": "uvx", "args": ["mcp-server-time"]},
        }},
    }});
    home.write(".claude.json", &code.to_string());
    assert_snapshot!(home.run("import claude-code --yes"), @"
    exit: 0
    --- stdout
    ~/.claude.json
      add  db    node  of project ~/one; secret to DB_TOKEN; is started in ~/one
          arguments: ./db.js
      add  time  uvx   of project ~/one
          arguments: mcp-server-time
    --- stderr
    wrote ~/.countersign/mcp_config.json: 2 servers
    wrote ~/.countersign/env: 1 secret, for its owner only
    hint: `countersign doctor` says whether all is well, `countersign serve` starts
    ");
    let config: Value = serde_json::from_str(&home.read(OURS)).expect("JSON");
    assert_eq!(config["mcpServers"]["time"]["command"], "uvx");
    assert_eq!(
        config["mcpServers"]["db"]["working_dir"],
        one.to_str().expect("UTF-8"),
        "a relative path is found where the client would find it"
    );
    assert_eq!(home.read(ENV), "DB_TOKEN='s3cret'\n");
    let ran = home.run("import --wrap claude-code --yes");
    assert!(
        home.read(".claude.json").contains(r#""--name", "db""#),
        "{ran}"
    );
    let ran = home.run("import --unwrap claude-code --yes");
    assert_eq!(home.read(".claude.json"), code.to_string(), "{ran}");
}

/// A file in the home directory is for every project, so `${workspaceFolder}` has no value there.
#[test]
fn the_home_directory_is_not_taken_for_the_workspace_folder() {
    let cursor = r#"{"mcpServers": {"files": {"command": "files", "args": ["--root", "${workspaceFolder}/src"]}, "time": {"command": "time"}}}"#;
    let home = TestHome::with(&[(".cursor/mcp.json", cursor), ("shop/.keep", "")]);
    assert_snapshot!(home.run("import cursor"), @r#"
    exit: 0
    --- stdout
    ~/.cursor/mcp.json
      left out  files        "args" needs ${workspaceFolder}, and the file is for every project: --workspace FOLDER says which one is meant
      add       time   time
    --- stderr
    would write ~/.countersign/mcp_config.json: 1 server
    hint: nothing is written yet; --yes does it
    "#);
    assert_snapshot!(home.run("import cursor --workspace shop --yes"), @"
    exit: 0
    --- stdout
    ~/.cursor/mcp.json
      add  files  files  ${workspaceFolder} is ~/shop
          arguments: --root ~/shop/src
      add  time   time
    --- stderr
    wrote ~/.countersign/mcp_config.json: 2 servers
    hint: `countersign doctor` says whether all is well, `countersign serve` starts
    ");
    let config: Value = serde_json::from_str(&home.read(OURS)).expect("JSON");
    let src = home.path().join("shop/src");
    assert_eq!(
        config["mcpServers"]["files"]["args"][1],
        src.to_str().expect("UTF-8")
    );
    let ran = home.run("import cursor --workspace nowhere");
    assert_eq!(ran.code, Some(2), "{ran}");
}

#[test]
fn a_preview_shows_arguments_without_secrets_and_notices_one_in_a_url() {
    let desktop = r#"{"mcpServers": {
  "bridge": {"command": "npx", "args": ["mcp-remote", "https://x.example/mcp", "--header", "Authorization: Bearer s3cret"]},
  "local": {"command": "sh", "args": ["-c", "exec local --api-key s3cret --root /srv"]},
  "far": {"url": "https://far.example/mcp?region=north&api_key=s3cret"}
}}"#;
    let home = TestHome::with(&[(DESKTOP, desktop)]);
    assert_snapshot!(home.run("import claude-desktop"), @"
    exit: 0
    --- stdout
    ~/.config/Claude/claude_desktop_config.json
      add  bridge  npx                      an argument looks like a secret and stays one: others on this machine can see it
          arguments: mcp-remote https://x.example/mcp --header 'Authorization: [secret]'
      add  local   sh                       an argument looks like a secret and stays one: others on this machine can see it
          arguments: -c 'exec local --api-key [secret] --root /srv'
      add  far     https://far.example/mcp  api_key in the url looks like a secret and stays in the configuration file: if the server takes it in a header, put it there
    --- stderr
    would write ~/.countersign/mcp_config.json: 3 servers
    hint: nothing is written yet; --yes does it
    ");
    let json: Value = serde_json::from_str(&home.run("import -o json").stdout).expect("JSON");
    assert_eq!(
        json["servers"][1]["args"],
        json!(["-c", "exec local --api-key [secret] --root /srv"])
    );
}

#[test]
fn nothing_is_lost_and_conflicts_are_decided() {
    let desktop = r#"{"mcpServers": {"a": {"command": "new", "env": {"API_KEY": "s3cret"}}, "b": {"command": "b"}}}"#;
    let ours = "{\"listen\": \"127.0.0.1:1\",\n \"mcpServers\": [{\"name\": \"a\", \"command\": \"old\", \"output_validation\": {\"mode\": \"strict\"}}]}\n";
    let home = TestHome::with(&[(DESKTOP, desktop), (OURS, ours)]);
    let ran = home.run("import --yes");
    assert_eq!(ran.code, Some(1), "a conflict is left: {ran}");
    let value: Value = serde_json::from_str(&home.read(OURS)).expect("JSON");
    assert_eq!(value["mcpServers"][0]["command"], "old");
    assert_eq!(value["mcpServers"][1]["name"], "b");
    assert!(!home.has(ENV), "its secret is left where it is");

    let ran = home.run("import --write --rename");
    assert_eq!(ran.code, Some(0), "{ran}");
    let value: Value = serde_json::from_str(&home.read(OURS)).expect("JSON");
    assert_eq!(
        value["mcpServers"][2],
        json!({"name": "a-2", "command": "new", "env": {"API_KEY": "${env:A_2_API_KEY}"}})
    );
    assert_eq!(home.read(ENV), "A_2_API_KEY='s3cret'\n");

    let ran = home.run("import --yes --replace");
    assert_eq!(ran.code, Some(0), "{ran}");
    let text = home.read(OURS);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let expected = json!({"name": "a", "command": "new", "env": {"API_KEY": "${env:A_API_KEY}"}, "output_validation": {"mode": "strict"}});
    assert_eq!(value["mcpServers"][0], expected);
    assert!(
        text.starts_with("{\"listen\": \"127.0.0.1:1\",\n \"mcpServers\": ["),
        "{text}"
    );
    assert!(!text.contains("s3cret"));
    let again = home.run("import --yes");
    assert_eq!((again.code, home.read(OURS)), (Some(0), text), "{again}");
    assert_eq!(home.run("config check").code, Some(0));
}
