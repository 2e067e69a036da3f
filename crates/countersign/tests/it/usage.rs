//! Wrong usage, help, version, and a reader that leaves early.

use std::process::Stdio;

use insta::assert_snapshot;

use crate::support::{binary, countersign};

#[test]
fn version_is_data() {
    let ran = countersign("--version");
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ran.stdout,
        format!("countersign {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(ran.stderr, "");
}

#[test]
fn help_lists_the_commands_and_the_exit_codes() {
    assert_snapshot!(countersign("--help"), @"
    exit: 0
    --- stdout
    The boundary that every MCP tool result crosses before a model reads it

    Usage: countersign <COMMAND>

    Commands:
      serve        Run the gateway
      wrap         Put the boundary before one server that speaks over stdio
      import       Take over the servers of desktop clients, or wrap them where they are
      activity     Read what was called and what was decided
      store        Move the activity log to PostgreSQL, or prepare a database for it
      servers      See and change the servers behind the running gateway
      auth         Log in to servers that need a token, for the running gateway
      keys         Keys of callers: who may use the gateway, and with which rights
      tools        List and call the tools behind the running gateway
      inspect      Say what would happen to a tool result, and why
      sanitise     Clean a text of control tokens and hidden characters [alias: sanitize]
      classify     Measure injection classifiers
      policy       See what a change of the policy would do
      access       See what the rules of the configuration allow a caller
      config       Write, check and show the configuration file
      doctor       Say what is wrong with this set-up and what to type next
      load         Put a server under load, and hold what it answers to its contract
      schema       Check JSON Schemas, and validate JSON against them
      contract     Test whether a server keeps what its tool list promises
      completions  Print a completion script for a shell
      man          Print a manual page
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Examples:
      countersign serve --demo
      countersign wrap -- npx -y some-server
      countersign import claude-desktop
      countersign activity list --status blocked
      countersign policy preview --mode strict --since 7d
      countersign config init
      countersign doctor
      countersign inspect --tool tool.json --mode strict result.json
      countersign sanitise --mode full page.txt
      countersign schema validate weather.schema.json result.json
      countersign load run plan.toml
      countersign contract run -- npx -y some-server
      countersign completions bash > countersign.bash
      countersign man | man -l -

    Exit codes:
      0   done, and the answer is yes
      1   the answer is no: blocked, invalid, gate failed
      2   wrong usage or configuration, or input that cannot be read
      3   the target cannot be reached
      4   the load that was offered was not made, so there is no result
      5   refused by policy: a tool that may not be called, a baseline that may not be written
      6   the baseline is stale
      7   the fuel for this instance was used up before a verdict
      8   the schema cannot be enforced
      70  a bug in countersign
    --- stderr
    ");
}

#[test]
fn no_command_is_wrong_usage() {
    let ran = countersign("");
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr.contains("Usage: countersign <COMMAND>"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_misspelt_command_names_the_nearest() {
    assert_snapshot!(countersign("completion"), @"
    exit: 2
    --- stdout
    --- stderr
    error: unrecognized subcommand 'completion'

    hint: a similar subcommand exists: 'completions'

    Usage: countersign <COMMAND>

    hint: try '--help'
    ");
}

#[test]
fn a_wrong_flag_is_named() {
    assert_snapshot!(countersign("man --colour"), @"
    exit: 2
    --- stdout
    --- stderr
    error: unexpected argument '--colour' found

    hint: to pass '--colour' as a value, use '-- --colour'

    Usage: countersign man [COMMAND]...

    hint: try '--help'
    ");
}

#[test]
fn a_misspelt_value_names_the_allowed_ones_and_the_nearest() {
    assert_snapshot!(countersign("completions bsh"), @"
    exit: 2
    --- stdout
    --- stderr
    error: invalid value 'bsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

    hint: a similar value exists: 'bash'

    hint: try '--help'
    ");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = binary()
        .args(["completions", "bash"])
        .stdin(Stdio::null())
        .spawn()
        .expect("the binary was built");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("its output can be read");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
