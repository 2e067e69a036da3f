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
  countersign activity verify --anchor /mnt/elsewhere/log-heads

A program that can write the data directory can replace the public keys there, cut off the newest records together with
their checkpoints, or put back an older copy of everything. Only what is kept elsewhere shows that: the public key
(signing_keys.pub) with --key, and published log heads (activity.anchors) or copies of checkpoints.log with --anchor.

Exit codes: 0 intact, 1 broken: the first record that does not hold is named.";

/// Check that no record was changed, removed or moved
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Trust checkpoints signed with this public key only; may be given several times. Default: the keys in the data directory
    #[arg(long, value_name = "HEX")]
    key: Vec<String>,
    /// Published log heads, or a copy of checkpoints.log, that were kept elsewhere: what they were signed for has to be in the store. May be given several times
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
        anchor_given: !arguments.anchor.is_empty(),
        verification,
    };
    arguments.format.print(&report, || report.text(), console)?;
    Ok(Exit::answer(intact))
}

/// The keys this data directory has signed with, and the one that is configured: gateways that share a database share it.
pub(super) fn own_keys(config: &Config) -> Result<TrustedKeys, Failure> {
    let keys = TrustedKeys::of_data_dir(&config.data_dir).map_err(Failure::usage)?;
    let configured = [
        &config.activity.signing_key,
        &config.activity.previous_signing_key,
    ];
    configured
        .into_iter()
        .flatten()
        .try_fold(keys, |keys, key| {
            let signer = Signer::from_text(key.expose()).map_err(Failure::usage)?;
            Ok(keys.with(signer.public()))
        })
}

#[derive(Debug, Serialize)]
struct Verdict {
    intact: bool,
    /// The keys came from the command line, not from the data directory that is checked.
    keys_given: bool,
    /// Something that was kept elsewhere was compared with the store.
    anchor_given: bool,
    #[serde(flatten)]
    verification: Verification,
}

impl Verdict {
    fn text(&self) -> String {
        let Verification {
            records,
            chains,
            checkpoints,
            log_size: _,
            published_heads,
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
            published_heads > 0 && self.intact,
            format!(
                "{published_heads} published log heads agree with the store: up to the last of them nothing was replaced, cut off or rolled back"
            ),
        );
        note(
            !self.anchor_given,
            "not known without --anchor: whether the newest records were cut off together with their signatures, or an older copy of the store was put back".to_owned(),
        );
        note(
            !self.keys_given,
            "the public keys came from the data directory itself; --key checks with one that you keep elsewhere".to_owned(),
        );
        text
    }
}
