//! The servers of the configuration, running or not: how each is, how much of what it declares is enforceable, and the last
//! lines it wrote to standard error.

use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_audit::Timestamp;
use countersign_client::{State, excerpt};
use serde::Serialize;
use serde_json::json;

use super::{ApiError, ApiResult, ok};
use crate::services::{BOUNDS, Services};
use crate::state::{Server, ServerState, Snapshot};
use countersign_config as config;

/// So much of a line is shown beside a server.
const SHORT_LINE: usize = 200;

/// A server of the configuration, and how it is.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ServerInfo {
    pub(super) name: String,
    /// Whether it can be called, in the words there were before `state`.
    health: &'static str,
    pub(super) state: &'static str,
    /// Why it fails or is not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_try: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_stderr_line: Option<String>,
    pub(super) tools: usize,
    /// Whether its list of tools is of this run.
    pub(super) list: &'static str,
    pub(super) output_schemas: usize,
    pub(super) enforceable: usize,
    pub(super) unenforceable: Vec<UnenforceableTool>,
    /// How it is reached and what it speaks, while it can be called.
    #[serde(flatten)]
    pub(super) connection: Option<ConnectionInfo>,
    /// How often it was started or connected to since its settings changed.
    pub(super) starts: u64,
    /// How long calls take; nothing before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) latency: Option<Latency>,
}

/// A server that has been greeted.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ConnectionInfo {
    pub(super) transport: &'static str,
    pub(super) era: &'static str,
    pub(super) protocol_version: String,
    /// What the server calls itself, and its version, as it says.
    pub(super) implementation: String,
}

/// The bounds below which half of the calls and nearly all of them stayed since the gateway started, in milliseconds;
/// nothing for a bound that no bucket of the histogram has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Latency {
    pub(super) p50_ms: Option<f64>,
    pub(super) p95_ms: Option<f64>,
}

/// A tool whose output schema cannot be enforced.
#[derive(Clone, Debug, Serialize)]
pub(super) struct UnenforceableTool {
    pub(super) tool: String,
    pub(super) reason: String,
}

/// Every server, in the order of the configuration.
pub(super) fn list(services: &Services, snapshot: &Snapshot) -> ApiResult {
    ok(&json!({ "servers": all(services, snapshot) }))
}

/// Every server, in the order of the configuration.
pub(super) fn all(services: &Services, snapshot: &Snapshot) -> Vec<ServerInfo> {
    let configured = snapshot.settings.config.servers.iter();
    configured
        .map(|server| describe(services, server, snapshot.server(&server.name)))
        .collect()
}

/// One server.
pub(super) fn show(services: &Services, snapshot: &Snapshot, name: &str) -> ApiResult {
    ok(&json!(one(services, snapshot, name)?))
}

/// One server.
pub(super) fn one(
    services: &Services,
    snapshot: &Snapshot,
    name: &str,
) -> Result<ServerInfo, ApiError> {
    let configured = snapshot.settings.config.server(name);
    let configured = configured.ok_or_else(|| ApiError::not_found("no such server"))?;
    Ok(describe(services, configured, snapshot.server(name)))
}

/// The lines that are held of a server's standard error.
pub(super) fn logs(snapshot: &Snapshot, name: &str) -> ApiResult {
    ok(&json!({ "server": name, "lines": lines(snapshot, name)? }))
}

/// The lines that are held of a server's standard error, oldest first.
pub(super) fn lines(snapshot: &Snapshot, name: &str) -> Result<Vec<String>, ApiError> {
    if snapshot.settings.config.server(name).is_none() {
        return Err(ApiError::not_found("no such server"));
    }
    let running = snapshot.server(name);
    let lines = running.map(|server| server.upstream.diagnostics().lines());
    Ok(lines.unwrap_or_default())
}

fn describe(
    services: &Services,
    configured: &config::Server,
    running: Option<&Server>,
) -> ServerInfo {
    let state = ServerState::new(configured, running);
    let word = state.word();
    let (reason, next_try) = match state {
        ServerState::Failing(Some(failing)) => (
            Some(failing.reason.as_ref().to_owned()),
            failing.next_try.and_then(timestamp),
        ),
        ServerState::Stopped(reason) => (reason, None),
        _ => (None, None),
    };
    let lines = running.map(|server| server.upstream.diagnostics().lines());
    let last = lines.as_ref().and_then(|lines| lines.last());
    let tally = running
        .map(|server| server.tools.tally())
        .unwrap_or_default();
    let is_fresh = running.is_some_and(|server| server.tools.fresh);
    ServerInfo {
        name: configured.name.clone(),
        health: health(running),
        state: word,
        reason,
        next_try,
        last_stderr_line: last.map(|last| excerpt(last, SHORT_LINE)),
        tools: tally.tools,
        list: if is_fresh { "fresh" } else { "remembered" },
        output_schemas: tally.output_schemas,
        enforceable: tally.output_schemas - tally.unenforceable.len(),
        unenforceable: unenforceable(tally.unenforceable),
        connection: running.and_then(connection),
        starts: running.map_or(0, |server| server.upstream.diagnostics().tries()),
        latency: latency(services, &configured.name),
    }
}

fn connection(running: &Server) -> Option<ConnectionInfo> {
    let state = running.upstream.state();
    let state = state.borrow();
    let State::Ready(connection) = &*state else {
        return None;
    };
    let (era, version) = connection.protocol();
    let identity = connection.identity();
    let named = format!("{} {}", identity.name, identity.version);
    Some(ConnectionInfo {
        transport: connection.transport(),
        era: era.as_str(),
        protocol_version: version.to_owned(),
        implementation: excerpt(named.trim(), SHORT_LINE),
    })
}

fn latency(services: &Services, name: &str) -> Option<Latency> {
    let servers = services.metrics.servers.load();
    let buckets = servers.get(name)?.buckets.each_ref();
    let buckets = buckets.map(|bucket| bucket.load(Ordering::Relaxed));
    let all: u64 = buckets.iter().sum();
    let within = |per_cent: u64| {
        let mut sum = 0;
        let mut bounds = BOUNDS.iter().zip(buckets);
        let bound = bounds.find(|(_, count)| {
            sum += count;
            sum * 100 >= all * per_cent
        });
        // Bounds are small enough to be exact.
        bound.map(|(micros, _)| Duration::from_micros(*micros).as_secs_f64() * 1000.0)
    };
    (all > 0).then(|| Latency {
        p50_ms: within(50),
        p95_ms: within(95),
    })
}

/// Whether it can be called, in the words there were before `state`.
fn health(running: Option<&Server>) -> &'static str {
    let Some(running) = running else {
        return "stopped";
    };
    match &*running.upstream.state().borrow() {
        State::Ready(_) => "up",
        State::Starting => "starting",
        State::Down => "down",
        State::Stopped => "stopped",
    }
}

fn unenforceable(tools: Vec<(String, String)>) -> Vec<UnenforceableTool> {
    let tools = tools.into_iter();
    tools
        .map(|(tool, reason)| UnenforceableTool { tool, reason })
        .collect()
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(
        u64::try_from(since.as_millis()).ok()?,
    ))
}
