//! Whole files in, configurations or messages out.

mod accepted;
mod access;
mod agreement;
mod auth;
mod classifiers;
mod compatible;
mod listen;
mod mcpproxy;
mod oauth;
mod origin;
mod otlp;
mod profile;
mod refused;

use std::path::PathBuf;

use super::{Config, ConfigError, Environment, Problem, Warning, parse};

/// A home and two variables.
fn environment() -> Environment<'static> {
    let lookup = |name: &str| match name {
        "CRM_TOKEN" => Some("s3cr3t-crm-token".to_owned()),
        "BROKEN_TOKEN" => Some("s3cr3t\r\nX-Injected: yes".to_owned()),
        _ => None,
    };
    Environment::new(lookup, Some(PathBuf::from("/home/ada")))
}

fn read(text: &str) -> Result<(Config, Vec<Warning>), ConfigError> {
    parse(text, &environment())
}

fn accepted(text: &str) -> Config {
    match read(text) {
        Ok((config, warnings)) => {
            assert_eq!(lines(&warnings), "");
            config
        }
        Err(error) => panic!("refused:\n{}", lines(error.problems())),
    }
}

fn warnings(text: &str) -> String {
    match read(text) {
        Ok((_, warnings)) => lines(&warnings),
        Err(error) => panic!("refused:\n{}", lines(error.problems())),
    }
}

fn refused(text: &str) -> String {
    let error = read(text).expect_err("the file should be refused");
    assert!(!error.problems().is_empty());
    for problem in error.problems() {
        assert!(problem.hint.is_some(), "no hint: {problem}");
    }
    lines(error.problems())
}

fn lines(problems: &[Problem]) -> String {
    let lines = problems.iter().flat_map(|problem| {
        let hint = problem.hint.iter().map(|hint| format!("hint: {hint}\n"));
        std::iter::once(format!("{problem}\n")).chain(hint)
    });
    lines.collect()
}
