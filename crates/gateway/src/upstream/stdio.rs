//! A server that is a child process, kept alive: started, greeted, watched, and started again when
//! it goes away, with growing pauses. It answers for the process; who calls which tool is decided
//! elsewhere. Stage 3.

mod handshake;
mod life;
mod once;
mod outbox;
mod peer;
mod program;
mod wire;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_dial::{Budget, Child, Pipes};
use countersign_inspect::{Era, Listing, Refusal};
use countersign_wire::Capabilities;
use countersign_wire::message;
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use countersign_dial::Lines;
use handshake::greet;
use life::Life;
pub use once::End;
use outbox::Outbox;
use peer::Introduction;
pub(crate) use peer::{Peer, Said};
pub(crate) use program::{Program, Shares};
use wire::{Slot, Wire};

use super::diagnostics::Diagnostics;
use super::eras::Eras;
use super::greeting::Greeting;
use super::hello::{HandshakeError, Hello};
use super::tries::{Tries, rest};
use super::{Connection as Any, NoteSink, State};
use crate::events::{self, Events};

/// How long a server may take to come up: package runners download first.
const START: Duration = Duration::from_mins(1);

/// A connection to a child that has been greeted.
#[derive(Debug)]
pub(crate) struct Connection {
    wire: Arc<Wire>,
    pub(super) era: Era,
    pub(super) version: String,
    instructions: Option<Listing>,
    pub(super) abilities: Capabilities,
}

impl Connection {
    /// The server's instructions, as a JSON string.
    pub(crate) fn instructions(&self) -> Option<&Listing> {
        self.instructions.as_ref()
    }

    /// Sends a request; `params` are written for the id it goes out under.
    pub(crate) fn ask(
        &self,
        method: &str,
        params: impl FnOnce(Era, u64) -> Result<Vec<u8>, Refusal>,
        notes: &NoteSink,
    ) -> Result<Asked, Refusal> {
        let era = self.era;
        let slot = self
            .wire
            .ask(notes, |id| Ok(message::line(id, method, &params(era, id)?)))?;
        Ok(Asked { slot })
    }

    /// Waits until the server says that its tools have changed.
    pub(crate) async fn list_changed(&self) {
        self.wire.list_changed.notified().await;
    }
}

/// A request under way; dropping it cancels it.
#[derive(Debug)]
pub(crate) struct Asked {
    slot: Slot,
}

impl Asked {
    pub(super) fn id(&self) -> u64 {
        self.slot.id()
    }

    /// Waits for the answer.
    pub(super) async fn answer(self) -> Result<Bytes, Refusal> {
        self.slot.answer().await
    }
}

/// Everything needed to keep one child alive.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pub(crate) server: Arc<str>,
    pub(crate) program: Program,
    pub(crate) max_message_bytes: usize,
    pub(crate) budget: Budget,
    pub(crate) events: Arc<Events>,
    pub(crate) state: watch::Sender<State>,
    pub(crate) eras: Eras,
    /// The era that the configuration fixes, if it does.
    pub(crate) era: Option<Era>,
    pub(crate) diagnostics: Arc<Diagnostics>,
    /// The one client of the server, if it has only one.
    pub(crate) peer: Option<Arc<Peer>>,
}

/// Why a child is not running.
#[derive(Debug, Error)]
enum StartError {
    #[error("the command could not be run")]
    Spawn(#[source] io::Error),
    #[error("the server did not complete the handshake")]
    Handshake(#[source] HandshakeError),
    #[error("the server did not complete the handshake in time")]
    TimedOut,
}

impl Supervisor {
    /// Keeps the child alive until told to stop, then ends it.
    pub(crate) async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut tries = Tries::default();
        let mut next = None;
        while !*stop.borrow() {
            let started = Instant::now();
            let outcome = self.live(&mut next, &mut stop).await;
            if *stop.borrow() {
                break;
            }
            let wait = tries.failed(started.elapsed());
            self.report(&outcome, wait);
            if !tries.are_worth_waiting() {
                self.state.send_replace(State::Down);
            }
            rest(wait, &mut stop).await;
        }
        self.state.send_replace(State::Stopped);
    }

    /// One life of the child, from its start to its end. `next` is the era to greet it in first, if an earlier life has
    /// taught which.
    async fn live(&self, next: &mut Option<Era>, stop: &mut watch::Receiver<bool>) -> Life {
        self.diagnostics.begin();
        let (mut child, pipes) = match Child::start(self.program.command()) {
            Ok(started) => started,
            Err(error) => return Life::failed(StartError::Spawn(error)),
        };
        self.diagnostics.read_from(child.stderr());
        let (wire, reader) = self.connect(pipes);
        let failed = tokio::select! {
            failed = self.serve(&wire, next) => Some(failed),
            _ = child.ended() => None,
            _ = reader => None,
            _ = stop.wait_for(|stop| *stop) => None,
        };
        let served = matches!(&*self.state.borrow(), State::Ready(_));
        // Whoever waits learns it now; whoever comes waits for the next life.
        if !*stop.borrow() {
            self.state.send_replace(State::Starting);
        }
        wire.close();
        let stderr = child.stderr();
        let status = child.end().await;
        Life {
            failed,
            served,
            status,
            stderr: self.diagnostics.visible_lines(&stderr),
        }
    }

    fn connect(&self, pipes: Pipes) -> (Arc<Wire>, tokio::task::JoinHandle<()>) {
        let limit = self.max_message_bytes.saturating_mul(2);
        let outbox = Outbox::new(pipes.stdin, limit);
        let (server, events) = (Arc::clone(&self.server), Arc::clone(&self.events));
        let peer = self.peer.clone();
        let wire = Wire::new(outbox, self.max_message_bytes, server, events, peer);
        let wire = Arc::new(wire);
        if let Some(peer) = &self.peer {
            peer.meet(&wire);
        }
        let lines = Lines::new(pipes.stdout, self.max_message_bytes, self.budget.clone());
        let flusher = Arc::clone(&wire);
        tokio::spawn(async move { flusher.flush().await });
        let listener = Arc::clone(&wire);
        let reader = tokio::spawn(async move { listener.listen(lines).await });
        (wire, reader)
    }

    /// Greets the server and offers the connection; comes back only if there was no greeting.
    async fn serve(&self, wire: &Arc<Wire>, next: &mut Option<Era>) -> StartError {
        let client = match &self.peer {
            Some(peer) => peer.introduced().await,
            None => Introduction::default(),
        };
        let greeting = match (*next, self.era) {
            (Some(era), None) => Greeting::First(era),
            _ => Greeting::choose(self.era, client.is_legacy, self.eras.known()),
        };
        // Some servers die of a request they do not know.
        *next = Some(greeting.next());
        let hello = match timeout(START, greet(wire, greeting, &client.capabilities)).await {
            Ok(Ok(hello)) => hello,
            Ok(Err(error)) => {
                if !matches!(error, HandshakeError::Lost) {
                    *next = None;
                    self.eras.forget();
                }
                return StartError::Handshake(error);
            }
            Err(_) => return StartError::TimedOut,
        };
        *next = Some(hello.era);
        self.remember(hello.era, &client);
        events::ServerStarted {
            server: &self.server,
            version: &hello.version,
        }
        .emit(&self.events);
        let _subscription = subscribe(wire, &hello);
        let connection = Connection {
            wire: Arc::clone(wire),
            era: hello.era,
            version: hello.version,
            instructions: hello.instructions,
            abilities: hello.abilities,
        };
        self.state
            .send_replace(State::Ready(Arc::new(Any::Stdio(connection))));
        self.diagnostics.recover();
        std::future::pending().await
    }

    /// Remembers what the server speaks, unless that was not its own choice: one that was greeted with `initialize` for
    /// the sake of its client may speak the modern era to others.
    fn remember(&self, era: Era, client: &Introduction) {
        if self.era.is_none() && (era == Era::Modern || !client.is_legacy) {
            self.eras.remember(era);
        }
    }

    fn report(&self, life: &Life, wait: Duration) {
        let reason = self.diagnostics.fail(&life.reason(), wait);
        let failed = events::ServerFailed {
            server: &self.server,
            reason: &reason,
            stderr: &life.stderr,
            was_up: life.served,
            wait,
        };
        failed.emit(&self.events);
    }
}

/// Asks a modern server to say when its tools change; a legacy one does so unasked.
fn subscribe(wire: &Arc<Wire>, hello: &Hello) -> Option<Slot> {
    if hello.era != Era::Modern || !hello.tells_changes {
        return None;
    }
    let filter = r#""notifications":{"toolsListChanged":true}"#;
    let params = message::own_params(Era::Modern, filter);
    wire.ask(&NoteSink::closed(), |id| {
        Ok(message::line(id, "subscriptions/listen", params.as_bytes()))
    })
    .ok()
}
