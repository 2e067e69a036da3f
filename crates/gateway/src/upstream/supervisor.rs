//! Who looks after a server: made from its configuration, and run until the gateway stops.

use std::sync::Arc;

use countersign_config::{Config, Server, Transport};
use countersign_dial::{Budget, Site, SiteError};
use tokio::sync::{oneshot, watch};

use super::diagnostics::Diagnostics;
use super::eras::Known;
use super::http;
use super::stdio::{self, End, Program, Shares};
use super::{Limits, State};
use crate::events::Events;

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

/// What looking after a server takes besides its configuration.
#[derive(Debug)]
pub(crate) struct Means {
    pub(crate) budget: Budget,
    pub(crate) events: Arc<Events>,
    pub(crate) known: Known,
    pub(crate) diagnostics: Arc<Diagnostics>,
    pub(crate) state: watch::Sender<State>,
}

impl Supervisor {
    /// Who will look after a server. Starts nothing yet.
    pub(crate) fn of(config: &Config, server: &Server, means: Means) -> Result<Self, SiteError> {
        let name: Arc<str> = server.name.as_str().into();
        let max_message_bytes = config.max_message_bytes;
        let Means {
            budget,
            events,
            known,
            diagnostics,
            state,
        } = means;
        Ok(match &server.transport {
            Transport::Stdio {
                command,
                args,
                env,
                working_dir,
            } => Self::Stdio(stdio::Supervisor {
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
                era: server.era,
                diagnostics,
                peer: None,
            }),
            Transport::Http {
                url,
                headers,
                protocol,
            } => Self::Http(http::Supervisor {
                eras: known.of(&name, url),
                server: name,
                site: Site::new(
                    url,
                    headers.iter().map(|(name, value)| (name, value.expose())),
                )?,
                protocol: *protocol,
                max_message_bytes,
                budget,
                events,
                state,
                era: server.era,
                diagnostics,
            }),
        })
    }

    /// For one life of the server, whose end is told.
    pub(crate) fn once(self, tell: oneshot::Sender<End>) -> Self {
        match self {
            Self::Stdio(supervisor) | Self::Once(supervisor, _) => Self::Once(supervisor, tell),
            Self::Http(supervisor) | Self::OnceHttp(supervisor, _) => {
                Self::OnceHttp(supervisor, tell)
            }
        }
    }

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
