//! The servers of the configuration, running or not: how each is, how much of what it declares is enforceable, and the last
//! lines it wrote to standard error.

use std::time::{SystemTime, UNIX_EPOCH};

use countersign_audit::Timestamp;
use countersign_client::{State, excerpt};
use serde_json::{Value, json};

use super::{ApiError, ApiResult, ok};
use crate::state::{Server, ServerState, Snapshot};
use countersign_config as config;

/// So much of a line is shown beside a server.
const SHORT_LINE: usize = 200;

/// Every server, in the order of the configuration.
pub(super) fn list(snapshot: &Snapshot) -> ApiResult {
    let configured = snapshot.settings.config.servers.iter();
    let servers: Vec<_> = configured
        .map(|server| describe(server, snapshot.server(&server.name)))
        .collect();
    ok(&json!({ "servers": servers }))
}

/// One server.
pub(super) fn show(snapshot: &Snapshot, name: &str) -> ApiResult {
    let configured = snapshot.settings.config.server(name);
    let configured = configured.ok_or_else(|| ApiError::not_found("no such server"))?;
    ok(&describe(configured, snapshot.server(name)))
}

/// The lines that are held of a server's standard error.
pub(super) fn logs(snapshot: &Snapshot, name: &str) -> ApiResult {
    if snapshot.settings.config.server(name).is_none() {
        return Err(ApiError::not_found("no such server"));
    }
    let running = snapshot.server(name);
    let lines = running.map(|server| server.upstream.diagnostics().lines());
    ok(&json!({ "server": name, "lines": lines.unwrap_or_default() }))
}

fn describe(configured: &config::Server, running: Option<&Server>) -> Value {
    let state = ServerState::new(configured, running);
    let mut server = json!({
        "name": configured.name,
        "health": health(running),
        "state": state.word(),
    });
    match state {
        ServerState::Failing(Some(failing)) => {
            server["reason"] = json!(&*failing.reason);
            if let Some(next_try) = failing.next_try.and_then(timestamp) {
                server["next_try"] = json!(next_try);
            }
        }
        ServerState::Stopped(Some(reason)) => server["reason"] = json!(reason),
        _ => {}
    }
    let lines = running.map(|server| server.upstream.diagnostics().lines());
    if let Some(last) = lines.as_ref().and_then(|lines| lines.last()) {
        server["last_stderr_line"] = json!(excerpt(last, SHORT_LINE));
    }
    describe_tools(&mut server, running);
    server
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

/// How many tools there are, and how many of their schemas can be enforced.
fn describe_tools(server: &mut Value, running: Option<&Server>) {
    let tally = running
        .map(|server| server.tools.tally())
        .unwrap_or_default();
    let unenforceable = tally.unenforceable.iter();
    let reasons: Vec<_> = unenforceable
        .map(|(tool, reason)| json!({ "tool": tool, "reason": reason }))
        .collect();
    let is_fresh = running.is_some_and(|server| server.tools.fresh);
    server["tools"] = json!(tally.tools);
    server["list"] = json!(if is_fresh { "fresh" } else { "remembered" });
    server["output_schemas"] = json!(tally.output_schemas);
    server["enforceable"] = json!(tally.output_schemas - reasons.len());
    server["unenforceable"] = json!(reasons);
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(
        u64::try_from(since.as_millis()).ok()?,
    ))
}
