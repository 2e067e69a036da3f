//! `countersign import`: servers of desktop clients and of mcpproxy into our configuration, their secrets into the env
//! file; or, with `--wrap`, the boundary into a client's own file. Shows what it would do, and does it when told to.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;
use countersign_config::Environment;

use crate::format::{Format, FormatOption};
use crate::report::{self, Failure, printable};
use crate::{Console, Exit};

mod arguments;
mod client_files;
mod definition;
mod document;
mod jsonc;
mod merge;
mod plan;
mod render;
mod secrets;
mod target;
mod translate;
mod wrapping;

use client_files::ClientFile;
use definition::ParsedDefinition;
use document::{Document, Entry, FileFormat, FileText};
use plan::{ExistingSetup, ImportAction, OnConflict, PlannedServer};
use target::{Target, check_server};
use translate::{Context, MovedSecret, translate};

pub(super) use merge::{object, spaced};

pub(super) use secrets::is_secret;
pub(super) use target::STAND_IN;

const EXAMPLES: &str = "\
Examples:
  countersign import                        look everywhere, show what would be imported
  countersign import claude-desktop --yes
  countersign import ./mcp.json --yes --rename
  countersign import --wrap cursor --yes    put the boundary into Cursor's own file
  countersign import --unwrap cursor --yes  and take it out again

Sources: claude-desktop, claude-code, cursor, vscode, windsurf, mcpproxy, or any file, which is recognised by its shape.
Comments and trailing commas are understood.

Secrets (values of `env` and `headers` that look like some) become ${env:NAME} references. Their values go to `env` in
the data directory, which `serve` reads, or to the file that --env-file names; only its owner may read it. They are
never shown.

Exit codes: 0 done, or shown; 1 with --yes, if something was not imported because its name is taken; 2 a file that
cannot be read or written.";

/// Take over the servers of desktop clients, or wrap them where they are
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A client (claude-desktop, claude-code, cursor, vscode, windsurf, mcpproxy) or a file; all known places if not given
    source: Option<String>,
    /// Do it, instead of showing what would be done
    #[arg(long, visible_alias = "write")]
    yes: bool,
    #[command(flatten)]
    names: ConflictOptions,
    #[command(flatten)]
    in_place: InPlaceOptions,
    /// The configuration to import into, if not the usual one
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The data directory, if not where the configuration says
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Where to put secrets, as `export NAME=value` lines, if not into `env` in the data directory
    #[arg(long, value_name = "FILE")]
    env_file: Option<PathBuf>,
    /// The folder that ${workspaceFolder} stands for, in files that are for every project
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
    #[command(flatten)]
    format: FormatOption,
}

/// What to do where a name is taken by another server.
#[derive(Debug, Args)]
struct ConflictOptions {
    /// Where a name is taken by another server, take the imported one
    #[arg(long, conflicts_with = "rename")]
    replace: bool,
    /// Where a name is taken by another server, give the imported one another name
    #[arg(long)]
    rename: bool,
}

/// What to do to the client's own file instead.
#[derive(Debug, Args)]
struct InPlaceOptions {
    /// Instead of importing, have the client start its servers through `countersign wrap`
    #[arg(long, conflicts_with_all = ["replace", "rename", "config", "data_dir", "env_file", "workspace"])]
    wrap: bool,
    /// Take the wrapping out of a client's file again
    #[arg(long, conflicts_with_all = ["wrap", "replace", "rename", "config", "data_dir", "env_file", "workspace"])]
    unwrap: bool,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let environment = Environment::process();
    let sources = sources(arguments, &environment)?;
    if arguments.in_place.wrap || arguments.in_place.unwrap {
        return wrapping::run(arguments, &sources, console);
    }
    let target = Target::find(arguments, &environment)?;
    let (planned, exit) = planned(arguments, &sources, &target, &environment, console)?;
    let text = target.merged(&planned)?;
    if arguments.yes {
        target.write(&text, &planned)?;
    }
    let report = render::ImportReport::new(arguments, &target, &planned);
    arguments.format.print(&report, || report.text(), console)?;
    if arguments.format.output == Format::Text {
        render::next_steps(arguments, &target, &planned, console);
    }
    let is_conflict = |server: &PlannedServer| server.action == ImportAction::Conflict;
    Ok(match exit {
        Exit::Ok => Exit::answer(!arguments.yes || !planned.iter().any(is_conflict)),
        other => other,
    })
}

/// The files to read. A client that is named has to have one.
fn sources(
    arguments: &Arguments,
    environment: &Environment<'_>,
) -> Result<Vec<ClientFile>, Failure> {
    let source = arguments.source.as_deref();
    if let Some(file) = source.filter(|name| !client_files::is_client(name)) {
        let path = PathBuf::from(file);
        return Ok(vec![ClientFile { client: None, path }]);
    }
    let project = std::env::current_dir().context("the current folder is not known")?;
    let mut client_files = client_files::client_files(environment, &project);
    client_files.retain(|client_file| source.is_none() || client_file.client == source);
    let paths = client_files
        .iter()
        .map(|client_file| client_file.path.display().to_string());
    let paths = paths.collect::<Vec<_>>().join(", ");
    client_files.retain(|client_file| client_file.path.exists());
    if client_files.is_empty() {
        let error = anyhow!("none of these files exists: {paths}");
        return Err(Failure::usage(error).hint("name the file: countersign import FILE"));
    }
    Ok(client_files)
}

/// What becomes of every server of every file.
fn planned(
    arguments: &Arguments,
    sources: &[ClientFile],
    target: &Target,
    environment: &Environment<'_>,
    console: &mut Console<'_>,
) -> Result<(Vec<PlannedServer>, Exit), Failure> {
    let mut existing = ExistingSetup {
        servers: target.servers()?,
        variables: target.variables.values.clone(),
        on_conflict: match (arguments.names.replace, arguments.names.rename) {
            (true, _) => OnConflict::Replace,
            (_, true) => OnConflict::Rename,
            _ => OnConflict::Show,
        },
    };
    let named = named_workspace(arguments)?;
    let mut planned = Vec::new();
    let mut exit = Exit::Ok;
    for client_file in sources {
        if target.is_file(&client_file.path) {
            message_about(client_file, "is the configuration itself", console);
            continue;
        }
        let Some(text) = read(client_file, console)? else {
            continue;
        };
        let document = text.document();
        match tolerated(document, sources, console)? {
            Some(document) => planned.extend(plan_file(
                &text,
                &document,
                named.as_deref(),
                (target, environment),
                &mut existing,
            )),
            None => exit = Exit::Usage,
        }
    }
    Ok((planned, exit))
}

/// The text of a file; nothing if it is a client's usual file and has no servers.
fn read(client_file: &ClientFile, console: &mut Console<'_>) -> Result<Option<FileText>, Failure> {
    let text = FileText::read(&client_file.path)?;
    if client_file.client.is_some() && text.is_without_servers() {
        message_about(client_file, "has no servers", console);
        return Ok(None);
    }
    Ok(Some(text))
}

/// The outcome for one file. If it is a failure and there are other files, the failure is printed and the command goes
/// on: nothing is returned.
fn tolerated<T>(
    outcome: Result<T, Failure>,
    sources: &[ClientFile],
    console: &mut Console<'_>,
) -> Result<Option<T>, Failure> {
    match outcome {
        Err(failure) if sources.len() > 1 => {
            report::failure(&failure, console);
            Ok(None)
        }
        other => other.map(Some),
    }
}

fn message_about(client_file: &ClientFile, what: &str, console: &mut Console<'_>) {
    let path = printable(&client_file.path.to_string_lossy());
    console.message(format!("{path} {what}\n"));
}

/// What becomes of every server of one file.
fn plan_file(
    text: &FileText,
    document: &Document<'_>,
    named: Option<&Path>,
    (target, environment): (&Target, &Environment<'_>),
    existing: &mut ExistingSetup,
) -> Vec<PlannedServer> {
    let path = std::path::absolute(&text.path).unwrap_or_else(|_| text.path.clone());
    let known = environment.with_fallback(&target.variables.values);
    let folder =
        workspace(&path, document.file_format).filter(|folder| !is_home(folder, environment));
    let servers = document.servers.iter();
    servers
        .map(|entry| {
            let Entry {
                name,
                node,
                project,
            } = entry;
            let context = Context {
                file_format: document.file_format,
                environment: &known,
                workspace: project.as_deref().or(folder).or(named),
                inputs: &document.inputs,
            };
            let read = match ParsedDefinition::from_settings(&document.value(*node)) {
                Ok(read) => wrapping::unwrap_definition(read),
                Err(why) => return PlannedServer::left_out(text.path.clone(), name, why),
            };
            if target.is_this_gateway(&read.definition) {
                let why = "it is this gateway";
                return PlannedServer::left_out(text.path.clone(), name, why);
            }
            let mut planned = existing.plan(text.path.clone(), name, |name| {
                let translated = translate(&context, name, &read.definition)?;
                check_server(name, &translated.definition).map(|()| translated)
            });
            planned.project.clone_from(project);
            planned.off = read.off;
            planned.quarantined = read.quarantined;
            let notes = &mut planned.notes;
            for MovedSecret { variable, value } in &planned.secrets {
                if environment.get(variable).is_some_and(|set| set != *value) {
                    notes.push(format!(
                        "{variable} is set to something else here, which wins"
                    ));
                }
            }
            if !read.left_out.is_empty() {
                notes.push(format!("without {}", read.left_out.join(", ")));
            }
            planned
        })
        .collect()
}

/// The folder that the operator named, as a whole path.
fn named_workspace(arguments: &Arguments) -> Result<Option<PathBuf>, Failure> {
    let Some(folder) = &arguments.workspace else {
        return Ok(None);
    };
    if !folder.is_dir() {
        let error = anyhow!("'{}' is not a folder", folder.display());
        return Err(Failure::usage(error).hint("name the project's folder with --workspace"));
    }
    let folder = std::path::absolute(folder).context("the current folder is not known")?;
    Ok(Some(folder))
}

/// Whether a folder is the home directory: a client's file there is for every project, and the client sets
/// `${workspaceFolder}` to the one that is open.
fn is_home(folder: &Path, environment: &Environment<'_>) -> bool {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    environment
        .home()
        .is_some_and(|home| whole(home) == whole(folder))
}

/// The project a file belongs to: the folder above `.vscode` and `.cursor`, or the one with `.mcp.json`.
fn workspace(path: &Path, file_format: FileFormat) -> Option<&Path> {
    let folder = path.parent()?;
    let is_named = |name: &str| folder.file_name().is_some_and(|folder| folder == name);
    if is_named(".vscode") || is_named(".cursor") {
        return folder.parent();
    }
    let is_project = path.file_name().is_some_and(|file| file == ".mcp.json");
    (is_project && file_format == FileFormat::Desktop).then_some(folder)
}
