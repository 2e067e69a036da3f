//! A server's tools counted, without remembering them: how many there are, and how much of what they declare can be
//! enforced. For health checks; calls never come by here.

use countersign_client::Connection;
use countersign_config::Config;

use super::fetch;
use crate::state::{Entry, Tool};

/// What a server's list has.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many tools there are.
    pub tools: usize,
    /// Entries of the list that are no tools.
    pub skipped: usize,
    /// How many declare an output schema.
    pub output_schemas: usize,
    /// Tools whose schema cannot be enforced, and why.
    pub unenforceable: Vec<(String, String)>,
}

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
        tally.tools += 1;
        let policy = config.policy(server, entry.name());
        let tool = Tool::capture(entry, server, 0, policy);
        if let Some(output) = tool.contract().output() {
            tally.output_schemas += 1;
            if let Err(why) = output.schema() {
                let name = tool.name().to_owned();
                tally.unenforceable.push((name, why.to_string()));
            }
        }
    }
    Ok(tally)
}
