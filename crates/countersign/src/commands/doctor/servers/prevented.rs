//! What keeps a server from being started at all: a variable, a folder or a program that is not there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use countersign_config::{Server, Transport};

use super::NAME;
use crate::commands::doctor::check::Check;
use crate::files;

/// Programs that run others, and where they come from.
const RUNNERS: [(&str, &str); 8] = [
    ("npx", "install Node.js"),
    ("node", "install Node.js"),
    ("uvx", "install uv"),
    ("uv", "install uv"),
    ("docker", "install Docker"),
    ("python", "install Python, or write python3"),
    ("python3", "install Python"),
    ("bunx", "install Bun"),
];

/// What keeps a server from being started at all.
pub(super) fn prevented(server: &Server, missing: &BTreeSet<String>) -> Option<Vec<Check>> {
    let name = &server.name;
    let refers = |variable: &&String| {
        let reference = format!("${{env:{variable}}}");
        let mut secrets = server.transport.secrets().values();
        secrets.any(|value| value.shown().contains(&reference))
    };
    if let Some(variable) = missing.iter().find(refers) {
        let message = format!("{name}: not started, since {variable} is not set");
        let hint = "set it first, as said above";
        return Some(vec![Check::warning(NAME, message, hint)]);
    }
    let Transport::Stdio {
        command,
        working_dir,
        ..
    } = &server.transport
    else {
        return None;
    };
    if let Some(folder) = working_dir.as_deref().filter(|folder| !folder.is_dir()) {
        let folder = folder.display();
        let message = format!("{name}: its working_dir, {folder}, is no folder");
        let hint = format!("run: mkdir -p {folder}, or write another");
        return Some(vec![Check::error(NAME, message, hint)]);
    }
    absent(command, working_dir.as_deref()).map(|why| {
        let message = format!("{name}: the command {command} {why}");
        vec![Check::error(NAME, message, remedy(command, why))]
    })
}

/// Why a command cannot be run, as far as the file system knows.
fn absent(command: &str, working_dir: Option<&Path>) -> Option<&'static str> {
    let is_path = command.contains('/');
    let folders: Vec<PathBuf> = match (is_path, working_dir) {
        (true, None) => vec![PathBuf::new()],
        (true, Some(folder)) => vec![PathBuf::new(), folder.to_owned()],
        (false, _) => std::env::var_os("PATH")
            .map(|path| std::env::split_paths(&path).collect())
            .unwrap_or_default(),
    };
    let found: Vec<PathBuf> = folders
        .iter()
        .map(|folder| folder.join(command))
        .filter(|path| path.is_file())
        .collect();
    let runs = |path: &PathBuf| files::mode(path).is_none_or(|mode| mode & 0o111 != 0);
    match (found.is_empty(), found.iter().any(runs)) {
        (true, _) if is_path => Some("does not exist"),
        (true, _) => Some("is not on PATH"),
        (false, false) => Some("is not executable"),
        (false, true) => None,
    }
}

fn remedy(command: &str, why: &str) -> String {
    if why == "is not executable" {
        return format!("run: chmod +x {command}");
    }
    let runner = RUNNERS.iter().find(|(name, _)| *name == command);
    let install = runner.map_or("install it", |(_, install)| install);
    format!("{install}, or write the whole path of the program as \"command\"")
}
