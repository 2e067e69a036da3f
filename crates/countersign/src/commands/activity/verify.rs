//! `countersign activity verify`: whether every record is as it was written. Reads the store itself, also beside a running
//! gateway: the gateway that is checked should not be the one that answers.

use std::path::PathBuf;

use clap::Args;
use countersign_audit::{PublicKey, Signer, TrustedKeys, Verification};
use countersign_config::Config;
use serde::Serialize;

use super::GatewayOption;
use super::log::{stored, unreadable};
use crate::format::FormatOption;
use crate::report::Failure;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign activity verify
  countersign activity verify --data-dir /var/lib/countersign -o json
  countersign activity verify --key 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
  countersign activity verify --anchor /mnt/backup/checkpoints.log

A program that can write the data directory can replace the public keys there and cut off the newest records together with
their checkpoints. Keep the public key (signing_keys.pub) and copies of checkpoints.log on another machine and give them
with --key and --anchor.

Exit codes: 0 intact, 1 broken: the first record that does not hold is named.";

/// Check that no record was changed, removed or moved
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Trust checkpoints signed with this public key only; may be given several times. Default: the keys in the data directory
    #[arg(long, value_name = "HEX")]
    key: Vec<String>,
    /// A copy of checkpoints.log that was kept elsewhere: what it was signed for has to be in the store. May be given several times
    #[arg(long, value_name = "FILE")]
    anchor: Vec<PathBuf>,
    #[command(flatten)]
    gateway: GatewayOption,
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
    let config = arguments.gateway.config(console)?;
    let keys_given = !keys.is_empty();
    let trusted = if keys.is_empty() {
        own_keys(&config)?
    } else {
        TrustedKeys::new(keys)
    };
    let verification = stored(&config)?
        .verify_with_anchors(&trusted, &arguments.anchor)
        .map_err(unreadable)?;
    let intact = verification.is_intact();
    let report = Verdict {
        intact,
        keys_given,
        verification,
    };
    arguments.format.print(&report, || report.text(), console)?;
    Ok(Exit::answer(intact))
}

/// The keys this data directory has signed with, and the one that is configured: gateways that share a database share it.
fn own_keys(config: &Config) -> Result<TrustedKeys, Failure> {
    let keys = TrustedKeys::of_data_dir(&config.data_dir).map_err(Failure::usage)?;
    let Some(configured) = &config.activity.signing_key else {
        return Ok(keys);
    };
    let signer = Signer::from_text(configured.expose()).map_err(Failure::usage)?;
    Ok(keys.with(signer.public()))
}

#[derive(Debug, Serialize)]
struct Verdict {
    intact: bool,
    /// The keys came from the command line, not from the data directory that is checked.
    keys_given: bool,
    #[serde(flatten)]
    verification: Verification,
}

impl Verdict {
    fn text(&self) -> String {
        let Verification {
            records,
            chains,
            checkpoints,
            after_last_checkpoint,
            signed_by_later_start,
            older_chains,
            older_signed_since,
            lost,
            ref first_break,
        } = self.verification;
        let mut text = match first_break {
            None => {
                format!("intact: {records} records, {chains} chains, {checkpoints} checkpoints\n")
            }
            Some(broken) => format!("broken: {broken}\n{records} records before it hold\n"),
        };
        let mut note = |applies: bool, note: String| text.extend(applies.then_some(note + "\n"));
        note(
            after_last_checkpoint > 0,
            format!(
                "{after_last_checkpoint} records come after the last signed head of their chain: nothing shows yet whether they were changed or some are missing"
            ),
        );
        note(
            signed_by_later_start > 0,
            format!(
                "{signed_by_later_start} records were signed for by a later start, as it found them: their own process died before it did"
            ),
        );
        let since = match older_signed_since {
            Some(since) => format!("named in a signed record since {since}"),
            None => "not named in a signed record before the next start".to_owned(),
        };
        note(
            older_chains > 0,
            format!("{older_chains} chains are of an older version: their heads are {since}"),
        );
        note(
            lost > 0,
            format!("{lost} records could not be written, by the gateway's own account"),
        );
        note(
            !self.keys_given,
            "the public keys came from the data directory itself; --key checks with one that you keep elsewhere".to_owned(),
        );
        text
    }
}
