//! What is wrong with a plan's text, and the word that was probably meant.

use std::ops::Range;

use countersign_inspect::nearest_word;

use super::PlanError;

/// A message for a text that is not a plan, in one line: messages are printed escaped, so a line
/// break in one would be shown as `\n`.
pub(super) fn syntax(text: &str, error: &toml::de::Error) -> PlanError {
    // The error about a word of a set has its own hint.
    let message = error.message();
    let (message, hinted) = message
        .split_once("; did you mean ")
        .unwrap_or((message, ""));
    let mut quoted = message.split('`').skip(1).step_by(2);
    let nearest = if message.starts_with("unknown field") || message.starts_with("unknown variant")
    {
        let wrong = quoted.next().unwrap_or_default();
        nearest_word(wrong, quoted).map(str::to_owned)
    } else {
        hinted.split('"').nth(1).map(str::to_owned)
    };
    PlanError::Syntax {
        message: format!(
            "{}{}",
            line_and_column(text, error.span()),
            one_line(message)
        ),
        nearest,
    }
}

/// Where in the text, as a person counts lines and columns.
fn line_and_column(text: &str, span: Option<Range<usize>>) -> String {
    let before = span.and_then(|span| text.get(..span.start));
    before.map_or_else(String::new, |before| {
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(start..).unwrap_or_default().chars().count() + 1;
        format!("line {line}, column {column}: ")
    })
}

/// The lines of a message after one another.
fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).collect();
    lines.join("; ")
}
