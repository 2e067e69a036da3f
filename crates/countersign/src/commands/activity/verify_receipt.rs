//! `countersign activity verify-receipt`: checks a receipt with nothing but the keys that are given: no store, no
//! configuration, no network.

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::Args;
use countersign_audit::{
    PublicKey, Receipt, ReceiptError, Record, TrustedKeys, VerifiedReceipt, VerifierKey,
};
use serde::Serialize;

use crate::format::FormatOption;
use crate::report::{Failure, printable};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign activity verify-receipt call.tlog-proof --key 'example.com/log+5f3a9c01+AQ…'
  countersign activity verify-receipt call.tlog-proof --key 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
  countersign activity verify-receipt - --key … -o json < call.tlog-proof

A key is NAME+HASH+BASE64, which also names the log, or 64 hexadecimal digits. Get it from the operator of the log, not
from the person who gives you the receipt. The key of a witness may be given too: then its signature is demanded.

Exit codes: 0 the log holds this record, 1 the receipt does not show it.";
/// Longer files are no receipts.
const MAX_FILE: u64 = (64 << 20) + 1;

/// Check the proof that a log holds a record, without the log
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The receipt; - reads standard input
    file: PathBuf,
    /// A key of the log, or of a witness; may be given several times
    #[arg(long, value_name = "KEY", required = true)]
    key: Vec<String>,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let (trusted, named) = keys(&arguments.key)?;
    let text = read(&arguments.file)?;
    let verified = Receipt::parse(&text).and_then(|receipt| receipt.verify(&trusted, &named));
    let report = Report::new(verified);
    arguments.format.print(&report, || report.text(), console)?;
    Ok(Exit::answer(report.valid))
}

fn keys(given: &[String]) -> Result<(TrustedKeys, Vec<VerifierKey>), Failure> {
    let (mut plain, mut named) = (Vec::new(), Vec::new());
    for key in given {
        if key.contains('+') {
            named.push(key.parse::<VerifierKey>().map_err(Failure::usage)?);
        } else {
            plain.push(PublicKey::from_text(key).map_err(|_| {
                Failure::usage(anyhow!(
                    "not a key: NAME+HASH+BASE64 or 64 hexadecimal digits"
                ))
            })?);
        }
    }
    Ok((TrustedKeys::new(plain), named))
}

fn read(path: &std::path::Path) -> Result<String, Failure> {
    let open = || -> std::io::Result<Box<dyn Read>> {
        if path.as_os_str() == "-" {
            return Ok(Box::new(std::io::stdin()));
        }
        Ok(Box::new(std::fs::File::open(path)?))
    };
    let mut bytes = Vec::new();
    let read = open().and_then(|file| file.take(MAX_FILE).read_to_end(&mut bytes));
    let read = read.with_context(|| format!("cannot read {}", path.display()));
    read.map_err(Failure::usage)?;
    // What is not text is no receipt, and is reported as such.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[derive(Debug, Serialize)]
struct Report {
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    shown: Option<Shown>,
}

/// What a valid receipt shows.
#[derive(Debug, Serialize)]
struct Shown {
    log: String,
    log_size: u64,
    witnesses: Vec<String>,
    chain_id: String,
    n: u64,
    hash: String,
    record: Record,
}

impl Report {
    fn new(verified: Result<VerifiedReceipt, ReceiptError>) -> Self {
        match verified {
            Err(why) => Self {
                valid: false,
                reason: Some(why.to_string()),
                shown: None,
            },
            Ok(verified) => Self {
                valid: true,
                reason: None,
                shown: Some(Shown {
                    log: verified.head.origin,
                    log_size: verified.head.size,
                    witnesses: verified.witnesses,
                    chain_id: verified.chain_id.to_string(),
                    n: verified.n,
                    hash: verified.hash.to_string(),
                    record: verified.record,
                }),
            },
        }
    }

    fn text(&self) -> String {
        let Some(shown) = &self.shown else {
            let why = self.reason.as_deref().unwrap_or_default();
            return format!("not valid: {why}\n");
        };
        let record = &shown.record;
        let mut text = format!(
            "valid: record {} is in the log {}\n",
            record.id(),
            printable(&shown.log)
        );
        let mut line = |name: &str, value: &str| {
            text.extend([&format!("{name:<10} "), printable(value).as_str(), "\n"]);
        };
        line("type", record.kind().as_str());
        line("timestamp", &record.timestamp.to_string());
        let tool = [&record.server, &record.tool].map(|name| name.as_deref().unwrap_or_default());
        if !tool.concat().is_empty() {
            line("tool", &tool.join(":"));
        }
        line("status", &record.status().to_string());
        line("chain", &format!("{} number {}", shown.chain_id, shown.n));
        for witness in &shown.witnesses {
            line("witness", witness);
        }
        text
    }
}
