//! Every server, looked at once: its program is there, it can be greeted, its tools can be listed, their schemas enforced.
//! A gateway that runs is asked about servers that are up; the others are started to see why they are not.

mod describe;
mod prevented;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use countersign_config::{Config, OAuthGrant, Protocol, Server, Transport};
use countersign_gateway::health::{Failure as HealthFailure, HealthCheck, ServerError, Tally};
use serde_json::Value;

use super::check::Check;
use super::gateway::Listener;
use crate::json::{list, text};
use crate::report::{Failure, printable};

use describe::{healthy, sharing, unhealthy};
use prevented::prevented;

const NAME: &str = "server";
pub(super) fn checks(
    config: &Config,
    missing: &BTreeSet<String>,
    listener: &Listener,
    timeout: Duration,
) -> Result<Vec<Check>, Failure> {
    let running = match listener {
        Listener::OurGateway(remote, _) => remote
            .get("/api/v1/servers")
            .and_then(|answer| answer.json())
            .unwrap_or_default(),
        _ => Value::Null,
    };
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let shared = Arc::new(config.clone());
    let enabled = config.servers.iter().filter(|server| server.enabled);
    // All at once: a slow one should not keep the others waiting.
    let tasks: Vec<_> = enabled
        .map(|server| {
            let mut known = list(&running["servers"]).iter();
            let known = known.find(|known| known["name"] == server.name.as_str());
            let done = prevented(server, missing).or_else(|| running_checks(server, known?));
            let done = done.or_else(|| without_token(server));
            let (config, server) = (Arc::clone(&shared), server.clone());
            runtime.spawn(async move {
                match done {
                    Some(checks) => checks,
                    None => health_checks(config, server, timeout).await,
                }
            })
        })
        .collect();
    let checks = runtime.block_on(async {
        let mut checks = Vec::new();
        for task in tasks {
            checks.extend(task.await.context("a check ended early")?);
        }
        Ok::<_, anyhow::Error>(checks)
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(checks?)
}

/// What a running gateway knows of a server that is up; nothing if it is not.
fn running_checks(server: &Server, known: &Value) -> Option<Vec<Check>> {
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
    if let ("failing", Some(reason), Some(_)) = (
        known["state"].as_str().unwrap_or(""),
        known["reason"].as_str(),
        &server.oauth,
    ) {
        let name = &server.name;
        let message = format!("{name}: {}", printable(reason));
        let hint = format!("`countersign auth status {name}` shows its token");
        return Some(vec![Check::error(NAME, message, hint)]);
    }
    if known["health"] != "up" {
        return None;
    }
    let number = |key: &str| {
        let number = known[key].as_u64().map(usize::try_from);
        number.and_then(Result::ok).unwrap_or(0)
    };
    let odd = list(&known["unenforceable"]).iter();
    let tally = Tally {
        tools: number("tools"),
        output_schemas: number("output_schemas"),
        unenforceable: odd
            .map(|odd| (text(&odd["tool"]), text(&odd["reason"])))
            .collect(),
        ..Tally::default()
    };
    Some(healthy(server, "up, by the running gateway", &tally))
}

/// A server that needs a token of its own: only a running gateway has it, and without it the server would say no more than
/// that it wants one.
fn without_token(server: &Server) -> Option<Vec<Check>> {
    let oauth = server.oauth.as_ref()?;
    let name = &server.name;
    let message = format!("{name}: not checked, since only a running gateway has its token");
    let hint = match oauth.grant {
        OAuthGrant::AuthorizationCode => format!(
            "start `countersign serve`, log in with `countersign auth login {name}` unless that was done, and run doctor again"
        ),
        OAuthGrant::ClientCredentials => {
            "start `countersign serve` and run doctor again".to_owned()
        }
    };
    Some(vec![Check::warning(NAME, message, hint)])
}

/// Starts a server, or connects to it.
async fn health_checks(config: Arc<Config>, server: Server, timeout: Duration) -> Vec<Check> {
    match HealthCheck::run(&config, &server, timeout).await {
        Ok(health) => {
            let how = format!("{}, {}", health.era, health.version);
            let mut checks = healthy(&server, &how, &health.tally);
            checks.extend(sharing(&server, &health.client_state));
            checks
        }
        Err(failure) => {
            let other = other_transport(&config, &server, &failure, timeout).await;
            vec![unhealthy(&server, &failure, other)]
        }
    }
}

/// The other HTTP transport, if that is the one the server speaks.
async fn other_transport(
    config: &Config,
    server: &Server,
    failure: &HealthFailure,
    timeout: Duration,
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
            | ServerError::Unauthorized(_)
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
    let checked = HealthCheck::run(config, &server, timeout).await;
    checked.is_ok().then_some(other)
}
