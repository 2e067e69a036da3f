//! Runs a copy of the official JSON Schema test suite and says how many tests pass, per draft.
//!
//! Usage: `cargo run --release -p countersign-schema --example suite -- <suite dir>`. Fails on a failure that
//! `tests/expected-failures.txt` does not list, and on a listed one that passes.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool reports on stdout and stderr"
)]

use std::path::PathBuf;
use std::process::ExitCode;

#[path = "../tests/support/suite.rs"]
mod suite;

const EXPECTED: &str = include_str!("../tests/expected-failures.txt");

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: suite <directory of the JSON Schema test suite>");
        return ExitCode::from(2);
    };
    let reports = match suite::run(&directory) {
        Ok(reports) => reports,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    for report in &reports {
        println!(
            "{:<13} required: {}; optional: {}",
            report.draft, report.required, report.optional
        );
    }
    let judgement = suite::judge(&reports, EXPECTED);
    for name in &judgement.unexpected {
        println!("unexpected failure: {name}");
    }
    for name in &judgement.stale {
        println!("listed as a failure, but passes or is not there: {name}");
    }
    if judgement.is_clean() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
