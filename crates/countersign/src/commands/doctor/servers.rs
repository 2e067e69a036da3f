//! Every server, looked at once: its program is there, it can be greeted, its tools can be listed, their schemas enforced.
//! A gateway that runs is asked about servers that are up; the others are started to see why they are not.

mod before;
mod words;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use countersign_config::{Config, Protocol, Server, Transport};
use countersign_gateway::health::{Failure as HealthFailure, HealthCheck, ServerError, Tally};
use countersign_gateway::inspect::Era;
use serde_json::Value;
use tokio::task::JoinHandle;

use super::check::Check;
use super::gateway::Here;
use crate::report::{Failure, printable};

use before::before;
use words::{found, ill};

const NAME: &str = "server";
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

/// What a running gateway knows of a server that is up; nothing if it is not.
fn up(server: &Server, known: &Value) -> Option<Vec<Check>> {
    if let ("stopped", Some(reason)) = (
        known["health"].as_str().unwrap_or(""),
        known["reason"].as_str(),
    ) {
        let name = &server.name;
        let message = format!(
            "{name}: not started by the running gateway: {}",
            printable(reason)
        );
        let hint = "write the variable into `env` in the data directory, or restart the gateway where it is set";
        return Some(vec![Check::error(NAME, message, hint)]);
    }
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
    match HealthCheck::run(&config, &server, patience).await {
        Ok(healthy) => {
            let era = match healthy.era {
                Era::Legacy => "legacy",
                Era::Modern => "modern",
            };
            found(
                &server,
                &format!("{era}, {}", healthy.version),
                &healthy.tally,
            )
        }
        Err(failure) => {
            let other = other_transport(&config, &server, &failure, patience).await;
            vec![ill(&server, &failure, other)]
        }
    }
}

/// The other HTTP transport, if that is the one the server speaks.
async fn other_transport(
    config: &Config,
    server: &Server,
    failure: &HealthFailure,
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
        failure.error,
        ServerError::Status(401 | 403)
            | ServerError::Unreachable
            | ServerError::NoConnection(_)
            | ServerError::Address(_)
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
    HealthCheck::run(config, &server, patience)
        .await
        .ok()
        .map(|_| other)
}
