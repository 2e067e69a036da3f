//! `countersign keys revoke`: removes a caller from the configuration file, and tells every gateway that shares the store.

use anyhow::anyhow;
use clap::Args;
use countersign_audit::{Reader, Revocation};
use countersign_config::{CallerChange, CallerConfig, Config, Database, Source};
use countersign_gateway::store_options;
use serde_json::json;

use super::{next, refuse_change};
use crate::commands::file_change::{FileChange, change_file};
use crate::commands::gateway_option::GatewayOption;
use crate::format::FormatOption;
use crate::remote::Remote;
use crate::report::{Failure, printable};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign keys revoke ci

The caller is removed from the configuration file, and its key or certificate is revoked in the store. A running gateway refuses
its next request, ends its sessions and closes its streams; so does, within two seconds, every gateway that shares the store, also
if its own file still has the caller. A new key for the same name works. A certificate is accepted again for a caller with another
name only.
Exit codes: 0 revoked, 1 there is no such caller, 2 refused and nothing changed, 3 the running gateway or the store cannot be
asked.";

/// Remove a caller from the configuration file, and refuse its key or certificate in every gateway that shares the store
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Revoke {
    /// The caller
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Revoke, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let source = arguments.gateway.source(console)?;
    // The name may be written as records have it.
    let name = &arguments.name;
    let plain = name
        .strip_prefix("key:")
        .or_else(|| name.strip_prefix("cert:"));
    let name = plain.unwrap_or(name);
    // First the store: if the file cannot be changed, the caller is refused all the same.
    let told = find_caller(&source, name).map(|(config, caller)| revoke_in_store(&config, &caller));
    let change = CallerChange::Remove(name.to_owned());
    let changed = change_file(&source, |file| change.apply(file), console);
    if changed.is_err() && matches!(told, Some(Ok(()))) {
        console.message("the caller is refused by every gateway that shares the store, but its entry is still in the file\n");
    }
    match changed? {
        Err(error) => refuse_change(error, source.path(), console),
        Ok(made) => report(arguments, name, &made, told.unwrap_or(Ok(())), console),
    }
}

fn report(
    arguments: &Revoke,
    name: &str,
    made: &FileChange,
    told: Result<(), Failure>,
    console: &mut Console<'_>,
) -> Result<Exit, Failure> {
    let name = printable(name);
    let value = json!({
        "caller": name,
        "change": "revoked",
        "file": made.file,
        "in_force": made.is_running,
        "in_store": told.is_ok(),
    });
    let text = || {
        let file = printable(&made.file);
        format!("revoked {name} in {file}\n{}", next(made))
    };
    let exit = arguments.format.print(&value, text, console)?;
    told.map(|()| exit).map_err(|failure| {
        failure.hint(
            "other gateways that share the store accept the caller as long as their files have it",
        )
    })
}

/// A caller in the file; nothing if there is none, or the file cannot be used.
fn find_caller(source: &Source, name: &str) -> Option<(Config, CallerConfig)> {
    let text = source.read().ok().flatten();
    let (config, _) = source.resolve(text.as_deref()).ok()?;
    let caller = config.callers.iter().find(|caller| caller.name == name)?;
    let caller = caller.clone();
    Some((config, caller))
}

/// Revokes a caller in the store: by the running gateway, or directly if none runs.
fn revoke_in_store(config: &Config, revoked: &CallerConfig) -> Result<(), Failure> {
    if let Some(gateway) = Remote::find(config)? {
        let path = format!("/api/v1/callers/{}/revoke", revoked.name);
        let answer = gateway.post(&path, b"")?;
        // A gateway that has not read the file yet, or that is of an earlier version.
        if answer.status != 404 {
            return answer.json().map(drop);
        }
    }
    let options = store_options(config);
    let is_new = match config.storage.database() {
        Database::Sqlite(None) => !config.data_dir.join("activity.db").exists(),
        Database::Sqlite(Some(path)) => !std::path::Path::new(path).exists(),
        Database::Postgres(_) => false,
    };
    // Without a store there is no gateway that could have accepted the caller.
    if is_new {
        return Ok(());
    }
    let (caller, key) = (&*revoked.full_name(), revoked.revocation_digest());
    let revoked = Reader::open(&options).and_then(|store| store.revoke(Revocation { caller, key }));
    revoked.map(drop).map_err(|error| {
        Failure::unreachable(
            anyhow!(error).context("cannot revoke the caller in the activity store"),
        )
    })
}
