//! `countersign keys revoke`: removes a caller from the configuration file, and tells every gateway that shares the store.

use anyhow::anyhow;
use clap::Args;
use countersign_audit::{KeyDigest, Reader, Revocation};
use countersign_config::{CallerChange, CallerCredential, Config, Database, Source};
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

The caller is removed from the configuration file, and its key is revoked in the store. A running gateway refuses its next
request, ends its sessions and closes its streams; so does, within two seconds, every gateway that shares the store, also if
its own file still has the key. A new key for the same name works.
Exit codes: 0 revoked, 1 there is no such caller, 2 refused and nothing changed, 3 the running gateway or the store cannot be
asked.";

/// Remove a caller from the configuration file, and refuse its key in every gateway that shares the store
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
    let name = name.strip_prefix("key:").unwrap_or(name);
    // First the store: if the file cannot be changed, the key is refused all the same.
    let told = find_key(&source, name).map(|(config, key)| revoke_in_store(&config, name, key));
    let change = CallerChange::Remove(name.to_owned());
    let changed = change_file(&source, |file| change.apply(file), console);
    if changed.is_err() && matches!(told, Some(Ok(()))) {
        console.message("the key is refused by every gateway that shares the store, but its entry is still in the file\n");
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
            "other gateways that share the store accept the key as long as their files have it",
        )
    })
}

/// The key of a caller in the file; nothing if there is none, or the file cannot be used.
fn find_key(source: &Source, name: &str) -> Option<(Config, KeyDigest)> {
    let text = source.read().ok().flatten();
    let (config, _) = source.resolve(text.as_deref()).ok()?;
    let caller = config.callers.iter().find(|caller| caller.name == name)?;
    match caller.credential {
        CallerCredential::Key(key) => Some((config.clone(), key)),
        CallerCredential::Certificate(_) => None,
    }
}

/// Revokes a key in the store: by the running gateway, or directly if none runs.
fn revoke_in_store(config: &Config, name: &str, key: KeyDigest) -> Result<(), Failure> {
    if let Some(gateway) = Remote::find(config)? {
        let path = format!("/api/v1/callers/{name}/revoke");
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
    // Without a store there is no gateway that could have accepted the key.
    if is_new {
        return Ok(());
    }
    let caller = &*format!("key:{name}");
    let revoked = Reader::open(&options).and_then(|store| store.revoke(Revocation { caller, key }));
    revoked.map(drop).map_err(|error| {
        Failure::unreachable(anyhow!(error).context("cannot revoke the key in the activity store"))
    })
}
