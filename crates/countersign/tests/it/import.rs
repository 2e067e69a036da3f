//! Servers of desktop clients into our configuration, and the boundary into theirs: files in a home of the test's own,
//! the binary as a process, and afterwards the gateway or the client itself.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use countersign_fixture::client::StdioClient;
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::finish;
use crate::support::gateway::Running;
use crate::support::home::{Home, OURS, TOKEN, fixture};

const DESKTOP: &str = ".config/Claude/claude_desktop_config.json";
const ENV: &str = ".countersign/env";

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

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
    let home = Home::with(&[(DESKTOP, &desktop), (OURS, ours)]);
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
    let home = Home::with(&[]);
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
    let home = Home::with(&[(".cursor/mcp.json", cursor), ("shop/.keep", "")]);
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
    let home = Home::with(&[(DESKTOP, desktop)]);
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
    let home = Home::with(&[(DESKTOP, desktop), (OURS, ours)]);
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

#[test]
fn secrets_are_found_again_by_serve() {
    let script = r#"{"name":"s","tools":[]}"#;
    let server = format!(
        "echo \"$DB_TOKEN\" > seen; exec {} stdio --preset demo",
        fixture()
    );
    let desktop = json!({"mcpServers": {"db": {"command": "sh", "args": ["-c", server], "env": {"DB_TOKEN": "it's a s3cret $1"}}}});
    let home = Home::with(&[(DESKTOP, &desktop.to_string()), ("s.json", script)]);
    let ran = home.run("import claude-desktop --yes");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(!home.read(OURS).contains("s3cret"));
    assert_eq!(mode(&home.path().join(ENV)), 0o600);
    assert_eq!(mode(&home.path().join(OURS)), 0o600);
    assert_eq!(mode(&home.path().join(".countersign")), 0o700);
    let mut command = home.command("serve");
    command.args(["--env-file", ENV]);
    let gateway = Running::launch(home.folder(), command);
    gateway.all_up(1);
    assert_eq!(home.read("seen"), "it's a s3cret $1\n");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    // Where nobody names it, the one in the data directory is read.
    let ran = home.run("config show");
    assert!(
        ran.stdout.contains("[redacted, from ${env:DB_TOKEN}]"),
        "{ran}"
    );
}

#[test]
fn a_running_gateway_takes_over_what_is_imported() {
    let home = Home::with(&[(OURS, r#"{"mcpServers": {}}"#)]);
    let mut command = home.command("serve");
    command.args(["--env-file", ENV]);
    home.write(ENV, "");
    let gateway = Running::launch(home.folder(), command);
    let server = format!(
        "echo \"$DB_TOKEN\" > seen; exec {} stdio --preset demo",
        fixture()
    );
    let server = json!({"command": "sh", "args": ["-c", server], "env": {"DB_TOKEN": "s3cret"}});
    home.write(DESKTOP, &json!({"mcpServers": {"db": server}}).to_string());
    let ran = home.run("import claude-desktop --yes");
    assert_eq!(ran.code, Some(0), "{ran}");
    gateway.all_up(1);
    assert_eq!(home.read("seen"), "s3cret\n");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

#[test]
fn a_named_env_file_can_be_sourced() {
    let cursor = r#"{"mcpServers": {"crm": {"url": "https://crm.example/mcp", "headers": {"Authorization": "Bearer s3cret"}}}}"#;
    let home = Home::with(&[(".cursor/mcp.json", cursor)]);
    let ran = home.run("import cursor --yes --env-file secrets.sh");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(
        ran.stderr
            .contains("countersign serve --env-file secrets.sh"),
        "{ran}"
    );
    assert_eq!(home.read("secrets.sh"), "export CRM_TOKEN='s3cret'\n");
    assert_eq!(mode(&home.path().join("secrets.sh")), 0o600);
    assert!(home.read(OURS).contains("Bearer ${env:CRM_TOKEN}"));
    let unset = "the environment variable CRM_TOKEN is not set";
    let shown = home.run("config show");
    assert!(shown.stderr.contains(unset), "{shown}");
    let shown = home.run("config show --env-file secrets.sh");
    assert!(!shown.stderr.contains(unset), "{shown}");
    assert_eq!(shown.code, Some(0), "{shown}");
}

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
    let home = Home::with(&[
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
    let home = Home::with(&[(DESKTOP, desktop)]);
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
    let home = Home::with(&[
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
    let home = Home::with(&[
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

/// A client's file as a person keeps it: comments, its own spacing, a server over HTTP, a secret.
fn kept_file() -> String {
    format!(
        "{{\n  // by hand\n  \"mcpServers\": {{\n    \"demo\": {{ \"command\": \"{}\", \"args\": [ \"stdio\",\n      \"--preset\", \"demo\", ], \"env\": {{\"K\": \"s3cret\"}} }},\n    \"plain\": {{\"command\":\"true\"}},\n    \"far\": {{\"url\": \"https://far.example\"}}\n  }}\n}}\n",
        fixture()
    )
}

#[tokio::test]
async fn a_wrapped_client_file_works_and_can_be_restored_to_the_byte() {
    let original = kept_file();
    let home = Home::with(&[(".cursor/mcp.json", &original)]);
    let backup = ".cursor/mcp.json.countersign-backup";
    assert_snapshot!(home.run("import --wrap cursor"), @"
    exit: 0
    --- stdout
    ~/.cursor/mcp.json
      wrap        demo
      wrap        plain
      left alone  far    it is reached over HTTP: `countersign import` puts it behind `countersign serve`
    --- stderr
    would write ~/.cursor/mcp.json; the file as it was: ~/.cursor/mcp.json.countersign-backup
    hint: nothing is written yet; --yes does it
    ");
    assert_eq!(home.read(".cursor/mcp.json"), original, "a preview");
    assert!(!home.has(backup));

    let ran = home.run("import --wrap cursor --yes");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(home.read(backup), original);
    let wrapped = home.read(".cursor/mcp.json");
    assert!(
        wrapped.contains("// by hand") && wrapped.contains(r#""env": {"K": "s3cret"}"#),
        "{wrapped}"
    );

    // As the client starts it.
    let json = wrapped
        .replace("  // by hand\n", "")
        .replace("\"demo\", ]", "\"demo\"]");
    let config: Value = serde_json::from_str(&json).expect("JSON");
    let demo = &config["mcpServers"]["demo"];
    let mut command = Command::new(demo["command"].as_str().expect("a command"));
    assert!(Path::new(demo["command"].as_str().expect("a command")).is_absolute());
    command.args(
        demo["args"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_str),
    );
    command
        .env_clear()
        .env("HOME", home.path())
        .env("K", "s3cret");
    let mut client = StdioClient::spawn(command, Duration::from_mins(1)).expect("it starts");
    client.handshake("2025-06-18").await.expect("an answer");
    let answer = client
        .call("control_tokens", "{}")
        .await
        .expect("an answer");
    assert!(
        !String::from_utf8_lossy(&answer).contains("<|im_start|>"),
        "it was cleaned"
    );
    client.close_input();
    let status = client.ended().await.expect("it ends");
    assert!(status.success());
    let listed = home.run("activity list --server demo -o jsonl");
    assert!(
        listed.stdout.contains(r#""tool":"control_tokens""#),
        "{listed}"
    );

    let again = home.run("import --wrap cursor --yes");
    assert!(
        again.stdout.contains("already wrapped") && again.stderr.contains("nothing to wrap"),
        "{again}"
    );
    assert_eq!(home.read(".cursor/mcp.json"), wrapped);
    // Imported, it is the server itself and not the wrapping.
    let imported = home.run("import cursor -o json");
    assert!(
        imported.stdout.contains(r#""what":"true""#) && !imported.stdout.contains("wrap"),
        "{imported}"
    );

    let ran = home.run("import --unwrap cursor --yes");
    assert!(ran.stderr.contains("exactly as it was before"), "{ran}");
    assert_eq!(home.read(".cursor/mcp.json"), original);
    assert!(!home.has(backup));
    let ran = home.run("import --unwrap cursor --yes");
    assert!(ran.stderr.contains("nothing is wrapped"), "{ran}");
}

#[test]
fn a_file_that_changed_keeps_its_changes_and_a_broken_one_its_backup() {
    let original = kept_file();
    let home = Home::with(&[("mcp.json", &original)]);
    assert_eq!(home.run("import --wrap mcp.json --yes").code, Some(0));
    let wrapped = home.read("mcp.json");
    home.write(
        "mcp.json",
        &wrapped.replace("// by hand", "// by two hands"),
    );
    let ran = home.run("import --unwrap mcp.json --yes");
    assert!(ran.stderr.contains("keeps the changes"), "{ran}");
    assert_eq!(
        home.read("mcp.json"),
        original.replace("// by hand", "// by two hands")
    );
    assert_eq!(home.read("mcp.json.countersign-backup"), original);

    home.write("mcp.json", wrapped.get(..wrapped.len() - 4).expect("ASCII"));
    let ran = home.run("import --unwrap mcp.json --yes");
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(
        ran.stderr
            .contains("hint: the file as it was is in mcp.json.countersign-backup"),
        "{ran}"
    );
}
