//! `countersign activity verify`: whether every record is as it was written. Reads the store itself, also beside a running
//! gateway: whoever is checked should not be the one who answers.

use clap::Args;
use countersign_audit::{PublicKey, TrustedKeys, Verification};
use serde::Serialize;

use super::Whose;
use super::log::{stored, unreadable};
use crate::format::{FormatOption, Report};
use crate::report::Failure;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign activity verify
  countersign activity verify --data-dir /var/lib/countersign -o json
  countersign activity verify --key 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29

Exit codes: 0 intact, 1 broken: the first record that does not hold is named.";

/// Check that no record was changed, removed or moved
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Trust checkpoints signed with this public key only; may be given several times. Default: the keys in the data directory
    #[arg(long, value_name = "HEX")]
    key: Vec<String>,
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let keys: Result<Vec<_>, _> = arguments
        .key
        .iter()
        .map(|key| PublicKey::from_text(key))
        .collect();
    let keys = keys.map_err(Failure::usage)?;
    let config = match arguments.whose.config(console) {
        Ok(config) => config,
        Err(exit) => return Ok(exit),
    };
    let trusted = if keys.is_empty() {
        TrustedKeys::of_data_dir(&config.data_dir).map_err(Failure::usage)?
    } else {
        TrustedKeys::new(keys)
    };
    let verification = stored(&config)?.verify(&trusted).map_err(unreadable)?;
    let intact = verification.is_intact();
    let report = Verdict {
        intact,
        verification,
    };
    arguments.format.output.print(&report, console)?;
    Ok(if intact { Exit::Ok } else { Exit::No })
}

#[derive(Debug, Serialize)]
struct Verdict {
    intact: bool,
    #[serde(flatten)]
    verification: Verification,
}

impl Report for Verdict {
    fn text(&self) -> String {
        let Verification {
            records,
            chains,
            checkpoints,
            after_last_checkpoint,
            lost,
            ref first_break,
        } = self.verification;
        let verdict = match first_break {
            None => {
                format!("intact: {records} records, {chains} chains, {checkpoints} checkpoints\n")
            }
            Some(broken) => format!("broken: {broken}\n{records} records before it hold\n"),
        };
        let unsigned = format!(
            "{after_last_checkpoint} records are not signed for yet: their absence could not be noticed\n"
        );
        let unwritten =
            format!("{lost} records could not be written, by the gateway's own account\n");
        let mut text = verdict;
        text.extend((after_last_checkpoint > 0).then_some(unsigned));
        text.extend((lost > 0).then_some(unwritten));
        text
    }
}
