//! Who looks after a server: made from its configuration, and run until the gateway stops.

use std::sync::Arc;

use tokio::sync::{oneshot, watch};

use super::http::{self, Target, TargetError};
use super::stdio::{self, End, Program, Shares};
use super::{Limits, State, Upstream};
use crate::config::{Config, Server, Transport};
use crate::shared::Shared;

/// A call that reports progress may take so many time-outs.
const TOTAL: u32 = 10;

/// Looks after one server.
#[derive(Debug)]
pub(crate) enum Supervisor {
    Stdio(stdio::Supervisor),
    Http(http::Supervisor),
    /// One life of a child, and whom to tell how it ended.
    Once(stdio::Supervisor, oneshot::Sender<End>),
    /// The same over HTTP.
    OnceHttp(http::Supervisor, oneshot::Sender<End>),
}

impl Supervisor {
    /// Keeps the server callable until told to stop.
    pub(crate) async fn run(self, stop: watch::Receiver<bool>) {
        match self {
            Self::Stdio(supervisor) => supervisor.run(stop).await,
            Self::Http(supervisor) => supervisor.run(stop).await,
            Self::Once(supervisor, ended) => {
                if let Some(end) = supervisor.run_once(stop).await {
                    // Nobody waits for it any more.
                    let _missed = ended.send(end);
                }
            }
            Self::OnceHttp(supervisor, ended) => {
                if let Some(end) = supervisor.run_once(stop).await {
                    let _missed = ended.send(end);
                }
            }
        }
    }
}

impl Limits {
    /// What a configuration allows a server.
    pub(crate) fn of(config: &Config, server: &Server) -> Self {
        let timeout = server.timeout.unwrap_or(config.call_tool_timeout);
        Self {
            timeout,
            total_timeout: timeout.saturating_mul(TOTAL),
            max_concurrent_requests: server.max_concurrent_requests,
            queue_size: server.queue_size,
        }
    }
}

/// A server, and who will look after it. Starts nothing yet.
pub(crate) fn supervise(
    shared: &Shared,
    config: &Config,
    server: &Server,
) -> Result<(Upstream, Supervisor), TargetError> {
    let name: Arc<str> = server.name.as_str().into();
    let state = watch::Sender::new(State::Starting);
    let upstream = Upstream::new(
        Arc::clone(&name),
        state.subscribe(),
        Limits::of(config, server),
    );
    let (budget, events) = (shared.budget.clone(), Arc::clone(&shared.events));
    let (known, max_message_bytes) = (&shared.fleet.known, config.max_message_bytes);
    let supervisor = match &server.transport {
        Transport::Stdio {
            command,
            args,
            env,
            working_dir,
        } => Supervisor::Stdio(stdio::Supervisor {
            eras: known.of(&name, &format!("{command} {}", args.join(" "))),
            server: name,
            program: Program {
                command: command.clone(),
                args: args.clone(),
                env: env.clone(),
                working_dir: working_dir.clone(),
                shares: Shares::default(),
            },
            max_message_bytes,
            budget,
            events,
            state,
            peer: None,
        }),
        Transport::Http {
            url,
            headers,
            protocol,
        } => Supervisor::Http(http::Supervisor {
            eras: known.of(&name, url),
            server: name,
            target: Target::new(url, headers)?,
            protocol: *protocol,
            max_message_bytes,
            budget,
            events,
            state,
        }),
    };
    Ok((upstream, supervisor))
}
