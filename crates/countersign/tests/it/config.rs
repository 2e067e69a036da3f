//! `config init`, `check`, `show` and `schema`, with a home of their own.

use insta::assert_snapshot;

use crate::support::{CommandOutput, Folder, binary, finish};

/// Runs in `folder`, which is also the home, with its path shown as `HOME`.
fn run(folder: &Folder, variables: &[(&str, &str)], line: &str) -> CommandOutput {
    let mut command = binary();
    command
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .envs(variables.iter().copied())
        .args(line.split_whitespace());
    let ran = finish(&mut command, b"");
    let home = folder.path().to_string_lossy();
    CommandOutput {
        stdout: ran.stdout.replace(&*home, "HOME"),
        stderr: ran.stderr.replace(&*home, "HOME"),
        ..ran
    }
}

#[test]
fn init_writes_a_file_that_check_accepts() {
    let folder = Folder::with(&[]);
    assert_snapshot!(run(&folder, &[], "config init"), @r#"
    exit: 0
    --- stdout
    --- stderr
    wrote HOME/.countersign/mcp_config.json
    hint: add servers under "mcpServers", then run `countersign config check`
    "#);
    assert_snapshot!(run(&folder, &[], "config check"), @"
    exit: 0
    --- stdout
    HOME/.countersign/mcp_config.json: ok
    --- stderr
    ");
    assert_snapshot!(run(&folder, &[], "config init"), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot write 'HOME/.countersign/mcp_config.json'
      caused by: File exists (os error 17)
    hint: `countersign config check` says whether it is right; --force replaces it
    ");
    let forced = run(&folder, &[], "config init --force");
    assert_eq!(forced.code, Some(0), "{forced}");
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_what_init_writes() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with(&[("mcp_config.json", "old")]);
    for line in [
        "config init new.json",
        "config init --force mcp_config.json",
    ] {
        assert_eq!(run(&folder, &[], line).code, Some(0));
    }
    for name in ["new.json", "mcp_config.json"] {
        let metadata = std::fs::metadata(folder.path().join(name)).expect("it was written");
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{name}");
    }
    let left = std::fs::read_dir(folder.path()).expect("the folder is there");
    assert_eq!(left.count(), 2);
}

#[test]
fn init_to_stdout_is_what_the_schema_accepts() {
    let folder = Folder::with(&[]);
    let template = run(&folder, &[], "config init -").stdout;
    let schema = run(&folder, &[], "config schema").stdout;
    for (name, text) in [("mcp_config.json", &template), ("schema.json", &schema)] {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    let checked = run(&folder, &[], "schema check schema.json");
    assert_eq!(checked.stdout, "schema.json: ok\n", "{checked}");
    let validated = run(&folder, &[], "schema validate schema.json mcp_config.json");
    assert_eq!(validated.stdout, "mcp_config.json: valid\n", "{validated}");
}

#[test]
fn check_names_every_mistake_with_its_place_and_a_hint() {
    let folder = Folder::with(&[(
        "bad.json",
        r#"{
  "lisen": "127.0.0.1:8080",
  "output_validation": {"mode": "stirct"},
  "call_tool_timeout": 30
}"#,
    )]);
    assert_snapshot!(run(&folder, &[], "config check bad.json"), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: bad.json:2:3: /lisen: unknown key "lisen"
    hint: did you mean "listen"? allowed: $schema, listen, api_key, admin_key, callers, session_key, seal_key, allow_api_commands, require_mcp_auth, trusted_hosts, tls, public_url, auth, data_dir, routing_mode, tool_names, call_tool_timeout, session_idle_timeout, stream_keep_alive, session_lifetime, drain_delay, max_message_bytes, max_message_depth, max_inflight_bytes, profile, storage, activity, otlp, output_validation, input_validation, output_sanitisation, classifiers, classifier_budget, schema_refs, access, limits, mcpServers
    error: bad.json:3:33: /output_validation/mode: unknown value "stirct"
    hint: did you mean "strict"? allowed: off, warn, strict
    error: bad.json:4:24: /call_tool_timeout: expected a duration, got a number
    hint: write a number and a unit, like "250ms", "30s", "2m" or "1h30m"
    "#);
    assert_snapshot!(run(&folder, &[], "config check -o json bad.json"), @r#"
    exit: 2
    --- stdout
    {"file":"bad.json","ok":false,"errors":[{"pointer":"/lisen","line":2,"column":3,"message":"unknown key \"lisen\"","hint":"did you mean \"listen\"? allowed: $schema, listen, api_key, admin_key, callers, session_key, seal_key, allow_api_commands, require_mcp_auth, trusted_hosts, tls, public_url, auth, data_dir, routing_mode, tool_names, call_tool_timeout, session_idle_timeout, stream_keep_alive, session_lifetime, drain_delay, max_message_bytes, max_message_depth, max_inflight_bytes, profile, storage, activity, otlp, output_validation, input_validation, output_sanitisation, classifiers, classifier_budget, schema_refs, access, limits, mcpServers"},{"pointer":"/output_validation/mode","line":3,"column":33,"message":"unknown value \"stirct\"","hint":"did you mean \"strict\"? allowed: off, warn, strict"},{"pointer":"/call_tool_timeout","line":4,"column":24,"message":"expected a duration, got a number","hint":"write a number and a unit, like \"250ms\", \"30s\", \"2m\" or \"1h30m\""}],"warnings":[]}
    --- stderr
    "#);
    assert_snapshot!(run(&folder, &[], "config show --config bad.json"), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: bad.json:2:3: /lisen: unknown key "lisen"
    hint: did you mean "listen"? allowed: $schema, listen, api_key, admin_key, callers, session_key, seal_key, allow_api_commands, require_mcp_auth, trusted_hosts, tls, public_url, auth, data_dir, routing_mode, tool_names, call_tool_timeout, session_idle_timeout, stream_keep_alive, session_lifetime, drain_delay, max_message_bytes, max_message_depth, max_inflight_bytes, profile, storage, activity, otlp, output_validation, input_validation, output_sanitisation, classifiers, classifier_budget, schema_refs, access, limits, mcpServers
    error: bad.json:3:33: /output_validation/mode: unknown value "stirct"
    hint: did you mean "strict"? allowed: off, warn, strict
    error: bad.json:4:24: /call_tool_timeout: expected a duration, got a number
    hint: write a number and a unit, like "250ms", "30s", "2m" or "1h30m"
    "#);
}

#[test]
fn check_says_what_would_be_missing() {
    let folder = Folder::with(&[(
        "mcp_config.json",
        r#"{"top_k": 5, "tls": {"enabled": true},
 "mcpServers": {"crm": {"url": "https://crm.example/mcp", "headers": {"Authorization": "Bearer ${env:CRM_TOKEN}"}}}}"#,
    )]);
    assert_snapshot!(run(&folder, &[], "config check mcp_config.json"), @"
    exit: 2
    --- stdout
    --- stderr
    error: mcp_config.json:2:88: /mcpServers/crm/headers/Authorization: the environment variable CRM_TOKEN is not set
    hint: set CRM_TOKEN before starting, or write CRM_TOKEN=… into `env` in the data directory
    ");
    let variables = [("CRM_TOKEN", "t0ken")];
    assert_snapshot!(run(&folder, &variables, "config check mcp_config.json"), @r#"
    exit: 0
    --- stdout
    mcp_config.json: ok
    --- stderr
    warning: mcp_config.json: not implemented in this version and ignored: top_k
    warning: mcp_config.json:1:22: /tls/enabled: "enabled" is not implemented in this version and is ignored: TLS is on where tls.cert_file and tls.key_file are set
    "#);
    assert_snapshot!(run(&folder, &variables, "config check -o json mcp_config.json"), @r#"
    exit: 0
    --- stdout
    {"file":"mcp_config.json","ok":true,"errors":[],"warnings":[{"pointer":null,"line":null,"column":null,"message":"not implemented in this version and ignored: top_k","hint":null},{"pointer":"/tls/enabled","line":1,"column":22,"message":"\"enabled\" is not implemented in this version and is ignored: TLS is on where tls.cert_file and tls.key_file are set","hint":null}]}
    --- stderr
    "#);
}

#[test]
fn a_missing_file_is_an_error() {
    let folder = Folder::with(&[]);
    assert_snapshot!(run(&folder, &[], "config check"), @"
    exit: 2
    --- stdout
    --- stderr
    error: there is no configuration file; without one the defaults hold
    hint: `countersign config init` writes one
    ");
    assert_snapshot!(run(&folder, &[], "config check missing.json"), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot read the configuration file missing.json
      caused by: No such file or directory (os error 2)
    hint: check the path; `countersign config init` writes a new file
    ");
    assert_snapshot!(run(&folder, &[("COUNTERSIGN_CONFIG", "~/gone.json")], "config show"), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot read the configuration file HOME/gone.json
      caused by: No such file or directory (os error 2)
    hint: check the path; `countersign config init` writes a new file
    ");
}

#[test]
fn show_says_what_holds_and_where_it_is_from() {
    let folder = Folder::with(&[]);
    std::fs::create_dir(folder.path().join(".mcpproxy")).expect("a folder can be made");
    std::fs::write(
        folder.path().join(".mcpproxy/mcp_config.json"),
        r#"{"listen": "127.0.0.1:1", "enable_tray": true, "api_key": "${env:KEY}"}"#,
    )
    .expect("a file can be written");
    let variables = [
        ("COUNTERSIGN_LISTEN", "127.0.0.1:2"),
        ("KEY", "0123456789abcdef"),
    ];
    let ran = run(&folder, &variables, "config show");
    assert_snapshot!(ran.stderr, @"
    using HOME/.mcpproxy/mcp_config.json, mcpproxy's file, since there is none of our own
    warning: HOME/.mcpproxy/mcp_config.json: not implemented in this version and ignored: enable_tray
    ");
    let lines: Vec<_> = ran.stdout.lines().skip(1).take(2).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    "listen": "127.0.0.1:2",
    "api_key": "[redacted, from ${env:KEY}]",
    "#);
    assert!(!ran.stdout.contains("0123456789abcdef"));

    // What a profile stands for is said.
    let hardened = Folder::with(&[("c.json", r#"{"profile": "hardened"}"#)]);
    let ran = run(&hardened, &[], "config show --config c.json");
    assert!(ran.stdout.contains(r#""profile": "hardened""#), "{ran}");
    assert_eq!(
        ran.stderr,
        "the profile hardened stands for: output_validation.guards always, output_validation.missing_structured_content block, output_validation.mode strict, output_validation.uncompilable_schema block, output_sanitisation.mode full, output_sanitisation.structured block; single keys win over it\n"
    );

    // Our own file wins as soon as there is one, and so do the defaults it says.
    assert_eq!(run(&folder, &[], "config init").code, Some(0));
    let ran = run(&folder, &[], "config show");
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.contains("127.0.0.1:8080"), "{ran}");
}
