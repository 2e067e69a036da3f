//! `countersign activity receipt`: the proof, for someone without the store, that the log holds one record. Reads the
//! store itself, also beside a running gateway.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::Args;
use countersign_audit::{LogHead, NoReceipt, Note, Receipt, StoreError, TrustedKeys, VerifierKey};

use super::GatewayOption;
use super::log::{Log, stored, unreadable};
use super::show::Name;
use super::verify::own_keys;
use crate::report::{self, Failure};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign activity receipt 01K9ZJ3M5T0000000000000000 --output call.tlog-proof
  countersign activity receipt 01K9ZJ3M5T > call.tlog-proof

The receipt has the form c2sp.org/tlog-proof@v1: the record, its path to the root of the log, and the signed head of the
log. Its reader needs nothing but the key to check it, with `countersign activity verify-receipt` or another program.

Exit codes: 0 written, 1 no such record, or no signed head of the log covers it yet.";

/// Write the proof that the log holds a record
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The record's id, or at least 4 characters of its beginning
    id: String,
    /// The file to write; default: standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    gateway: GatewayOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let id = Name::parse(&arguments.id)?;
    let config = arguments.gateway.config(console)?;
    let reader = stored(&config)?;
    let id = id.find(&Log::Stored(reader.clone()))?;
    let receipt = match id.map(|id| reader.receipt(id)) {
        Some(Ok(receipt)) => receipt,
        None => return Ok(none(&arguments.id, NoReceipt::Unknown, console)),
        Some(Err(StoreError::NoReceipt(why))) => return Ok(none(&arguments.id, why, console)),
        Some(Err(error)) => return Err(unreadable(error)),
    };
    let text = receipt.to_string();
    match &arguments.output {
        Some(path) => {
            let written = std::fs::write(path, &text);
            written.with_context(|| format!("cannot write {}", path.display()))?;
        }
        None => console.data(&text)?,
    }
    for key in signing_keys(&receipt, &own_keys(&config)?) {
        console.message(format!("check it with --key '{key}'\n"));
    }
    Ok(Exit::Ok)
}

fn none(id: &str, why: NoReceipt, console: &mut Console<'_>) -> Exit {
    let failure = Failure::usage(anyhow!("there is no receipt for {id}: {why}"));
    report::failure(&failure, console);
    Exit::No
}

/// The keys that signed the head of the log, as its readers are given them.
fn signing_keys(receipt: &Receipt, own: &TrustedKeys) -> Vec<VerifierKey> {
    let note = Note::parse(receipt.log_head()).ok();
    let head = note
        .as_ref()
        .and_then(|note| LogHead::from_text(&note.text).ok());
    let (Some(note), Some(head)) = (note, head) else {
        return Vec::new();
    };
    let keys = own.keys().iter();
    let mut keys: Vec<VerifierKey> = keys
        .map(|key| VerifierKey::new(&head.origin, *key))
        .filter(|key| key.has_signed(&note) == Ok(true))
        .collect();
    keys.dedup();
    keys
}
