//! `countersign store copy`: an embedded log into PostgreSQL, with its chains, and the copy verified.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::Args;
use countersign_audit::{CopyProgress, Reader, TrustedKeys, copy_to_postgres};
use countersign_config::{Config, Database};
use countersign_gateway::store_options;

use crate::commands::gateway_option::GatewayOption;
use crate::report::{Failure, with_cause};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign store copy sqlite: 'postgres://countersign@db.example/countersign'
  countersign store copy sqlite:/var/lib/old/activity.db 'postgres://countersign@db.example/countersign'
  COUNTERSIGN_STORAGE_URL='postgres://countersign:…@db.example/countersign' countersign store copy sqlite:

Stop the gateway first: what it writes after the copy has passed is not copied. A copy that broke off may be begun again;
what is there already is passed over. The source is not changed.";
/// How often progress is shown.
const PACE: Duration = Duration::from_millis(100);
const BAR: usize = 30;

/// Copy an embedded activity log into PostgreSQL, with its chains
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The log: `sqlite:` is the one in the data directory, `sqlite:PATH` another file
    #[arg(value_name = "FROM")]
    from: String,
    /// The database; default: `storage.url`. A password on the command line can be seen by other users: prefer
    /// `COUNTERSIGN_STORAGE_URL`
    #[arg(value_name = "TO")]
    to: Option<String>,
    #[command(flatten)]
    gateway: GatewayOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let config = arguments.gateway.config(console)?;
    let to = target(arguments, &config)?;
    let mut source = store_options(&config);
    source.postgres_url = None;
    let path = arguments.from.strip_prefix("sqlite:").ok_or_else(|| {
        let hint = "write `sqlite:` for the log in the data directory, or `sqlite:PATH`";
        Failure::usage(anyhow!("only a log in SQLite can be copied")).hint(hint)
    })?;
    source.database = (!path.is_empty()).then(|| path.into());
    let mut shown_at = Instant::now();
    let copied = copy_to_postgres(&source, &to, |progress| {
        if shown_at.elapsed() >= PACE {
            shown_at = Instant::now();
            console.progress(&bar(progress));
        }
    });
    console.progress("");
    let copied = copied.map_err(|error| Failure::usage(anyhow!(with_cause(&error))))?;
    let mut target = source;
    target.postgres_url = Some(to);
    let trusted = TrustedKeys::of_data_dir(&config.data_dir).map_err(Failure::usage)?;
    let reader = Reader::open(&target).map_err(Failure::usage)?;
    let verified = reader.verify(&trusted).map_err(Failure::usage)?;
    console.data(format!(
        "{} records of {} chains, {} of them new\n",
        copied.records, copied.chains, copied.added
    ))?;
    match verified.first_break {
        None => {
            console.data("the chains hold\n")?;
            Ok(Exit::Ok)
        }
        Some(first) => {
            let hint = "if other gateways write to it with other keys, `countersign activity verify --key …` names them";
            let error = anyhow!("the copy does not verify: {first}");
            Err(Failure::answer_is_no(error).hint(hint))
        }
    }
}

fn target(arguments: &Arguments, config: &Config) -> Result<String, Failure> {
    let url = match (&arguments.to, config.storage.database()) {
        (Some(url), _) => url.clone(),
        (None, Database::Postgres(url)) => url.to_owned(),
        (None, Database::Sqlite(_)) => {
            let hint = "name it, or set COUNTERSIGN_STORAGE_URL";
            return Err(Failure::usage(anyhow!("no PostgreSQL to copy to")).hint(hint));
        }
    };
    let checked = countersign_audit::check_postgres_url(&url);
    checked.map_err(|why| Failure::usage(anyhow!(why)))?;
    Ok(url)
}

fn bar(progress: CopyProgress) -> String {
    let share = |of: u64| of * progress.read / progress.total.max(1);
    let done = usize::try_from(share(BAR as u64)).unwrap_or(BAR).min(BAR);
    format!(
        "[{}{}] {:>3} %  {} of {} records",
        "#".repeat(done),
        " ".repeat(BAR - done),
        share(100),
        progress.read,
        progress.total
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_when_everything_is_read() {
        let bar = |read, total| bar(CopyProgress { read, total });
        assert!(bar(0, 0).starts_with("[ "), "{}", bar(0, 0));
        assert!(bar(5, 10).contains("###  "), "{}", bar(5, 10));
        assert!(bar(10, 10).contains("##] 100 %"), "{}", bar(10, 10));
    }
}
