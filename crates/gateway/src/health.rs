//! The health check of one server, outside any gateway: it is started or connected to, greeted, asked for its tools, and
//! ended again. Nothing is recorded or remembered.

use std::sync::Arc;
use std::time::Duration;

pub use countersign_client::ServerError;
use countersign_client::{KnownEras, ServerExit, State, ready};
use countersign_config::{Config, Server};
use countersign_dial::Budget;
use countersign_inspect::Era;
use countersign_wire::Capability;
use countersign_wire::version::{LEGACY, MODERN};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use crate::catalogue::survey;
use crate::events::Events;
pub use crate::state::Tally;
use crate::supervise::{SupervisorResources, diagnostics, supervisor};

/// Every version of the protocol that servers may speak, the newest first.
pub const PROTOCOL_VERSIONS: [&str; 5] = [MODERN, LEGACY[0], LEGACY[1], LEGACY[2], LEGACY[3]];

/// A server that can be called.
#[derive(Debug)]
pub struct HealthCheck {
    /// Which era it speaks.
    pub era: Era,
    /// Which version of the protocol.
    pub version: String,
    /// Its tools.
    pub tally: Tally,
    /// It keeps state for each of its clients: a legacy server that tells them of single resources.
    pub keeps_client_state: bool,
}

/// A server that cannot be called.
#[derive(Debug)]
pub struct Failure {
    /// Why not.
    pub error: ServerError,
    /// The last lines it wrote to standard error, made safe for a terminal.
    pub stderr: String,
}

impl HealthCheck {
    /// Checks a server of a configuration, for at most `patience`. Must be called within a tokio runtime.
    pub async fn run(
        config: &Config,
        server: &Server,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let state = watch::Sender::new(State::Starting);
        let seen = state.subscribe();
        let (tell, ended) = oneshot::channel();
        let resources = SupervisorResources {
            budget: Budget::new(config.max_inflight_bytes),
            events: Arc::new(Events::default()),
            known: KnownEras::without_file(),
            diagnostics: Arc::new(diagnostics(&server.transport)),
            state,
            own: None,
        };
        let supervisor = supervisor(config, server, resources)
            .map_err(|error| Failure::from(ServerError::Address(error.to_string())))?;
        let stop = watch::Sender::new(false);
        let running = tokio::spawn(supervisor.once(tell).run(stop.subscribe()));
        let checked = async {
            tokio::select! {
                checked = check(config, server, seen) => checked,
                end = ended => Err(end.map_or(ServerError::Unreachable.into(), Failure::from)),
            }
        };
        let checked = timeout(patience, checked).await;
        stop.send_replace(true);
        // The supervisor ends the process that it started, within a bounded time.
        drop(running.await);
        checked.unwrap_or(Err(ServerError::Silent.into()))
    }
}

/// Waits for the greeting, then asks for the tools.
async fn check(
    config: &Config,
    server: &Server,
    mut state: watch::Receiver<State>,
) -> Result<HealthCheck, Failure> {
    let Ok(connection) = ready(&mut state).await else {
        // The supervisor tells how it ended.
        return std::future::pending().await;
    };
    let (era, version) = connection.protocol();
    let version = version.to_owned();
    let tally = if connection.capabilities().has(Capability::Tools) {
        survey(&connection, config, &server.name)
            .await
            .map_err(ServerError::List)?
    } else {
        Tally::default()
    };
    Ok(HealthCheck {
        era,
        version,
        tally,
        keeps_client_state: era == Era::Legacy && connection.capabilities().resource_updates,
    })
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        Self {
            error,
            stderr: String::new(),
        }
    }
}

impl From<ServerExit> for Failure {
    fn from(end: ServerExit) -> Self {
        let error = match (end.code, end.error) {
            (Some(code), None | Some(ServerError::Unreachable)) => ServerError::Exited(code),
            (_, Some(error)) => error,
            (None, None) => ServerError::Unreachable,
        };
        Self {
            error,
            stderr: end.stderr,
        }
    }
}
