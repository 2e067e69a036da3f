//! `import --wrap` and `--unwrap`: a client's own file, in which servers are started through `countersign wrap`. Only the
//! spans of `command` and `args` change; taking them back gives the file as it was, to the byte. A backup is kept.

mod edit;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use countersign_config::{fitting_server_name, numbered_server_name};
use serde::Serialize;

pub(super) use edit::unwrap_definition;
use edit::{StartCommand, state, unwrapped, wrapped};

use super::Arguments;
use super::client_files::{ClientFile, MCPPROXY};
use super::document::{Document, Entry, FileText};
use super::{read, tolerated};
use crate::files;
use crate::format::Format;
use crate::report::{Failure, printable};
use crate::table::table;
use crate::{Console, Exit};

/// What wrapping or unwrapping does to one server.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

/// What wrapping or unwrapping does to one file.
#[derive(Debug, Default, Serialize)]
struct RewrittenFile {
    file: PathBuf,
    servers: Vec<Row>,
    /// Where the file as it was is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
    /// Whether the file is, or would be, what the backup says.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<bool>,
    written: bool,
    /// The file as it will be, if it changes.
    #[serde(skip)]
    text: Option<String>,
}

impl RewrittenFile {
    fn text(&self) -> String {
        let rows = self.servers.iter().map(|row| {
            let why = row.why.unwrap_or_default();
            [format!("  {}", row.what), row.name.clone(), why.to_owned()]
        });
        // The table begins with the end of an empty line.
        printable(&self.file.to_string_lossy()) + &table(&[""; 3], rows)
    }
}

pub(super) fn run(
    arguments: &Arguments,
    sources: &[ClientFile],
    console: &mut Console<'_>,
) -> Result<Exit, Failure> {
    // Only mcpproxy starts its servers, and it has a boundary of its own: only if asked for by name.
    let meant = |client_file: &&ClientFile| {
        arguments.source.is_some() || client_file.client != Some(MCPPROXY)
    };
    let mut changed = false;
    let mut exit = Exit::Ok;
    for client_file in sources.iter().filter(meant) {
        let Some(text) = read(client_file, console)? else {
            continue;
        };
        let done = rewritten(&text, arguments);
        let Some(done) = tolerated(done, sources, console)? else {
            exit = Exit::Usage;
            continue;
        };
        changed |= done.text.is_some();
        arguments.format.print(&done, || done.text(), console)?;
        if arguments.format.output == Format::Text {
            report_file(&done, arguments, console);
        }
    }
    if changed && !arguments.yes && arguments.format.output == Format::Text {
        console.message("hint: nothing is written yet; --yes does it\n");
    }
    Ok(exit)
}

/// One file, as it will be or, if that was asked for, as it is now.
fn rewritten(text: &FileText, arguments: &Arguments) -> Result<RewrittenFile, Failure> {
    let wraps = arguments.in_place.wrap;
    let mut done = if wraps { wrap(text)? } else { unwrap(text)? };
    if arguments.yes {
        write(text, &mut done, wraps)?;
    }
    Ok(done)
}

fn wrap(text: &FileText) -> Result<RewrittenFile, Failure> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let program = program
        .to_str()
        .ok_or_else(|| anyhow!("the path of this program is not UTF-8"))?;
    let document = text.document()?;
    let mut names: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    let mut bare = Vec::new();
    for Entry { name, node, .. } in &document.servers {
        let (what, why) = match state(&document, *node) {
            StartCommand::Bare { .. } => {
                let own = own_name(name, &names);
                names.push(own.clone());
                bare.push((*node, own));
                ("wrap", None)
            }
            StartCommand::Wrapped { .. } => ("already wrapped", None),
            StartCommand::ByHand => ("already wrapped", Some("by hand")),
            StartCommand::Remote => (
                "left alone",
                Some(
                    "it is reached over HTTP: `countersign import` puts it behind `countersign serve`",
                ),
            ),
            StartCommand::Odd(why) => ("left alone", Some(why)),
        };
        rows.push(Row {
            name: name.clone(),
            what,
            why,
        });
    }
    let mut rewritten = RewrittenFile {
        file: text.path.clone(),
        servers: rows,
        ..RewrittenFile::default()
    };
    if !bare.is_empty() {
        let new = wrapped(&text.original, &document, &bare, program);
        rewritten.text = Some(new.ok_or_else(clash)?);
        rewritten.backup = Some(backup(&text.path));
    }
    Ok(rewritten)
}

fn unwrap(text: &FileText) -> Result<RewrittenFile, Failure> {
    let backup = backup(&text.path);
    let kept = std::fs::read_to_string(&backup).ok();
    let hint = match &kept {
        Some(_) => format!("the file as it was is in {}", backup.display()),
        None => "repair it first".to_owned(),
    };
    let document = text.document().map_err(|failure| failure.hint(hint))?;
    let rows = document.servers.iter().filter_map(|entry| {
        let (what, why) = match state(&document, entry.node) {
            StartCommand::Wrapped { .. } => ("unwrap", None),
            StartCommand::ByHand => ("left alone", Some("it was wrapped by hand")),
            _ => return None,
        };
        Some(Row {
            name: entry.name.clone(),
            what,
            why,
        })
    });
    let rows: Vec<_> = rows.collect();
    let is_wrapped = rows.iter().any(|row| row.what == "unwrap");
    let new = is_wrapped
        .then(|| unwrapped(&text.original, &document).ok_or_else(clash))
        .transpose()?;
    Ok(RewrittenFile {
        file: text.path.clone(),
        servers: rows,
        exact: new.as_ref().and_then(|new| Some(kept.as_ref()? == new)),
        backup: (new.is_some() && kept.is_some()).then_some(backup),
        text: new,
        ..RewrittenFile::default()
    })
}

fn write(text: &FileText, done: &mut RewrittenFile, wraps: bool) -> Result<(), Failure> {
    let Some(new) = &done.text else {
        return Ok(());
    };
    let unwritable = |path: &Path, error: std::io::Error| {
        let error = anyhow!(error).context(format!("cannot write '{}'", path.display()));
        Failure::usage(error).hint("check who owns it")
    };
    let backup = backup(&text.path);
    if wraps {
        // Servers may have been wrapped before: what is kept is the file without any of it.
        let before = unwrapped(&text.original, &text.document()?).ok_or_else(clash)?;
        files::write_with_rights_of(&text.path, &backup, before.as_bytes())
            .map_err(|error| unwritable(&backup, error))?;
    }
    files::rewrite(&text.path, new.as_bytes()).map_err(|error| unwritable(&text.path, error))?;
    done.written = true;
    if !wraps && done.exact == Some(true) {
        // It says nothing that the file itself does not say.
        drop(std::fs::remove_file(&backup));
    }
    Ok(())
}

fn report_file(done: &RewrittenFile, arguments: &Arguments, console: &mut Console<'_>) {
    let verb = if arguments.yes {
        "wrote"
    } else {
        "would write"
    };
    let file = printable(&done.file.to_string_lossy());
    let backup = done
        .backup
        .as_deref()
        .map(|backup| printable(&backup.to_string_lossy()));
    match (&done.text, backup, arguments.in_place.wrap) {
        (None, _, true) => console.message("nothing to wrap\n"),
        (None, _, false) => console.message("nothing is wrapped\n"),
        (Some(_), Some(backup), true) => {
            console.message(format!("{verb} {file}; the file as it was: {backup}\n"));
            if arguments.yes {
                console.message(
                    "hint: start the client again; `countersign import --unwrap` takes it back\n",
                );
            }
        }
        (Some(_), Some(_), false) if done.exact == Some(true) => {
            console.message(format!("{verb} {file}, exactly as it was before\n"));
        }
        (Some(_), Some(backup), false) => {
            console.message(format!("{verb} {file}: it has changed since it was wrapped, and keeps the changes; the file as it was then: {backup}\n"));
        }
        (Some(_), None, _) => console.message(format!(
            "{verb} {file}; there is no backup to compare it with\n"
        )),
    }
}

/// Fits the options of `wrap`, and is used only once in this file.
fn own_name(name: &str, taken: &[String]) -> String {
    let base = fitting_server_name(name).unwrap_or_else(|| "server".to_owned());
    let numbered = (2..).map(|number| numbered_server_name(&base, number));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or(base)
}

fn backup(path: &Path) -> PathBuf {
    let mut backup = path.as_os_str().to_owned();
    backup.push(".countersign-backup");
    backup.into()
}

/// Spans of one document cannot overlap, so a failure is a bug in this program.
fn clash() -> Failure {
    anyhow!("the file cannot be edited").into()
}
