//! `countersign servers add`: a new server in the configuration file, from the arguments.

use anyhow::anyhow;
use clap::Args;
use countersign_config::ServerChange;
use serde_json::{Map, Value, json};

use super::change::ChangeArguments;
use crate::commands::import::{object, spaced};
use crate::report::Failure;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign servers add files -- npx -y @modelcontextprotocol/server-filesystem /srv/data
  countersign servers add weather --url https://weather.example/mcp --header 'Authorization: Bearer ${env:TOKEN}'
  countersign servers add crm --url https://crm.example/mcp --set timeout=30s --set isolation=shared

The server is written to the end of the configuration file, which otherwise stays as it is. A running gateway starts it at
once; no restart is needed. Write ${env:NAME} in place of a secret and put its value into the env file.
Exit codes: 0 added, 2 refused and nothing changed, 3 the running gateway cannot be asked.";

/// Add a server to the configuration file, and start it in the running gateway
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Add {
    /// Its name: 1 to 20 of a-z, 0-9 and -
    #[arg(value_name = "NAME")]
    name: String,
    /// Where it is served
    #[arg(
        long,
        value_name = "URL",
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    url: Option<String>,
    /// A header of every request to it, `Name: value`. May be repeated
    #[arg(long = "header", value_name = "HEADER", requires = "url")]
    headers: Vec<String>,
    /// A variable for its process, `NAME=value`. May be repeated
    #[arg(long = "env", value_name = "VARIABLE", conflicts_with = "url")]
    env: Vec<String>,
    /// The directory its process runs in
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    working_dir: Option<String>,
    /// Any other key of a server, `KEY=VALUE`, with a value in JSON or plain text. May be repeated
    #[arg(long = "set", value_name = "SETTING")]
    settings: Vec<String>,
    /// Write it to the file without using it
    #[arg(long)]
    disabled: bool,
    #[command(flatten)]
    change: ChangeArguments,
    /// The program to start and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn run(arguments: &Add, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let members = members(arguments)?;
    let texts: Vec<_> = members
        .iter()
        .map(|(name, value)| (name.clone(), spaced(value)))
        .collect();
    let change = ServerChange::Add {
        name: arguments.name.clone(),
        definition: object(&texts),
    };
    arguments.change.make(&change, "added", console)
}

/// The keys of the server, in the order in which they are written.
fn members(arguments: &Add) -> Result<Vec<(String, Value)>, Failure> {
    let mut members: Vec<(String, Value)> = Vec::new();
    if let [command, rest @ ..] = arguments.command.as_slice() {
        members.push(("command".to_owned(), json!(command)));
        if !rest.is_empty() {
            members.push(("args".to_owned(), json!(rest)));
        }
    }
    if let Some(url) = &arguments.url {
        members.push(("url".to_owned(), json!(url)));
    }
    let headers = pairs(&arguments.headers, ':', "--header", "Name: value")?;
    let env = pairs(&arguments.env, '=', "--env", "NAME=value")?;
    for (key, map) in [("headers", headers), ("env", env)] {
        if !map.is_empty() {
            members.push((key.to_owned(), Value::Object(map)));
        }
    }
    if let Some(folder) = &arguments.working_dir {
        members.push(("working_dir".to_owned(), json!(folder)));
    }
    for (key, value) in pairs(&arguments.settings, '=', "--set", "KEY=VALUE")? {
        let text = value.as_str().unwrap_or_default();
        members.push((key, serde_json::from_str(text).unwrap_or(value.clone())));
    }
    if arguments.disabled {
        members.push(("enabled".to_owned(), json!(false)));
    }
    Ok(members)
}

/// Arguments that are a name and a value.
fn pairs(
    given: &[String],
    separator: char,
    option: &str,
    form: &str,
) -> Result<Map<String, Value>, Failure> {
    let mut map = Map::new();
    for pair in given {
        let Some((name, value)) = pair.split_once(separator) else {
            let error = anyhow!("{option} needs `{form}`");
            return Err(Failure::usage(error).hint("see `countersign servers add --help`"));
        };
        let name = name.trim().to_owned();
        let value = if separator == ':' {
            value.trim()
        } else {
            value
        };
        if map.insert(name.clone(), json!(value)).is_some() {
            let error = anyhow!("{option} names \"{name}\" twice");
            return Err(Failure::usage(error).hint("keep one of them"));
        }
    }
    Ok(map)
}
