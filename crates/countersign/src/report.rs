//! How a failure reads: what failed, the chain of causes, and a `hint:` line with the next step.
//! The only file that turns errors into text; commands attach hints, they never print.

use anyhow::Error;
use clap::error::ErrorKind;

use crate::{Console, Exit};

pub(crate) use countersign_probe::report::printable;

/// Why a command could not do its job. A "no" that the command was asked for is an [`Exit`], not a failure.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Nothing if the error was printed already.
    error: Option<Error>,
    hint: Option<String>,
    exit: Exit,
}

impl Failure {
    fn new(error: impl Into<Error>, exit: Exit) -> Self {
        Self {
            error: Some(error.into()),
            hint: None,
            exit,
        }
    }

    /// Wrong usage or configuration that was printed already.
    pub(crate) fn reported() -> Self {
        Self {
            error: None,
            hint: None,
            exit: Exit::Usage,
        }
    }

    pub(crate) fn usage(error: impl Into<Error>) -> Self {
        Self::new(error, Exit::Usage)
    }

    /// The answer is no: the command could not start its work because of it. Exit code 1.
    pub(crate) fn answer_is_no(error: impl Into<Error>) -> Self {
        Self::new(error, Exit::No)
    }

    /// The server or gateway cannot be reached.
    pub(crate) fn unreachable(error: impl Into<Error>) -> Self {
        Self::new(error, Exit::Unreachable)
    }

    /// The caller's fault: the question could not be asked.
    pub(crate) fn is_usage(&self) -> bool {
        self.exit == Exit::Usage
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// An error without a class counts as a bug of this program.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error, Exit::Internal)
    }
}

/// An error and its cause, on one line.
pub(crate) fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// `1 server`, `2 servers`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

/// Prints a failure and says how the process should end.
pub(crate) fn failure(failure: &Failure, console: &mut Console<'_>) -> Exit {
    let text = render(failure);
    console.message(paint(text, console.colours_messages()));
    failure.exit
}

/// Answers arguments that lead to no command: help and version are data, anything else is wrong usage.
pub(crate) fn arguments(refused: &clap::Error, console: &mut Console<'_>) -> Exit {
    let text = refused.render();
    if matches!(
        refused.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        let printed = console.styled_data(&text).and_then(|()| console.flush());
        return printed.map_or_else(|broken| failure(&broken, console), |()| Exit::Ok);
    }
    let text = with_hints(&text.to_string());
    console.message(paint(text, console.colours_messages()));
    Exit::Usage
}

fn render(failure: &Failure) -> String {
    let Some(error) = &failure.error else {
        return String::new();
    };
    let mut lines = vec![format!("error: {}\n", printable(&error.to_string()))];
    let causes = error.chain().skip(1);
    lines.extend(causes.map(|cause| format!("  caused by: {}\n", printable(&cause.to_string()))));
    lines.extend(failure.hint.as_ref().map(|hint| format!("hint: {hint}\n")));
    lines.concat()
}

/// The parser's suggestions in our own form, so that the next step is always on a line that starts with `hint:`.
fn with_hints(usage: &str) -> String {
    let usage = usage.replace("\n  tip: ", "\nhint: ");
    match usage.strip_suffix("For more information, try '--help'.\n") {
        Some(text) => format!("{text}hint: try '--help'\n"),
        None => usage,
    }
}

fn paint(text: String, colour: bool) -> String {
    if !colour {
        return text;
    }
    let lines = text.split_inclusive('\n');
    lines
        .map(|line| match line.split_once(' ') {
            Some(("error:", rest)) => format!("\x1b[1;31merror:\x1b[0m {rest}"),
            Some(("hint:", rest)) => format!("\x1b[1;36mhint:\x1b[0m {rest}"),
            _ => line.to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::{Failure, paint, printable, render};

    fn missing_file() -> Failure {
        let error = anyhow!("No such file or directory").context("cannot read 'order.json'");
        Failure::usage(error).hint("check the path")
    }

    #[test]
    fn a_failure_reads_as_what_why_and_what_next() {
        let text = render(&missing_file());
        insta::assert_snapshot!(text, @r"
        error: cannot read 'order.json'
          caused by: No such file or directory
        hint: check the path
        ");
    }

    #[test]
    fn colours_mark_the_labels_only() {
        let painted = paint(render(&missing_file()), true);
        assert_eq!(painted.matches('\x1b').count(), 4);
        assert!(painted.starts_with("\x1b[1;31merror:\x1b[0m cannot"));
        assert!(painted.contains("\n\x1b[1;36mhint:\x1b[0m check"));
    }

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        let shown = printable("a\x1b[2Jb\u{202e}c\nd \u{e9} \"e\" \\");
        assert_eq!(shown, r#"a\u{1b}[2Jb\u{202e}c\nd é "e" \"#);
    }
}
