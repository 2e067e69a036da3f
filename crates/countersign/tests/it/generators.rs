//! Completions and manual pages are generated from the command tree; these tests pin that they follow it.

use insta::assert_snapshot;

use crate::support::countersign;

#[test]
fn every_shell_gets_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = countersign(&format!("completions {shell}"));
        assert_eq!(ran.code, Some(0), "{shell}");
        assert!(
            ran.stdout.contains("completions"),
            "{shell}: the script does not know the commands"
        );
        assert_eq!(ran.stderr, "", "{shell}");
    }
}

#[test]
fn the_manual_describes_the_program() {
    let ran = countersign("man");
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains(".TH countersign 1"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Exit codes:"), "{}", ran.stdout);
}

#[test]
fn the_manual_describes_one_command() {
    let ran = countersign("man completions");
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stdout.contains(".TH countersign-completions 1"),
        "{}",
        ran.stdout
    );
}

#[test]
fn the_manual_of_an_unknown_command_lists_the_known_ones() {
    assert_snapshot!(countersign("man complete"), @"
    exit: 2
    --- stdout
    --- stderr
    error: there is no command 'complete' to describe
    hint: 'countersign' has: serve, wrap, import, activity, store, servers, auth, keys, tools, inspect, sanitise, classify, policy, access, config, doctor, load, schema, contract, completions, man, help
    ");
}
