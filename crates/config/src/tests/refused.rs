//! Every message, as a person would read it.

use countersign_tape::{Limits, Tape};
use insta::assert_snapshot;

use super::accepted::EXAMPLE;
use super::refused;

#[test]
fn what_is_not_json() {
    assert_snapshot!(refused(""), @"
    1:1: not JSON: expected a value at byte 0
    hint: the smallest configuration is {}; `countersign config init` writes a whole one
    ");
    assert_snapshot!(refused("{\n  // servers\n}"), @"
    2:3: not JSON: expected a member name at byte 4
    hint: comments are not JSON; remove it
    ");
    assert_snapshot!(refused("{\n  \"listen\": \"x\",\n}"), @"
    3:1: not JSON: expected a member name at byte 19
    hint: remove the comma before it
    ");
    assert_snapshot!(refused("{'listen': 1}"), @"
    1:2: not JSON: expected a member name at byte 1
    hint: strings are written in double quotes
    ");
    assert_snapshot!(refused("{\"listen\" 1}"), @"
    1:11: not JSON: expected `:` at byte 10
    hint: look for a missing comma, quote or bracket just before this place
    ");
    assert_snapshot!(refused("[]"), @"
    1:1: the configuration is an object, and this is an array
    hint: the smallest configuration is {}
    ");
    assert_snapshot!(refused(&"[".repeat(100)), @"
    1:64: nested deeper than 64 levels
    hint: no setting is nested like that; look for a bracket too many
    ");
    assert_snapshot!(refused("{\"listen\": \"127.0.0.1:1\",\n \"listen\": \"127.0.0.1:2\"}"), @r#"
    2:2: /listen: the key "listen" is repeated
    hint: keep one of them; which one would count is not defined
    "#);
}

#[test]
fn a_misspelt_word_names_the_allowed_ones_and_the_nearest() {
    assert_snapshot!(refused(r#"{"output_validation": {"mode": "stirct"}}"#), @r#"
    1:32: /output_validation/mode: unknown value "stirct"
    hint: did you mean "strict"? allowed: off, warn, strict
    "#);
    assert_snapshot!(refused(r#"{"routing_mode": "code_execution"}"#), @r#"
    1:18: /routing_mode: unknown value "code_execution"
    hint: allowed: retrieve_tools, direct
    "#);
    assert_snapshot!(refused(r#"{"mcpServers": [{"name": "a", "url": "http://a", "protocol": "streamable_http"}]}"#), @r#"
    1:62: /mcpServers/0/protocol: unknown value "streamable_http"
    hint: did you mean "streamable-http"? allowed: auto, stdio, streamable-http, http, sse
    "#);
}

#[test]
fn an_unknown_key_names_the_allowed_ones_and_the_nearest() {
    assert_snapshot!(refused(r#"{"output_validaton": {}}"#), @r#"
    1:2: /output_validaton: unknown key "output_validaton"
    hint: did you mean "output_validation"? allowed: $schema, listen, api_key, admin_key, callers, session_key, seal_key, allow_api_commands, require_mcp_auth, trusted_hosts, tls, public_url, auth, data_dir, routing_mode, tool_names, call_tool_timeout, session_idle_timeout, stream_keep_alive, session_lifetime, drain_delay, max_message_bytes, max_message_depth, max_inflight_bytes, profile, storage, activity, otlp, output_validation, input_validation, output_sanitisation, classifiers, classifier_budget, schema_refs, access, limits, mcpServers
    "#);
    assert_snapshot!(refused(r#"{"activity": {"retention": 3}}"#), @r#"
    1:15: /activity/retention: unknown key "retention"
    hint: allowed: retention_days, retention_floor_days, max_records, max_size_mb, payloads, payload_max_bytes, durability, on_store_error, max_event_streams, signing_key, previous_signing_key, log_origin, anchors
    "#);
    assert_snapshot!(refused(r#"{"mcpServers": {"a": {"comand": "x"}}}"#), @r#"
    1:23: /mcpServers/a/comand: unknown key "comand"
    hint: did you mean "command"? allowed: name, command, args, env, working_dir, cwd, url, headers, oauth, protocol, type, era, isolation, max_client_connections, enabled, disabled, quarantined, timeout, total_timeout, connect_timeout, start_timeout, max_concurrent_requests, queue_size, trust_annotations, profile, output_validation, input_validation, output_sanitisation, classify, tools
    "#);
    assert_snapshot!(refused(r#"{"mcpServers": {"a": {"command": "x", "tools": {"t": {"mode": "strict"}}}}}"#), @r#"
    1:55: /mcpServers/a/tools/t/mode: unknown key "mode"
    hint: allowed: output_validation, input_validation, output_sanitisation, classify, free_text
    "#);
    assert_snapshot!(refused("{\"\\u001b[2J\\u0000colour\": 1}"), @r#"
    1:2: /[2Jcolour: unknown key "[2Jcolour"
    hint: allowed: $schema, listen, api_key, admin_key, callers, session_key, seal_key, allow_api_commands, require_mcp_auth, trusted_hosts, tls, public_url, auth, data_dir, routing_mode, tool_names, call_tool_timeout, session_idle_timeout, stream_keep_alive, session_lifetime, drain_delay, max_message_bytes, max_message_depth, max_inflight_bytes, profile, storage, activity, otlp, output_validation, input_validation, output_sanitisation, classifiers, classifier_budget, schema_refs, access, limits, mcpServers
    "#);
}

#[test]
fn wrong_types_are_all_reported_at_once() {
    assert_snapshot!(refused(r#"{
  "listen": 8080,
  "require_mcp_auth": "yes",
  "call_tool_timeout": 30,
  "max_message_bytes": 1e7,
  "activity": {"max_records": -1, "retention_days": 1.5, "durability": null},
  "output_validation": {"fuel_factor": 0, "max_depth": 0},
  "trusted_hosts": "example.com",
  "classifiers": ["local"],
  "mcpServers": {"a": {"command": "x", "env": {"PORT": 8080}, "timeout": "30"}, "b": "npx"}
}"#), @r#"
    2:13: /listen: expected a string or an array of strings, got a number
    hint: write a string or an array of strings, or leave it out
    3:23: /require_mcp_auth: expected true or false, got a string
    hint: write true or false, or leave it out
    4:24: /call_tool_timeout: expected a duration, got a number
    hint: write a number and a unit, like "250ms", "30s", "2m" or "1h30m"
    5:24: /max_message_bytes: 1e7 is not a whole number from 1024 to 1073741824
    hint: write it in digits only, without exponent or unit
    6:31: /activity/max_records: -1 is not a whole number from 0 to 9007199254740992
    hint: write it in digits only, without exponent or unit
    6:53: /activity/retention_days: 1.5 is not a whole number from 0 to 36500
    hint: write it in digits only, without exponent or unit
    6:72: /activity/durability: expected one of commit, sync, async, got null
    hint: write one of them in quotes, or leave it out
    7:40: /output_validation/fuel_factor: 0 is not a number greater than 0
    hint: 1.0 is the default
    7:56: /output_validation/max_depth: 0 is not a whole number from 1 to 4294967295
    hint: write it in digits only, without exponent or unit
    8:20: /trusted_hosts: expected an array of strings, got a string
    hint: write an array of strings, or leave it out
    9:19: /classifiers/0: expected an object, got a string
    hint: write an object, or leave it out
    10:56: /mcpServers/a/env/PORT: expected a string, got a number
    hint: write a string, or leave it out
    10:74: /mcpServers/a/timeout: "30" is not a duration
    hint: write a number and a unit, like "250ms", "30s", "2m" or "1h30m"
    10:86: /mcpServers/b: expected an object, got a string
    hint: write an object, or leave it out
    "#);
}

#[test]
fn addresses_keys_and_limits() {
    assert_snapshot!(refused(r#"{"listen": "example.com:9000"}"#), @r#"
    1:12: /listen: not an address and port
    hint: write "127.0.0.1:9000" for this machine only, or "0.0.0.0:9000" for every interface
    "#);
    assert_snapshot!(refused(r#"{"listen": "8080"}"#), @r#"
    1:12: /listen: not an address and port
    hint: write "127.0.0.1:8080" for this machine only, or "0.0.0.0:8080" for every interface
    "#);
    assert_snapshot!(refused(r#"{"api_key": ""}"#), @r#"
    1:13: /api_key: the key is empty
    hint: remove it to have one generated, or set "require_mcp_auth": false on a loopback address
    "#);
    assert_snapshot!(refused(r#"{"api_key": "a b"}"#), @"
    1:13: /api_key: the key has characters that cannot be sent in a header
    hint: use letters, digits and punctuation without spaces
    ");
    assert_snapshot!(refused(r#"{"api_key": "${env:NOT_SET}"}"#), @"
    1:13: /api_key: the environment variable NOT_SET is not set
    hint: set NOT_SET before starting, or write NOT_SET=… into `env` in the data directory
    ");
    assert_snapshot!(refused(r#"{"api_key": "${env:NOT-A-NAME}"}"#), @"
    1:13: /api_key: a ${env:…} reference does not name a variable
    hint: write ${env:NAME}, with letters, digits and _ in the name
    ");
    assert_snapshot!(refused(r#"{"api_key": "${env:OPEN"}"#), @"
    1:13: /api_key: a ${env:…} reference has no end
    hint: write ${env:NAME}
    ");
    assert_snapshot!(refused(r#"{"activity": {"signing_key": "abc"}}"#), @"
    1:30: /activity/signing_key: not 64 hexadecimal digits
    hint: `openssl rand -hex 32` makes one; null has one generated
    ");
    assert_snapshot!(refused(r#"{"data_dir": "~root/x"}"#), @"
    1:14: /data_dir: '~' with a user's name is not understood
    hint: write '~/…' for your own home, or the whole path
    ");
    assert_snapshot!(refused(r#"{"data_dir": ""}"#), @"
    1:14: /data_dir: an empty path
    hint: leave out the key
    ");
    assert_snapshot!(refused(r#"{"max_inflight_bytes": 1048576}"#), @"
    1:24: /max_inflight_bytes: one message may have 16777216 bytes and all of them only 1048576
    hint: set max_inflight_bytes to 16777216 or more, better to 16 times that
    ");
    assert_snapshot!(refused(r#"{"trusted_hosts": ["ok.example", "*", "http://x"]}"#), @r#"
    1:34: /trusted_hosts/1: not a host name
    hint: write a name with or without a port, like "tools.example.com"; there is no wildcard
    1:39: /trusted_hosts/2: not a host name
    hint: write a name with or without a port, like "tools.example.com"; there is no wildcard
    "#);
    assert_snapshot!(refused(r#"{"storage": {"url": "postgres://ada:pw@db/x?sslmode=disable"}}"#), @r#"
    1:21: /storage/url: sslmode=disable is allowed for this machine only: loopback addresses and Unix sockets
    hint: write "sqlite:", "sqlite:PATH" or "postgres://user:password@host:5432/database"
    "#);
    assert_snapshot!(refused(r#"{"storage": {"url": "mysql:"}}"#), @r#"
    1:21: /storage/url: not a storage URL
    hint: write "sqlite:", "sqlite:PATH" or "postgres://user:password@host:5432/database"
    "#);
    assert_snapshot!(refused(r#"{"require_mcp_auth": false, "listen": "0.0.0.0:8080"}"#), @r#"
    1:22: /require_mcp_auth: 0.0.0.0:8080 would be open to anyone without a key
    hint: set "require_mcp_auth": true, or listen on 127.0.0.1
    "#);
}

#[test]
fn names_of_servers() {
    assert_snapshot!(refused(r#"{"mcpServers": [{"command": "x"}]}"#), @r#"
    1:17: /mcpServers/0: a server needs a "name"
    hint: a name is 1 to 20 characters of a-z, 0-9 and -
    "#);
    assert_snapshot!(refused(r#"{"mcpServers": [{"name": "", "command": "x"}]}"#), @r#"
    1:26: /mcpServers/0/name: a server needs a "name"
    hint: a name is 1 to 20 characters of a-z, 0-9 and -
    "#);
    assert_snapshot!(refused(r#"{"mcpServers": [{"name": "a", "command": "x"}, {"name": "a", "command": "y"}]}"#), @r#"
    1:48: /mcpServers/1: the name "a" is already that of /mcpServers/0
    hint: give each server its own
    "#);
    assert_snapshot!(refused(r#"{"mcpServers": {"a": {"name": "b", "command": "x"}}}"#), @r#"
    1:31: /mcpServers/a/name: "name" is "b" here
    hint: remove it; the key is the name
    "#);
}

#[test]
fn an_era_that_the_transport_does_not_have() {
    assert_snapshot!(refused(r#"{"mcpServers": {"a": {"url": "http://x", "type": "sse", "era": "modern"}}}"#), @r#"
    1:64: /mcpServers/a/era: the protocol sse has no modern era
    hint: remove "era"
    "#);
}

#[test]
fn servers_that_cannot_be_reached() {
    assert_snapshot!(refused(r#"{"mcpServers": {
  "neither": {},
  "both": {"command": "x", "url": "http://x"},
  "stdio": {"protocol": "stdio", "url": "http://x"},
  "http": {"type": "http", "command": "x"},
  "empty": {"command": ""},
  "scheme": {"url": "ftp://x"},
  "user": {"url": "https://ada:pw@x/mcp"},
  "host": {"url": "https:///mcp"},
  "space": {"url": "https://x/a b"}
}}"#), @r#"
    2:14: /mcpServers/neither: a server needs a "command" or a "url"
    hint: give the program to start, or the address to connect to
    3:11: /mcpServers/both: "command" and "url" are both given
    hint: a server is either started or connected to; keep one
    4:12: /mcpServers/stdio: the protocol stdio needs a "command", and there is a "url"
    hint: leave out the protocol: a "url" implies it
    5:11: /mcpServers/http: the protocol http needs a "url", and there is a "command"
    hint: leave out the protocol: a "command" implies it
    6:24: /mcpServers/empty/command: not a program
    hint: write the name of a program or a path to one
    7:21: /mcpServers/scheme/url: not an http:// or https:// address
    hint: write "https://host/path"
    8:19: /mcpServers/user/url: user and password cannot be part of the address
    hint: put them into "headers", with ${env:NAME}
    9:19: /mcpServers/host/url: not a complete address
    hint: write "https://host/path"
    10:20: /mcpServers/space/url: not a complete address
    hint: write "https://host/path"
    "#);
}

#[test]
fn settings_of_servers_that_contradict() {
    assert_snapshot!(refused(r#"{"mcpServers": {
  "a": {"command": "x", "enabled": true, "disabled": false},
  "b": {"command": "x", "protocol": "stdio", "type": "stdio"},
  "c": {"command": "x", "working_dir": "/a", "cwd": "/a"},
  "d": {"command": "x", "working_dir": "~ada/a"}
}}"#), @r#"
    2:8: /mcpServers/a: "enabled" and "disabled" are both given
    hint: keep "enabled"
    3:8: /mcpServers/b: "protocol" and "type" are both given
    hint: keep "protocol"
    4:8: /mcpServers/c: "working_dir" and "cwd" are both given
    hint: keep "working_dir"
    5:40: /mcpServers/d/working_dir: '~' with a user's name is not understood
    hint: write '~/…' for your own home, or the whole path
    "#);
}

#[test]
fn references_and_headers() {
    assert_snapshot!(refused(r#"{"mcpServers": {
  "a": {"command": "x", "env": {"TOKEN": "${env:NOT_SET}", "KEY": "${keyring:key}", "A=B": "x"}},
  "b": {"command": "x", "args": ["--token", "${env:CRM_TOKEN}"]},
  "c": {"url": "https://x/${env:CRM_TOKEN}"},
  "d": {"url": "https://x", "headers": {"Host": "y", "Mcp-Session-Id": "1", "a b": "c", "X-A": "1", "x-a": "2"}},
  "e": {"url": "https://x", "headers": {"Authorization": "${env:BROKEN_TOKEN}"}}
}}"#), @r#"
    2:67: /mcpServers/a/env/KEY: ${keyring:…} references are not supported
    hint: put the value into a variable and write ${env:NAME}
    2:92: /mcpServers/a/env/A=B: not the name of a variable
    hint: a name is not empty and has no = in it
    3:45: /mcpServers/b/args/1: references are not replaced here
    hint: put the secret into "env"
    4:16: /mcpServers/c/url: references are not replaced here
    hint: put the secret into "headers"
    5:49: /mcpServers/d/headers/Host: the gateway sets this header itself
    hint: remove it
    5:72: /mcpServers/d/headers/Mcp-Session-Id: the gateway sets this header itself
    hint: remove it
    5:84: /mcpServers/d/headers/a b: not the name of a header
    hint: a name is letters, digits and -, without spaces or colon
    5:108: /mcpServers/d/headers/x-a: the header is given twice
    hint: keep one
    6:58: /mcpServers/e/headers/Authorization: the value has characters a header cannot hold
    hint: a line break at the end of a variable is a common reason
    "#);
}

#[test]
fn one_line_tells_the_file_the_first_and_the_rest() {
    let error = super::read(r#"{"listen": 1, "api_key": 2}"#).expect_err("refused");
    let error = error.in_file(std::path::Path::new("/etc/mcp_config.json"));
    assert_snapshot!(error, @"/etc/mcp_config.json:1:12: /listen: expected a string or an array of strings, got a number (and 1 more)");
}

/// Every value replaced by every other kind of value, and every byte left out: never a panic, and
/// never a message without a hint, which is what serde's own would be.
#[test]
fn whatever_is_wrong_is_said_with_a_hint() {
    let tape = Tape::parse(EXAMPLE.as_bytes(), &Limits::default()).expect("an example");
    let values = [
        "null",
        "true",
        "-1",
        "0",
        "1e400",
        "1.5",
        "18446744073709551616",
        "\"\"",
        "\"x\"",
        "\"${env:X}\"",
        "\"1s\"",
        "[]",
        "[[]]",
        "[{}]",
        "{}",
        "{\"a\":{}}",
        "{\"\":\"\"}",
    ];
    let mut files = Vec::new();
    for node in tape.nodes() {
        let (start, end) = (node.start() as usize, node.end() as usize);
        let (before, after) = (&EXAMPLE[..start], &EXAMPLE[end..]);
        files.extend(values.map(|value| format!("{before}{value}{after}")));
    }
    for (offset, _) in EXAMPLE.char_indices() {
        files.push(format!("{}{}", &EXAMPLE[..offset], &EXAMPLE[offset + 1..]));
    }
    let mut refusals = 0;
    for file in files {
        if let Err(error) = super::read(&file) {
            refusals += 1;
            for problem in error.problems() {
                assert!(problem.hint.is_some(), "{problem} in {file}");
            }
        }
    }
    assert!(refusals > 1000, "{refusals}");
}

#[test]
fn a_thousand_mistakes_are_not_all_told() {
    let servers: Vec<_> = (0..1000)
        .map(|n| format!("\"A{n}\": {{\"command\": \"\"}}"))
        .collect();
    let file = format!("{{\"mcpServers\": {{{}}}}}", servers.join(","));
    let error = super::read(&file).expect_err("no name is allowed");
    assert_eq!(error.problems().len(), 50);
}

#[test]
fn sanitising_that_cannot_be_done_is_refused_with_its_place() {
    assert_snapshot!(refused(r#"{"output_sanitisation": {"mode": "claen", "wraps": 1, "max_text_chars": -1}}"#), @r#"
    1:34: /output_sanitisation/mode: unknown value "claen"
    hint: did you mean "clean"? allowed: off, detect, clean, full
    1:43: /output_sanitisation/wraps: unknown key "wraps"
    hint: did you mean "wrap"? allowed: mode, normalisation, invisibles, on_token, wrap, structured, mirror_text, nonce, max_text_chars, families, extra_tokens, host_instruction
    1:73: /output_sanitisation/max_text_chars: -1 is not a whole number from 0 to 1073741824
    hint: write it in digits only, without exponent or unit
    "#);
    let unknown = refused(
        r#"{"mcpServers": {"a": {"command": "x", "output_sanitisation": {"families": ["mistrel"]}}}}"#,
    );
    assert!(unknown.starts_with(r#"1:75: /mcpServers/a/output_sanitisation/families: families: unknown family "mistrel", known: all, "#), "{unknown}");
    let short = refused(
        r#"{"mcpServers": {"a": {"command": "x", "tools": {"t": {"output_sanitisation": {"extra_tokens": ["x"]}}}}}}"#,
    );
    assert!(
        short.contains("/mcpServers/a/tools/t/output_sanitisation/extra_tokens"),
        "{short}"
    );
}
