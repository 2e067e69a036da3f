//! `countersign store migrate`: makes or migrates the tables of a PostgreSQL store, as their owner.

use anyhow::anyhow;
use clap::Args;
use countersign_audit::migrate_postgres;
use countersign_config::Database;

use crate::commands::gateway_option::GatewayOption;
use crate::report::{Failure, with_cause};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign store migrate 'postgres://owner@db.example/countersign'
  COUNTERSIGN_STORAGE_URL='postgres://owner:…@db.example/countersign' countersign store migrate

Where gateways are not the owner of the tables, run it before the first start, before a new version starts, and after a
dump was restored. It may be run again.";

/// Make or migrate the tables of a PostgreSQL store, as their owner
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The database; default: `storage.url`
    #[arg(value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    gateway: GatewayOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let config = arguments.gateway.config(console)?;
    let url = match (&arguments.url, config.storage.database()) {
        (Some(url), _) => url.as_str(),
        (None, Database::Postgres(url)) => url,
        (None, Database::Sqlite(_)) => {
            let error = anyhow!("an embedded store migrates itself");
            return Err(Failure::usage(error).hint("name a postgres:// URL"));
        }
    };
    let changed = migrate_postgres(url);
    let changed = changed.map_err(|error| Failure::usage(anyhow!(with_cause(&error))))?;
    console.data(if changed {
        "the tables have been made or migrated\n"
    } else {
        "the tables are up to date\n"
    })?;
    Ok(Exit::Ok)
}
