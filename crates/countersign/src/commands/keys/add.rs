//! `countersign keys add`: a new key for a caller. The file gets its digest; the key itself is shown once.

use anyhow::anyhow;
use clap::Args;
use countersign_audit::{Timestamp, parse_period};
use countersign_config::CallerChange;
use countersign_gateway::ProcessRandomness;
use countersign_inspect::{Digest, Randomness as _, encode_hex};
use serde_json::{Map, Value, json};

use super::{next, refuse_change};
use crate::commands::file_change::change_file;
use crate::commands::gateway_option::GatewayOption;
use crate::commands::import::spaced;
use crate::format::FormatOption;
use crate::report::{Failure, printable};
use crate::{Console, Exit};

/// The random bytes of a key.
const KEY_BYTES: usize = 24;

const EXAMPLES: &str = "\
Examples:
  countersign keys add ci --group build --expires 90d
  countersign keys add dashboard --read
  countersign keys add ci --print

The key is printed once, on the first line; the configuration file gets only its SHA-256 and otherwise stays as it is. A
running gateway accepts the key at once. With --print nothing is written: put the printed entry into \"callers\" yourself.
Exit codes: 0 added, 2 refused and nothing changed, 3 the running gateway cannot be asked.";

/// Make a key for a caller, and add the caller to the configuration file
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Add {
    /// Its name: 1 to 20 of a-z, 0-9 and -
    #[arg(value_name = "NAME")]
    name: String,
    /// A group it belongs to. May be repeated
    #[arg(long = "group", value_name = "GROUP")]
    groups: Vec<String>,
    /// When the key ends: after a period such as 90d, or at a time such as 2027-02-01T00:00:00Z
    #[arg(long, value_name = "WHEN")]
    expires: Option<String>,
    /// Let it read activity, events and metrics
    #[arg(long)]
    read: bool,
    /// Let it change the configuration and the servers
    #[arg(long)]
    manage: bool,
    /// Print the entry for the configuration file, and write nothing
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Add, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let key = new_key().ok_or_else(|| Failure::from(anyhow!("the system gives no randomness")))?;
    let entry = entry(arguments, &key)?;
    let name = &arguments.name;
    let change = CallerChange::Add {
        name: name.clone(),
        entry: written(&entry),
    };
    if arguments.print {
        // The name is checked as it would be for the file.
        if let Err(error) = change.apply("{}") {
            return refuse_change(error, "callers".as_ref(), console);
        }
        console.message("put the second line into \"callers\" of the configuration file; the key is not shown again\n");
        let members = entry.iter().cloned();
        let members: Map<_, _> = members
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        let value = json!({"caller": format!("key:{name}"), "key": key, "entry": members});
        let text = || format!("{key}\n{}\n", written(&entry));
        return arguments.format.print(&value, text, console);
    }
    let source = arguments.gateway.source(console)?;
    match change_file(&source, |file| change.apply(file), console)? {
        Err(error) => refuse_change(error, source.path(), console),
        Ok(made) => {
            let value = json!({"caller": format!("key:{name}"), "key": key, "file": made.file, "in_force": made.is_running});
            let text = || {
                let file = printable(&made.file);
                let next = next(&made);
                format!("{key}\nadded {name} to {file}; the key is not shown again\n{next}")
            };
            arguments.format.print(&value, text, console)
        }
    }
}

/// `cs_` and random bytes; nothing if the system gives no randomness.
fn new_key() -> Option<String> {
    let random = [ProcessRandomness.fresh()?, ProcessRandomness.fresh()?].concat();
    let random = random.get(..KEY_BYTES)?;
    Some(format!("cs_{}", encode_hex(random)))
}

/// The members of the caller in the order that the file has them: its name comes first.
fn entry(arguments: &Add, key: &str) -> Result<Vec<(&'static str, Value)>, Failure> {
    let digest = Digest::sha256(key.as_bytes()).to_string();
    let mut entry = vec![
        ("name", json!(arguments.name)),
        ("key_sha256", json!(digest)),
    ];
    if !arguments.groups.is_empty() {
        entry.push(("groups", json!(arguments.groups)));
    }
    if arguments.read || arguments.manage {
        let rights = [
            ("call", true),
            ("read", arguments.read),
            ("manage", arguments.manage),
        ];
        let rights: Vec<_> = rights
            .iter()
            .filter(|(_, has)| *has)
            .map(|(word, _)| *word)
            .collect();
        entry.push(("rights", json!(rights)));
    }
    if let Some(expires) = &arguments.expires {
        let at = expiry(expires)?;
        entry.push(("expires", json!(at.to_string())));
    }
    Ok(entry)
}

/// The entry as JSON, on one line.
fn written(entry: &[(&'static str, Value)]) -> String {
    let members = entry
        .iter()
        .map(|(name, value)| format!("\"{name}\": {}", spaced(value)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
}

/// The time that a key ends at.
fn expiry(text: &str) -> Result<Timestamp, Failure> {
    let now = Timestamp::now();
    let after = |period: std::time::Duration| {
        let millis = u64::try_from(period.as_millis()).unwrap_or(u64::MAX);
        Timestamp::from_millis(now.as_millis().saturating_add(millis))
    };
    let at = text.parse().or_else(|_| parse_period(text).map(after));
    at.ok().filter(|at| *at > now).ok_or_else(|| {
        let error = anyhow!("--expires is not a time to come: '{}'", printable(text));
        Failure::usage(error)
            .hint("write a period such as 90d, or a time such as 2027-02-01T00:00:00Z")
    })
}
