//! The health check of one server, outside any gateway: it is started or connected to, greeted, asked for its tools, and
//! ended again. Nothing is recorded or remembered. A command that all clients would share is started a second time, for a
//! client that can be asked for everything, to see whether it makes use of that.

mod client_state;
mod token_of_gateway;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

pub use countersign_client::ServerError;
use countersign_client::{Connection, KnownEras, OwnConnection, ServerExit, State, ready};
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
pub use client_state::ClientState;
use token_of_gateway::TokenOfGateway;

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
    /// What a legacy server has for each of its clients, and so for all of them together if they share it.
    pub client_state: Vec<ClientState>,
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
        let check = |state| check(config, server, state);
        let checked = with_server((config, server), None, patience, check).await?;
        let (mut health, connection, tools) = checked;
        let shared = (&connection, &tools);
        health.client_state = client_state::find((config, server), shared, patience).await;
        Ok(health)
    }
}

/// Starts a server or connects to it, works with it for at most `patience`, and ends it again. `own` is its one client, if
/// it has only one.
async fn with_server<T, F>(
    (config, server): (&Config, &Server),
    own: Option<OwnConnection>,
    patience: Duration,
    work: impl FnOnce(watch::Receiver<State>) -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let state = watch::Sender::new(State::Starting);
    let seen = state.subscribe();
    let (tell, ended) = oneshot::channel();
    let resources = SupervisorResources {
        budget: Budget::new(config.max_inflight_bytes),
        events: Arc::new(Events::default()),
        known: KnownEras::without_file(),
        diagnostics: Arc::new(diagnostics(&server.transport)),
        state,
        authorizer: server
            .oauth
            .as_ref()
            .map(|_| TokenOfGateway::for_server(server)),
        own,
    };
    let supervisor = supervisor(config, server, resources)
        .map_err(|error| Failure::from(ServerError::Address(error.to_string())))?;
    let stop = watch::Sender::new(false);
    let running = tokio::spawn(supervisor.once(tell).run(stop.subscribe()));
    let working = async {
        tokio::select! {
            done = work(seen) => done,
            end = ended => Err(end.map_or(ServerError::Unreachable.into(), Failure::from)),
        }
    };
    let done = timeout(patience, working).await;
    stop.send_replace(true);
    // The supervisor ends the process that it started, within a bounded time.
    drop(running.await);
    done.unwrap_or(Err(ServerError::Silent.into()))
}

/// Waits for the greeting, then asks for the tools, of which it gives the names too.
async fn check(
    config: &Config,
    server: &Server,
    mut state: watch::Receiver<State>,
) -> Result<(HealthCheck, Arc<Connection>, BTreeSet<String>), Failure> {
    let Ok(connection) = ready(&mut state).await else {
        // The supervisor tells how it ended.
        return std::future::pending().await;
    };
    let (era, version) = connection.protocol();
    let version = version.to_owned();
    let (tally, tools) = if connection.capabilities().has(Capability::Tools) {
        survey(&connection, config, &server.name)
            .await
            .map_err(ServerError::List)?
    } else {
        Default::default()
    };
    let health = HealthCheck {
        era,
        version,
        tally,
        client_state: Vec::new(),
    };
    Ok((health, connection, tools))
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
