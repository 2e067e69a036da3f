//! What an import prints: a line for every server, where its secrets go, what is left to do. It never prints the value of
//! a secret.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Arguments;
use super::plan::{ImportAction, PlannedServer};
use super::target::Target;
use crate::Console;
use crate::report::{counted, printable};
use crate::table::table;

/// The outcome of an import.
#[derive(Debug, Serialize)]
pub(super) struct ImportReport<'a> {
    written: bool,
    config: &'a Path,
    env_file: Option<&'a PathBuf>,
    servers: &'a [PlannedServer],
}

impl<'a> ImportReport<'a> {
    pub(super) fn new(
        arguments: &Arguments,
        target: &'a Target,
        planned: &'a [PlannedServer],
    ) -> Self {
        Self {
            written: arguments.yes && Target::changes(planned),
            config: &target.path,
            env_file: target.variables.path.as_ref(),
            servers: planned,
        }
    }
}

impl ImportReport<'_> {
    /// The table of each file.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut files: Vec<&PathBuf> = self.servers.iter().map(|server| &server.file).collect();
        files.dedup();
        for file in files {
            let servers = self.servers.iter().filter(|server| &server.file == file);
            let servers: Vec<_> = servers.collect();
            let table = table(&[""; 4], servers.iter().map(|server| row(server)));
            text.extend([&printable(&file.to_string_lossy()), "\n"]);
            for (line, server) in table.lines().skip(1).zip(servers) {
                text.extend([line, "\n"]);
                if !server.args.is_empty() {
                    text.extend([&arguments_line(&server.args), "\n"]);
                }
            }
        }
        text
    }
}

/// The arguments below a server's line, quoted where one has spaces in it.
fn arguments_line(args: &[String]) -> String {
    let quoted = args.iter().map(|arg| {
        if arg.is_empty() || arg.contains(char::is_whitespace) {
            format!("'{arg}'")
        } else {
            arg.clone()
        }
    });
    let args = quoted.collect::<Vec<_>>().join(" ");
    format!("      arguments: {}", printable(&args))
}

fn row(server: &PlannedServer) -> [String; 4] {
    let name = if server.from == server.name {
        server.name.clone()
    } else {
        format!("{} as {}", server.from, server.name)
    };
    let mut more = Vec::new();
    more.extend(server.why.clone().filter(|why| !why.is_empty()));
    let project = server.project.iter();
    more.extend(project.map(|project| format!("of project {}", project.display())));
    let secrets = server.secrets.iter();
    more.extend(secrets.map(|secret| format!("secret to {}", secret.variable)));
    let needed = server.needed.iter();
    more.extend(needed.map(|needed| format!("needs {}", needed.variable)));
    more.extend(server.notes.iter().cloned());
    [
        format!("  {}", server.action.as_str().replace('_', " ")),
        name,
        server.what.clone(),
        more.join("; "),
    ]
}

/// What was done, and what to type next.
pub(super) fn next_steps(
    arguments: &Arguments,
    target: &Target,
    planned: &[PlannedServer],
    console: &mut Console<'_>,
) {
    let written: Vec<_> = planned
        .iter()
        .filter(|server| server.is_written())
        .collect();
    say_written(arguments, target, &written, console);
    hints(target, planned, &written, console);
    match (arguments.yes, written.is_empty()) {
        (false, false) => console.message("hint: nothing is written yet; --yes does it\n"),
        (true, false) => {
            let with = flags(arguments);
            console.message(format!(
                "hint: `countersign doctor{with}` says whether all is well, `countersign serve{with}` starts\n"
            ));
        }
        _ => {}
    }
}

fn say_written(
    arguments: &Arguments,
    target: &Target,
    written: &[&PlannedServer],
    console: &mut Console<'_>,
) {
    let secrets: usize = written.iter().map(|server| server.secrets.len()).sum();
    let path = printable(&target.path.to_string_lossy());
    let env = env_file(target);
    let verb = if arguments.yes {
        "wrote"
    } else {
        "would write"
    };
    if written.is_empty() {
        console.message("nothing to import\n");
    } else {
        let servers = counted(written.len(), "server");
        console.message(format!("{verb} {path}: {servers}\n"));
        if secrets > 0 {
            let secrets = counted(secrets, "secret");
            console.message(format!("{verb} {env}: {secrets}, for its owner only\n"));
        }
    }
}

/// What else has to be done, or could be.
fn hints(
    target: &Target,
    planned: &[PlannedServer],
    written: &[&PlannedServer],
    console: &mut Console<'_>,
) {
    if planned
        .iter()
        .any(|server| server.action == ImportAction::Conflict)
    {
        console.message("hint: --rename imports conflicting servers under another name, --replace takes them instead of those that are there\n");
    }
    let taken = |hidden: &Path| planned.iter().any(|server| server.file == hidden);
    let hidden = target.hides.as_deref().filter(|hidden| !taken(hidden));
    if let Some(hidden) = hidden.filter(|_| !written.is_empty()) {
        let hidden = printable(&hidden.to_string_lossy());
        let path = printable(&target.path.to_string_lossy());
        console.message(format!("hint: {hidden} holds only as long as there is no {path}; `countersign import mcpproxy` takes its servers over\n"));
    }
    let needed: Vec<_> = written
        .iter()
        .flat_map(|server| &server.needed)
        .map(|needed| needed.variable.as_str())
        .collect();
    if !needed.is_empty() {
        console.message(format!(
            "hint: set {} in {} before starting\n",
            needed.join(", "),
            env_file(target)
        ));
    }
}

/// Where secrets go.
fn env_file(target: &Target) -> String {
    let path = target.variables.path.as_deref();
    path.map(|path| printable(&path.to_string_lossy()))
        .unwrap_or_default()
}

/// The flags that the next commands need too.
fn flags(arguments: &Arguments) -> String {
    let flags = [
        ("--config", &arguments.config),
        ("--data-dir", &arguments.data_dir),
        ("--env-file", &arguments.env_file),
    ];
    let given = flags.into_iter().filter_map(|(flag, path)| {
        let path = path.as_deref()?.to_string_lossy();
        Some(format!(" {flag} {}", printable(&path)))
    });
    given.collect()
}
