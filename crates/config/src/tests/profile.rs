//! The profile `hardened`: what it stands for, and what wins over it.

use countersign_inspect::Mode;
use countersign_inspect::config::{
    GuardScope, OutputValidation, Posture, SanitiseMode, Structured,
};

use super::{accepted, refused};
use crate::{Config, Profile};

fn output(config: &Config, server: &str) -> OutputValidation {
    config.policy(server, "tool").output
}

#[test]
fn hardened_blocks_whatever_is_not_known_to_be_good() {
    let config = accepted(r#"{"profile": "hardened", "mcpServers": {"a": {"command": "x"}}}"#);
    let output = output(&config, "a");
    assert_eq!(output.mode, Mode::Strict);
    assert_eq!(output.missing_structured_content, Posture::Block);
    assert_eq!(output.uncompilable_schema, Posture::Block);
    assert_eq!(output.guards, GuardScope::Always);
    let sanitisation = config.sanitisation("a", "tool");
    assert_eq!(sanitisation.settings.mode, SanitiseMode::Full);
    assert_eq!(sanitisation.settings.structured, Structured::Block);
    let shown: serde_json::Value = serde_json::from_str(&config.show()).expect("JSON");
    assert_eq!(shown["profile"], "hardened");
    for (key, value) in Profile::Hardened.settings() {
        let (block, key) = key.split_once('.').expect("a block");
        assert_eq!(shown["mcpServers"][0][block][key], value, "{block}.{key}");
    }
    assert_eq!(Profile::Hardened.settings().len(), 6);
    assert_eq!(Profile::Standard.settings(), []);
}

#[test]
fn single_keys_win_over_the_profile() {
    let config = accepted(
        r#"{"profile": "hardened", "output_validation": {"guards": "declared"}, "mcpServers": {
        "a": {"command": "x", "output_validation": {"mode": "warn"}, "output_sanitisation": {"structured": "report"}}}}"#,
    );
    let output = output(&config, "a");
    assert_eq!(
        (output.mode, output.guards),
        (Mode::Warn, GuardScope::Declared)
    );
    assert_eq!(output.uncompilable_schema, Posture::Block);
    assert_eq!(
        config.sanitisation("a", "tool").settings.structured,
        Structured::Report
    );
}

#[test]
fn a_servers_profile_takes_the_place_of_the_files() {
    let config = accepted(
        r#"{"output_validation": {"mode": "off", "max_depth": 9}, "mcpServers": {
        "a": {"command": "x", "profile": "hardened"}, "b": {"command": "x"}}}"#,
    );
    assert_eq!(
        (output(&config, "a").mode, output(&config, "a").max_depth),
        (Mode::Strict, 9)
    );
    assert_eq!(output(&config, "b").mode, Mode::Off);
    let config = accepted(
        r#"{"profile": "hardened", "mcpServers": {"a": {"command": "x", "profile": "standard"}}}"#,
    );
    assert_eq!(output(&config, "a"), OutputValidation::default());
}

#[test]
fn an_unknown_profile_is_refused() {
    let said = refused(r#"{"profile": "hard"}"#);
    assert!(said.contains("standard, hardened"), "{said}");
}
