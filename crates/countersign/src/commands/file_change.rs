//! A change of the configuration file, and its way into the running gateway. All or nothing: what the configuration may not
//! say is not written, and what the running gateway refuses is taken back.

use std::path::Path;

use anyhow::anyhow;
use countersign_config::Source;

use super::config::{refused as refuse, warn};
use crate::Console;
use crate::remote::Remote;
use crate::report::{Failure, printable};

/// What a change came to.
pub(super) struct FileChange {
    pub(super) file: String,
    /// Whether a gateway runs with the file, so that the change is in force.
    pub(super) is_running: bool,
    pub(super) is_changed: bool,
}

/// Makes a change in the file and in the running gateway. The inner error is that of `edit`, with nothing changed.
pub(super) fn change_file<E>(
    source: &Source,
    edit: impl FnOnce(&str) -> Result<String, E>,
    console: &mut Console<'_>,
) -> Result<Result<FileChange, E>, Failure> {
    let file = source.path().display().to_string();
    let before = source.read().map_err(|error| refuse(error, console))?;
    let text = before.as_deref().unwrap_or("{}\n");
    let changed = match edit(text) {
        Ok(changed) => changed,
        Err(error) => return Ok(Err(error)),
    };
    let (config, warnings) = source
        .resolve(Some(&changed))
        .map_err(|error| refuse(error.without_lines(), console))?;
    let gateway = Remote::find(&config)?;
    if let Some(gateway) = &gateway {
        check_file(gateway, source.path())?;
    }
    if changed != text {
        source.write(&changed).map_err(|error| {
            let error = anyhow!(error).context(format!("cannot write '{file}'"));
            Failure::usage(error).hint("check the rights of the file and of its folder")
        })?;
    }
    if let Some(gateway) = &gateway
        && let Err(failure) = gateway
            .post("/api/v1/config/reload", b"")
            .and_then(|answer| answer.json())
    {
        take_back(source, before.as_deref(), &changed)?;
        return Err(failure);
    }
    warn(&file, &warnings, console);
    Ok(Ok(FileChange {
        file,
        is_running: gateway.is_some(),
        is_changed: changed != text,
    }))
}

/// The gateway must use the file that is changed, or the change would not reach it.
fn check_file(gateway: &Remote, file: &Path) -> Result<(), Failure> {
    let status = gateway.get("/api/v1/status")?.json()?;
    let Some(used) = status["config"]["file"].as_str() else {
        let error = anyhow!("the running gateway was not started from a file");
        return Err(Failure::usage(error).hint("start `countersign serve` with --config FILE"));
    };
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if whole(Path::new(used)) == whole(file) {
        return Ok(());
    }
    let error = anyhow!(
        "the running gateway uses {}, not {}",
        printable(used),
        file.display()
    );
    Err(Failure::usage(error)
        .hint("name that file with --config, or another gateway with --data-dir"))
}

/// Undoes a change that the running gateway refused, unless the file has been changed since.
fn take_back(source: &Source, before: Option<&str>, changed: &str) -> Result<(), Failure> {
    let now = source.read().ok().flatten();
    if now.as_deref() != Some(changed) {
        return Ok(());
    }
    let undone = match before {
        Some(before) => source.write(before),
        None => std::fs::remove_file(source.path()),
    };
    undone.map_err(|error| {
        let error = anyhow!(error).context("the change was refused and cannot be undone");
        Failure::usage(error).hint("`countersign config check` says what is wrong with the file")
    })
}
