//! The server under test: how to reach it, with references to the environment looked up.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Environment, setting};
use crate::client::{Options, Program, Site, Target};
use crate::plan::PlanError;
use crate::plan::raw;

pub(in crate::plan) fn options(server: &raw::Server) -> Options {
    let mut options = Options::default();
    if let Some(bytes) = server.max_message_bytes {
        options = options.limited(bytes);
    }
    Options {
        era: server.era,
        ..options
    }
}

pub(in crate::plan) fn target(
    server: raw::Server,
    folder: &Path,
    environment: Environment<'_>,
) -> Result<(Target, String), PlanError> {
    match (server.command, server.url) {
        (Some(command), None) if server.headers.is_empty() => {
            let env = looked_up("server.env", server.env, environment)?;
            let shown = std::iter::once(command.as_str())
                .chain(server.args.iter().map(String::as_str))
                .collect::<Vec<_>>()
                .join(" ");
            let program = Program {
                command,
                args: server.args,
                env,
                working_dir: server.working_dir.map(|dir| folder.join(dir)),
                ..Program::default()
            };
            Ok((Target::Stdio(program), shown))
        }
        (None, Some(url)) if server.args.is_empty() && server.env.is_empty() => {
            let headers = looked_up("server.headers", server.headers, environment)?;
            let site = Site::new(&url, &headers)?;
            // What is asked for may hold a key; where it is asked for does not.
            let shown = url.split(['?', '#']).next().unwrap_or_default().to_owned();
            Ok((Target::Http(site), shown))
        }
        (Some(_), None) => Err(setting("server.headers", "a command has no headers")),
        (None, Some(_)) => Err(setting("server", "a url has no args and no env")),
        _ => Err(setting("server", "give either a command or a url")),
    }
}

/// Values with their `${env:NAME}` references resolved.
fn looked_up(
    key: &str,
    values: BTreeMap<String, String>,
    environment: Environment<'_>,
) -> Result<BTreeMap<String, String>, PlanError> {
    let mut resolved = BTreeMap::new();
    for (name, value) in values {
        let key = format!("{key}.{name}");
        let mut out = String::new();
        let mut rest = value.as_str();
        while let Some((before, after)) = rest.split_once("${env:") {
            let Some((variable, after)) = after.split_once('}') else {
                return Err(setting(key, "a reference is not closed"));
            };
            let found = environment(variable).ok_or_else(|| PlanError::Environment {
                key: key.clone(),
                name: variable.to_owned(),
            })?;
            out.push_str(before);
            out.push_str(&found);
            rest = after;
        }
        out.push_str(rest);
        resolved.insert(name, out);
    }
    Ok(resolved)
}
