//! A server's tools counted, without remembering them: how many there are, and how much of what they declare can be
//! enforced. For health checks; calls never come by here.

use std::collections::BTreeSet;

use countersign_client::Connection;
use countersign_config::Config;

use super::fetch;
use crate::state::{Entry, Tally, Tool};

/// Asks a server for its list, counts what is in it, and gives the names of the tools.
pub(crate) async fn survey(
    connection: &Connection,
    config: &Config,
    server: &str,
) -> Result<(Tally, BTreeSet<String>), String> {
    let mut tally = Tally::default();
    let mut names = BTreeSet::new();
    for entry in entries(connection).await? {
        let Some(entry) = entry else {
            tally.skipped += 1;
            continue;
        };
        names.insert(entry.name().to_owned());
        let policy = config.policy(server, entry.name());
        tally.add(&Tool::capture(entry, server, 0, policy));
    }
    Ok((tally, names))
}

/// The names of the tools that a server shows.
pub(crate) async fn tool_names(connection: &Connection) -> Result<BTreeSet<String>, String> {
    let entries = entries(connection).await?.into_iter().flatten();
    Ok(entries.map(|entry| entry.name().to_owned()).collect())
}

/// The entries of a server's list; nothing in place of one that is no tool.
async fn entries(connection: &Connection) -> Result<Vec<Option<Entry>>, String> {
    let list = fetch::tools(connection).await;
    let list = list.map_err(|error| error.to_string())?;
    let entries = list.tools.into_iter();
    Ok(entries.map(|raw| Entry::read(raw).ok()).collect())
}
