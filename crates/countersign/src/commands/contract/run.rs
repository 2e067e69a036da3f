//! `countersign contract run`: calls the tools of one server and holds its answers to its declarations.

mod arguments;
mod form;

use anyhow::Context;
use countersign_probe::client::{ConnectError, Fault, ListError};
use countersign_probe::contract::{Run, RunError, Settings};
use countersign_probe::plan::TestSubject;
use countersign_probe::policy::{SchemaPolicy, Validation};

use super::baseline;
use crate::report::{Failure, printable};
use crate::{Console, Exit};

pub(crate) use arguments::Arguments;

/// Tools that a hint names, at most.
const MAX_SHOWN_TOOLS: usize = 20;

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let known = match arguments.baseline.open()? {
        Ok(known) => known,
        Err(refused) => {
            console.message(refused);
            return Ok(Exit::Refused);
        }
    };
    let TestSubject {
        target,
        options,
        validation,
    } = arguments.subject()?;
    let settings = Settings {
        options,
        ..arguments.settings(validation)?
    };
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let mut progress = |text: &str| console.progress(&printable(text));
    let ran = runtime.block_on(countersign_probe::contract::run(
        &target,
        &settings,
        &mut progress,
    ));
    console.progress("");
    runtime.shutdown_background();
    let mut run = ran.map_err(not_run)?;
    let stale = baseline::apply_baseline(
        &arguments.baseline,
        known.as_ref(),
        &mut run,
        settings.case.is_some(),
        console,
    )?;
    for (form, file) in &arguments.report {
        let text = form.render(&run);
        std::fs::write(file, text)
            .with_context(|| format!("cannot write '{}'", file.display()))
            .map_err(Failure::usage)?;
    }
    console.data(arguments.output.render(&run))?;
    print_warnings(&run, console);
    Ok(exit(&run, &settings.validation, stale, arguments))
}

/// What it means that there was no run.
fn not_run(error: RunError) -> Failure {
    if let RunError::NoSuchTool { listed, .. } = &error {
        let hint = tools_hint(listed);
        return Failure::usage(error).hint(hint);
    }
    let hint = if is_unauthorised(&error) {
        "the server wants a credential: give it with --header 'Authorization: Bearer ${env:TOKEN}'"
    } else {
        "check the address or the command; its own messages may say more"
    };
    Failure::unreachable(error).hint(hint)
}

/// Whether the server answered the greeting or the listing with 401 or 403.
fn is_unauthorised(error: &RunError) -> bool {
    matches!(
        error,
        RunError::Connect(ConnectError::Greeting(Fault::Status(401 | 403)))
            | RunError::List(ListError::Unanswered(Fault::Status(401 | 403)))
    )
}

/// The first tools that a server has, for a person who mistyped one.
fn tools_hint(listed: &[String]) -> String {
    if listed.is_empty() {
        return "the server lists no tools".to_owned();
    }
    let shown = listed.iter().take(MAX_SHOWN_TOOLS);
    let shown: Vec<String> = shown.map(|name| printable(name)).collect();
    let more = match listed.len().saturating_sub(MAX_SHOWN_TOOLS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("it has {}{more}", shown.join(", "))
}

/// What the tester should know beside the findings.
fn print_warnings(run: &Run, console: &mut Console<'_>) {
    for pattern in &run.unmatched_overrides {
        console.message(format!(
            "warning: the override for '{}' matches no tool\n",
            printable(pattern)
        ));
    }
    for case in &run.tester_bugs {
        console.message(format!(
            "error: a case was not what it claims to be: {}\n",
            printable(case)
        ));
    }
    if run.is_unexercised && !run.is_refused() {
        console.message(
            "error: no valid call had a result, so nothing was tested\nhint: give arguments that exist with --value NAME=VALUE, and look at what the server answers with --tool NAME --case JSON\n",
        );
    }
    if run.is_refused() {
        console.message(
            "error: no tool may be called\nhint: name the ones that may with --allow-tool GLOB\n",
        );
    }
}

fn exit(run: &Run, validation: &Validation, stale: bool, arguments: &Arguments) -> Exit {
    let failures = run.count(SchemaPolicy::Fail) as u64;
    let tolerated = if validation.strict {
        validation.max_violations
    } else {
        0
    };
    let refused = run.is_refused()
        || (!arguments.tool.is_empty() && run.tools.iter().any(|tool| tool.refused.is_some()));
    if !run.tester_bugs.is_empty() {
        Exit::Internal
    } else if failures > tolerated {
        Exit::No
    } else if refused {
        Exit::Refused
    } else if run.is_unexercised {
        Exit::No
    } else if stale {
        Exit::Stale
    } else {
        Exit::Ok
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn a_bug_of_the_testers_comes_before_every_other_verdict() {
        let Line { arguments } = Line::parse_from(["run", "--", "server"]);
        let validation = Validation::default();
        let mut run = Run::default();
        assert_eq!(exit(&run, &validation, true, &arguments), Exit::Stale);
        run.tester_bugs.push("search: minimal".to_owned());
        let ended = exit(&run, &validation, true, &arguments);
        assert_eq!(ended, Exit::Internal);
        assert_eq!(ended.code(), 70);
    }
}
