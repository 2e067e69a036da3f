//! One look at one server, outside any gateway: it is started or connected to, greeted, asked for its tools, and ended
//! again. Nothing is recorded or remembered. It says what it found; what to do about it is somebody else's to say.

use std::sync::Arc;
use std::time::Duration;

pub use countersign_client::Trouble;
use countersign_client::{End, Known, State, ready};
use countersign_config::{Config, Server};
use countersign_dial::Budget;
use countersign_inspect::Era;
use countersign_wire::Capability;
use countersign_wire::version::{LEGACY, MODERN};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use crate::catalogue::{Tally, survey};
use crate::events::Events;
use crate::supervise::{Means, diagnostics, supervisor};

/// Every version of the protocol that servers may speak, the newest first.
pub const PROTOCOL_VERSIONS: [&str; 5] = [MODERN, LEGACY[0], LEGACY[1], LEGACY[2], LEGACY[3]];

/// How a server was found that can be called.
#[derive(Debug)]
pub struct Checkup {
    /// Which era it speaks.
    pub era: Era,
    /// Which version of the protocol.
    pub version: String,
    /// Its tools.
    pub tally: Tally,
}

/// How a server was found that cannot be called.
#[derive(Debug)]
pub struct Sick {
    /// What the matter is.
    pub trouble: Trouble,
    /// The last lines it wrote to standard error, made safe for a terminal.
    pub stderr: String,
}

impl Checkup {
    /// Looks at a server of a configuration, for at most so long. Must be called within a tokio runtime.
    pub async fn of(config: &Config, server: &Server, patience: Duration) -> Result<Self, Sick> {
        let state = watch::Sender::new(State::Starting);
        let seen = state.subscribe();
        let (tell, ended) = oneshot::channel();
        let means = Means {
            budget: Budget::new(config.max_inflight_bytes),
            events: Arc::new(Events::default()),
            known: Known::nothing(),
            diagnostics: Arc::new(diagnostics(&server.transport)),
            state,
        };
        let supervisor = supervisor(config, server, means)
            .map_err(|error| Sick::from(Trouble::Address(error.to_string())))?;
        let stop = watch::Sender::new(false);
        let running = tokio::spawn(supervisor.once(tell).run(stop.subscribe()));
        let looked = async {
            tokio::select! {
                looked = look(config, server, seen) => looked,
                end = ended => Err(end.map_or(Trouble::Unreachable.into(), Sick::from)),
            }
        };
        let looked = timeout(patience, looked).await;
        stop.send_replace(true);
        // It ends whatever it started, within its own time.
        drop(running.await);
        looked.unwrap_or(Err(Trouble::Silent.into()))
    }
}

/// Waits for the greeting, then asks for the tools.
async fn look(
    config: &Config,
    server: &Server,
    mut state: watch::Receiver<State>,
) -> Result<Checkup, Sick> {
    let Ok(connection) = ready(&mut state).await else {
        // How it ended is told elsewhere.
        return std::future::pending().await;
    };
    let (era, version) = connection.protocol();
    let version = version.to_owned();
    let tally = if connection.abilities().has(Capability::Tools) {
        survey(&connection, config, &server.name)
            .await
            .map_err(Trouble::List)?
    } else {
        Tally::default()
    };
    Ok(Checkup {
        era,
        version,
        tally,
    })
}

impl From<Trouble> for Sick {
    fn from(trouble: Trouble) -> Self {
        Self {
            trouble,
            stderr: String::new(),
        }
    }
}

impl From<End> for Sick {
    fn from(end: End) -> Self {
        let trouble = match (end.code, end.trouble) {
            (Some(code), None | Some(Trouble::Unreachable)) => Trouble::Exited(code),
            (_, Some(trouble)) => trouble,
            (None, None) => Trouble::Unreachable,
        };
        Self {
            trouble,
            stderr: end.stderr,
        }
    }
}
