//! Keeps one server callable until it is told to stop, whatever the transport.

mod http;
mod life;
mod stdio;

use std::sync::Arc;
use std::time::Duration;

use countersign_dial::Budget;
use countersign_inspect::Era;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

pub use http::{HttpServer, HttpTransport, OwnConnection};
use life::Life;
pub use stdio::StdioServer;

use crate::connection::{Connection, Transport};
use crate::diagnostics::Diagnostics;
use crate::eras::ServerEra;
use crate::hello::Hello;
use crate::observer::{Observer, ServerFailure};
use crate::retry::{RetryPolicy, pause_or_stop};
use crate::server_error::ServerError;
use crate::state::State;

/// What the supervisor of a server needs, whatever the transport.
#[derive(Debug)]
pub struct Supervision {
    /// The server's name.
    pub server: Arc<str>,
    /// The most bytes a message may have.
    pub max_message_bytes: usize,
    /// The memory for its messages.
    pub budget: Budget,
    /// Receives the events of the server.
    pub observer: Arc<dyn Observer>,
    /// Publishes whether the server can be called.
    pub state: watch::Sender<State>,
    /// Which era it spoke the last time.
    pub eras: ServerEra,
    /// The era that the configuration fixes, if it does.
    pub era: Option<Era>,
    /// How long it may take from its start, or from connecting, until it can be called.
    pub start_timeout: Duration,
    /// What an operator is told.
    pub diagnostics: Arc<Diagnostics>,
}

impl Supervision {
    /// Lets calls come.
    fn offer(&self, hello: Hello, transport: Transport) {
        self.observer.server_started(&self.server, &hello.version);
        let connection = Connection::new(hello, transport);
        self.state.send_replace(State::Ready(Arc::new(connection)));
        self.diagnostics.recover();
    }

    /// Reports why the server cannot be called, and that it is tried again after `wait`.
    fn report(&self, life: &Life, wait: Duration) {
        let reason = self.diagnostics.fail(&life.reason(), wait);
        self.observer.server_failed(&ServerFailure {
            server: &self.server,
            reason: &reason,
            stderr: &life.stderr,
            was_up: life.served,
            wait,
        });
    }
}

/// How a server is reached and what it takes to keep it there.
#[derive(Debug)]
pub enum ServerTransport {
    /// A child process.
    Stdio(StdioServer),
    /// An address that requests are sent to.
    Http(HttpServer),
}

/// Looks after one server.
#[derive(Debug)]
pub struct Supervisor {
    /// What is needed whatever the transport.
    pub supervision: Supervision,
    /// How the server is reached.
    pub transport: ServerTransport,
    /// Receives how the server ended, if the server is to run only once.
    ended: Option<oneshot::Sender<ServerExit>>,
}

impl Supervisor {
    /// Keeps the server alive.
    pub fn new(supervision: Supervision, transport: ServerTransport) -> Self {
        Self {
            supervision,
            transport,
            ended: None,
        }
    }

    /// Runs the server only once, and sends to `tell` how it ended.
    #[must_use]
    pub fn once(self, tell: oneshot::Sender<ServerExit>) -> Self {
        Self {
            ended: Some(tell),
            ..self
        }
    }

    /// Keeps the server callable until told to stop, or to its end if it has only one life.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let Some(ended) = self.ended.take() else {
            return self.keep(&mut stop).await;
        };
        let life = self.live_once(&mut stop).await;
        self.supervision.state.send_replace(State::Stopped);
        if !*stop.borrow() {
            // If the receiver is gone, no caller waits for the end.
            let _missed = ended.send(ServerExit::from(life));
        }
    }

    /// Starts or connects to the server again and again, with growing pauses, until told to stop.
    async fn keep(&self, stop: &mut watch::Receiver<bool>) {
        let mut tries = RetryPolicy::default();
        let mut next = None;
        while !*stop.borrow() {
            let started = Instant::now();
            let mut changes = self.token_changes();
            let life = self.live(&mut next, stop).await;
            if *stop.borrow() {
                break;
            }
            let wait = tries.failed(started.elapsed());
            self.supervision.report(&life, wait);
            if life.needs_login() || !tries.are_worth_waiting() {
                self.supervision.state.send_replace(State::Down);
            }
            tokio::select! {
                () = pause_or_stop(wait, stop) => {}
                () = next_change(&mut changes) => {}
            }
        }
        self.supervision.state.send_replace(State::Stopped);
    }

    /// Changes when an operator logs in to the server.
    fn token_changes(&self) -> Option<watch::Receiver<u64>> {
        let ServerTransport::Http(server) = &self.transport else {
            return None;
        };
        Some(server.authorizer.as_ref()?.changes())
    }

    /// One life of the server. Only a child whose era is not known may have a second one, which begins in the other era:
    /// some servers die of a greeting they do not understand.
    async fn live_once(&self, stop: &mut watch::Receiver<bool>) -> Life {
        let Supervision { era, eras, .. } = &self.supervision;
        let is_settled = era.is_some()
            || eras.known() == Some(Era::Legacy)
            || matches!(self.transport, ServerTransport::Http(_));
        let mut next = None;
        let life = self.live(&mut next, stop).await;
        if *stop.borrow() || is_settled || !life.died_of_the_greeting() {
            return life;
        }
        self.live(&mut next, stop).await
    }

    /// One life of the server, from its start to its end. New calls wait for the next one. `next` is the era to greet it
    /// in first, if an earlier life has taught which.
    async fn live(&self, next: &mut Option<Era>, stop: &mut watch::Receiver<bool>) -> Life {
        self.supervision.diagnostics.begin();
        match &self.transport {
            ServerTransport::Stdio(server) => server.live(&self.supervision, next, stop).await,
            ServerTransport::Http(server) => server.live(&self.supervision, stop).await,
        }
    }
}

/// Waits for a change; for ever if there cannot be one.
async fn next_change(changes: &mut Option<watch::Receiver<u64>>) {
    if let Some(changes) = changes
        && changes.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// How a server ended by itself.
#[derive(Debug)]
pub struct ServerExit {
    /// Whether it could be called before that.
    pub served: bool,
    /// What it ended with, as a shell says it: above 128 for a signal. `None` if it was ended.
    pub code: Option<u8>,
    /// Why it never served, if that is known.
    pub error: Option<ServerError>,
    /// The last lines it wrote to standard error, if those were kept, made safe for a terminal.
    pub stderr: String,
}
