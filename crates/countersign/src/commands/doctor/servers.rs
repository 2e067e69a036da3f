//! Every server, looked at once: its program is there, it can be greeted, its tools can be listed, their schemas enforced.
//! A gateway that runs is asked about servers that are up; the others are started to see why they are not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use countersign_gateway::config::{Config, Protocol, Server, Transport};
use countersign_gateway::inspect::Era;
use countersign_gateway::{Checkup, PROTOCOL_VERSIONS, Sick, Tally, Trouble};
use serde_json::Value;
use tokio::task::JoinHandle;

use super::check::Check;
use super::gateway::Here;
use crate::files;
use crate::report::Failure;

const NAME: &str = "server";
/// Programs that run others, and where they come from.
const RUNNERS: [(&str, &str); 8] = [
    ("npx", "install Node.js"),
    ("node", "install Node.js"),
    ("uvx", "install uv"),
    ("uv", "install uv"),
    ("docker", "install Docker"),
    ("python", "install Python, or write python3"),
    ("python3", "install Python"),
    ("bunx", "install Bun"),
];

pub(super) fn checks(
    config: &Config,
    missing: &BTreeSet<String>,
    here: &Here,
    patience: Duration,
) -> Result<Vec<Check>, Failure> {
    let running = match here {
        Here::Ours(remote, _) => remote
            .get("/api/v1/servers")
            .and_then(|answer| answer.json())
            .unwrap_or_default(),
        _ => Value::Null,
    };
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let shared = Arc::new(config.clone());
    let enabled = config.servers.iter().filter(|server| server.enabled);
    // All at once: a slow one should not keep the others waiting.
    let looks: Vec<_> = enabled
        .map(|server| {
            let known = running["servers"].as_array().into_iter().flatten();
            let known = known
                .into_iter()
                .find(|known| known["name"] == server.name.as_str());
            match before(server, missing).or_else(|| up(server, known?)) {
                Some(checks) => Look::Done(checks),
                None => {
                    Look::Asked(runtime.spawn(look(Arc::clone(&shared), server.clone(), patience)))
                }
            }
        })
        .collect();
    let checks = runtime.block_on(async {
        let mut checks = Vec::new();
        for look in looks {
            match look {
                Look::Done(done) => checks.extend(done),
                Look::Asked(asked) => checks.extend(asked.await.context("a check ended early")?),
            }
        }
        Ok::<_, anyhow::Error>(checks)
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(checks?)
}

enum Look {
    Done(Vec<Check>),
    Asked(JoinHandle<Vec<Check>>),
}

/// What keeps a server from being started at all.
fn before(server: &Server, missing: &BTreeSet<String>) -> Option<Vec<Check>> {
    let name = &server.name;
    let values = match &server.transport {
        Transport::Stdio { env, .. } => env,
        Transport::Http { headers, .. } => headers,
    };
    let refers = |variable: &&String| {
        let reference = format!("${{env:{variable}}}");
        values
            .values()
            .any(|value| value.shown().contains(&reference))
    };
    if let Some(variable) = missing.iter().find(refers) {
        let message = format!("{name}: not started, since {variable} is not set");
        return Some(vec![Check::warning(
            NAME,
            message,
            "set it first, as said above",
        )]);
    }
    let Transport::Stdio {
        command,
        working_dir,
        ..
    } = &server.transport
    else {
        return None;
    };
    if let Some(folder) = working_dir.as_deref().filter(|folder| !folder.is_dir()) {
        let message = format!(
            "{name}: its working_dir, {}, is no folder",
            folder.display()
        );
        let hint = format!("run: mkdir -p {}, or write another", folder.display());
        return Some(vec![Check::error(NAME, message, hint)]);
    }
    absent(command, working_dir.as_deref()).map(|why| {
        let message = format!("{name}: the command {command} {why}");
        vec![Check::error(NAME, message, remedy(command, why))]
    })
}

/// Why a command cannot be run, as far as the file system knows.
fn absent(command: &str, working_dir: Option<&Path>) -> Option<&'static str> {
    let is_path = command.contains('/');
    let folders: Vec<PathBuf> = match (is_path, working_dir) {
        (true, None) => vec![PathBuf::new()],
        (true, Some(folder)) => vec![PathBuf::new(), folder.to_owned()],
        (false, _) => std::env::var_os("PATH")
            .map(|path| std::env::split_paths(&path).collect())
            .unwrap_or_default(),
    };
    let found: Vec<PathBuf> = folders
        .iter()
        .map(|folder| folder.join(command))
        .filter(|path| path.is_file())
        .collect();
    let runs = |path: &PathBuf| files::mode(path).is_none_or(|mode| mode & 0o111 != 0);
    match (found.is_empty(), found.iter().any(runs)) {
        (true, _) if is_path => Some("does not exist"),
        (true, _) => Some("is not on PATH"),
        (false, false) => Some("is not executable"),
        (false, true) => None,
    }
}

fn remedy(command: &str, why: &str) -> String {
    if why == "is not executable" {
        return format!("run: chmod +x {command}");
    }
    let runner = RUNNERS.iter().find(|(name, _)| *name == command);
    let install = runner.map_or("install it", |(_, install)| install);
    format!("{install}, or write the whole path of the program as \"command\"")
}

/// What a running gateway knows of a server that is up; nothing if it is not.
fn up(server: &Server, known: &Value) -> Option<Vec<Check>> {
    if known["health"] != "up" {
        return None;
    }
    let number = |key: &str| {
        known[key]
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
            .unwrap_or(0)
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let odd = known["unenforceable"].as_array().into_iter().flatten();
    let tally = Tally {
        tools: number("tools"),
        output_schemas: number("output_schemas"),
        unenforceable: odd
            .map(|odd| (text(&odd["tool"]), text(&odd["reason"])))
            .collect(),
        ..Tally::default()
    };
    Some(found(server, "up, by the running gateway", &tally))
}

/// Starts a server, or connects to it.
async fn look(config: Arc<Config>, server: Server, patience: Duration) -> Vec<Check> {
    match Checkup::of(&config, &server, patience).await {
        Ok(checkup) => {
            let era = match checkup.era {
                Era::Legacy => "legacy",
                Era::Modern => "modern",
            };
            found(
                &server,
                &format!("{era}, {}", checkup.version),
                &checkup.tally,
            )
        }
        Err(sick) => {
            let other = other_transport(&config, &server, &sick, patience).await;
            vec![ill(&server, &sick, other)]
        }
    }
}

/// The other HTTP transport, if that is the one the server speaks.
async fn other_transport(
    config: &Config,
    server: &Server,
    sick: &Sick,
    patience: Duration,
) -> Option<Protocol> {
    let Transport::Http {
        url,
        headers,
        protocol,
    } = &server.transport
    else {
        return None;
    };
    let denied = matches!(
        sick.trouble,
        Trouble::Status(401 | 403) | Trouble::Unreachable | Trouble::Address(_)
    );
    let other = match protocol {
        Protocol::Sse => Protocol::StreamableHttp,
        Protocol::StreamableHttp => Protocol::Sse,
    };
    let transport = Transport::Http {
        url: url.clone(),
        headers: headers.clone(),
        protocol: other,
    };
    let server = Server::new(server.name.clone(), transport);
    if denied {
        return None;
    }
    Checkup::of(config, &server, patience)
        .await
        .ok()
        .map(|_| other)
}

/// A server that can be called.
fn found(server: &Server, how: &str, tally: &Tally) -> Vec<Check> {
    let name = &server.name;
    let Tally {
        tools,
        output_schemas,
        unenforceable,
        skipped,
    } = tally;
    let message = format!("{name}: {how}, {tools} tools, {output_schemas} with an output schema");
    let mut checks = vec![Check::ok(NAME, message)];
    checks.extend(unenforceable.iter().map(|(tool, reason)| {
        let message = format!("{name}: the output schema of {tool} cannot be enforced: {reason}");
        Check::warning(
            NAME,
            message,
            format!("its results are not checked against it; tell the author of {name}"),
        )
    }));
    if *skipped > 0 {
        let message = format!("{name}: {skipped} entries of its list are no tools");
        checks.push(Check::warning(
            NAME,
            message,
            format!("they are left out; tell the author of {name}"),
        ));
    }
    checks
}

/// A server that cannot, and what might help.
fn ill(server: &Server, sick: &Sick, other: Option<Protocol>) -> Check {
    let name = &server.name;
    if let (Some(other), Transport::Http { protocol, .. }) = (other, &server.transport) {
        let message = format!(
            "{name}: it speaks {}, and the configuration says {}",
            other.as_str(),
            protocol.as_str()
        );
        return Check::error(
            NAME,
            message,
            format!("set \"protocol\": \"{}\" for {name}", other.as_str()),
        );
    }
    let mut message = format!("{name}: {}", sick.trouble);
    let last = sick
        .stderr
        .rsplit("\\n")
        .find(|line| !line.trim().is_empty());
    message.extend(last.map(|line| {
        format!(
            "; its last words: {}",
            line.chars().take(200).collect::<String>()
        )
    }));
    let command = match &server.transport {
        Transport::Stdio { command, .. } => Some(command),
        Transport::Http { .. } => None,
    };
    let by_hand = |what: &str| match command {
        Some(command) => format!(
            "{what}; see whether `{command}`, with the arguments of {name}, runs by itself and waits for input"
        ),
        None => format!("{what}; check its \"url\", and that it runs"),
    };
    let hint = match &sick.trouble {
        Trouble::Spawn(_) => by_hand("it cannot be run"),
        Trouble::Exited(_) => by_hand("it should wait for messages"),
        Trouble::Version(_) => format!(
            "update the server: {} are supported",
            PROTOCOL_VERSIONS.join(", ")
        ),
        Trouble::Status(401 | 403) => {
            format!("give {name} \"headers\": {{\"Authorization\": \"Bearer ${{env:NAME}}\"}}")
        }
        Trouble::Silent => by_hand("it may need longer, see --timeout"),
        Trouble::List(_) => format!("it can be greeted and not used; tell the author of {name}"),
        _ => by_hand("it does not speak MCP there"),
    };
    Check::error(NAME, message, hint)
}
