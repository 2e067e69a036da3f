//! Keeps one server callable until it is told to stop, whatever the transport.

mod http;
mod stdio;

use std::sync::Arc;
use std::time::Duration;

use countersign_dial::Budget;
use countersign_inspect::Era;
use tokio::sync::{oneshot, watch};

pub use http::{HttpSupervisor, HttpTransport};
pub use stdio::StdioSupervisor;

use crate::connection::{Connection, Transport};
use crate::diagnostics::Diagnostics;
use crate::eras::Eras;
use crate::hello::Hello;
use crate::observer::{Observer, ServerFailure};
use crate::state::State;
use crate::trouble::Trouble;

/// What the supervisor of a server needs, whatever the transport.
#[derive(Debug)]
pub struct Supervision {
    /// The server's name.
    pub server: Arc<str>,
    /// The most bytes a message may have.
    pub max_message_bytes: usize,
    /// The memory for its messages.
    pub budget: Budget,
    /// Told what happens.
    pub observer: Arc<dyn Observer>,
    /// Where it is said whether the server can be called.
    pub state: watch::Sender<State>,
    /// Which era it spoke the last time.
    pub eras: Eras,
    /// The era that the configuration fixes, if it does.
    pub era: Option<Era>,
    /// What an operator is told.
    pub diagnostics: Arc<Diagnostics>,
}

impl Supervision {
    /// Lets calls come.
    fn offer(&self, hello: Hello, transport: Transport) {
        let connection = Connection::new(hello, transport);
        self.state.send_replace(State::Ready(Arc::new(connection)));
        self.diagnostics.recover();
    }

    /// Reports why the server cannot be called, and that it is tried again after `wait`.
    fn report(&self, reason: &str, stderr: &[String], was_up: bool, wait: Duration) {
        let reason = self.diagnostics.fail(reason, wait);
        self.observer.server_failed(&ServerFailure {
            server: &self.server,
            reason: &reason,
            stderr,
            was_up,
            wait,
        });
    }
}

/// Looks after one server.
#[derive(Debug)]
pub enum Supervisor {
    /// A child that is kept alive.
    Stdio(StdioSupervisor),
    /// A server over HTTP that is kept in touch with.
    Http(HttpSupervisor),
    /// One life of a child, and whom to tell how it ended.
    Once(StdioSupervisor, oneshot::Sender<End>),
    /// The same over HTTP.
    OnceHttp(HttpSupervisor, oneshot::Sender<End>),
}

impl Supervisor {
    /// For one life of the server, whose end is told.
    #[must_use]
    pub fn once(self, tell: oneshot::Sender<End>) -> Self {
        match self {
            Self::Stdio(supervisor) | Self::Once(supervisor, _) => Self::Once(supervisor, tell),
            Self::Http(supervisor) | Self::OnceHttp(supervisor, _) => {
                Self::OnceHttp(supervisor, tell)
            }
        }
    }

    /// Keeps the server callable until told to stop.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        match self {
            Self::Stdio(supervisor) => supervisor.run(stop).await,
            Self::Http(supervisor) => supervisor.run(stop).await,
            Self::Once(supervisor, ended) => {
                if let Some(end) = supervisor.run_once(stop).await {
                    // The receiver is gone: no caller waits for the end.
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

/// How a server ended by itself.
#[derive(Debug)]
pub struct End {
    /// Whether it could be called before that.
    pub served: bool,
    /// What it ended with, as a shell says it: above 128 for a signal. `None` if it was ended.
    pub code: Option<u8>,
    /// Why it never served, if that is known.
    pub error: Option<Trouble>,
    /// The last lines it wrote to standard error, if those were kept, made safe for a terminal.
    pub stderr: String,
}
