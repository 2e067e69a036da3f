//! What the pattern module promises: the semantics of ECMA-262, refusal with a reason, and linear time.

use super::{Pattern, PatternError, PatternLimits};

mod agreement;
mod hostile;
mod oracle;
mod reference;
mod semantics;
mod suite;
mod syntax;

fn compile(source: &str) -> Result<Pattern, PatternError> {
    Pattern::compile(source, &PatternLimits::default())
}

#[track_caller]
fn matches(source: &str, text: &str) -> bool {
    match compile(source) {
        Ok(pattern) => pattern.is_match(text),
        Err(error) => panic!("{source:?} does not compile: {error}"),
    }
}

/// Asserts that `source` matches every text of `yes` and none of `no`.
#[track_caller]
fn check(source: &str, yes: &[&str], no: &[&str]) {
    for text in yes {
        assert!(matches(source, text), "{source:?} should match {text:?}");
    }
    for text in no {
        assert!(
            !matches(source, text),
            "{source:?} should not match {text:?}"
        );
    }
}
