//! A server's tools counted, without remembering them: how many there are, and how much of what they declare can be
//! enforced. For health checks; calls never come by here.

use countersign_client::Connection;
use countersign_config::Config;

use super::fetch;
use crate::state::{Entry, Tally, Tool};

/// Asks a server for its list and counts what is in it.
pub(crate) async fn survey(
    connection: &Connection,
    config: &Config,
    server: &str,
) -> Result<Tally, String> {
    let list = fetch::tools(connection)
        .await
        .map_err(|error| error.to_string())?;
    let mut tally = Tally::default();
    for raw in list.tools {
        let Ok(entry) = Entry::read(raw) else {
            tally.skipped += 1;
            continue;
        };
        let policy = config.policy(server, entry.name());
        tally.add(&Tool::capture(entry, server, 0, policy));
    }
    Ok(tally)
}
