//! Keeps a server that is a child process alive: starts it, greets it, watches it, and starts it again with growing
//! pauses when it goes away.

mod life;
mod once;

use std::sync::Arc;
use std::time::Duration;

use countersign_dial::{Child, Lines, Pipes};
use countersign_inspect::Era;
use countersign_wire::message;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use life::Life;

use super::Supervision;
use crate::connection::Transport;
use crate::greeting::Greeting;
use crate::hello::Hello;
use crate::notes::NoteSink;
use crate::retry::{RetryPolicy, rest};
use crate::state::State;
use crate::stdio::handshake::greet;
use crate::stdio::outbox::Outbox;
use crate::stdio::peer::{Introduction, Peer};
use crate::stdio::program::Program;
use crate::stdio::wire::{Slot, Wire};
use crate::trouble::Trouble;

/// How long a server may take to come up: package runners download first.
const START: Duration = Duration::from_mins(1);

/// Everything needed to keep one child alive.
#[derive(Debug)]
pub struct StdioSupervisor {
    /// What supervisors of both kinds need.
    pub supervision: Supervision,
    /// How it is started.
    pub program: Program,
    /// The one client of the server, if it has only one.
    pub peer: Option<Arc<Peer>>,
}

impl StdioSupervisor {
    /// Keeps the child alive until told to stop, then ends it.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut tries = RetryPolicy::default();
        let mut next = None;
        while !*stop.borrow() {
            let started = Instant::now();
            let outcome = self.live(&mut next, &mut stop).await;
            if *stop.borrow() {
                break;
            }
            let wait = tries.failed(started.elapsed());
            self.supervision
                .report(&outcome.reason(), &outcome.stderr, outcome.served, wait);
            if !tries.are_worth_waiting() {
                self.supervision.state.send_replace(State::Down);
            }
            rest(wait, &mut stop).await;
        }
        self.supervision.state.send_replace(State::Stopped);
    }

    /// One life of the child, from its start to its end. `next` is the era to greet it in first, if an earlier life has
    /// taught which.
    async fn live(&self, next: &mut Option<Era>, stop: &mut watch::Receiver<bool>) -> Life {
        self.supervision.diagnostics.begin();
        let (mut child, pipes) = match Child::start(self.program.command()) {
            Ok(started) => started,
            Err(error) => return Life::failed(Trouble::Spawn(error.to_string())),
        };
        self.supervision.diagnostics.read_from(child.stderr());
        let (wire, reader) = self.connect(pipes);
        let failed = tokio::select! {
            failed = self.serve(&wire, next) => Some(failed),
            _ = child.ended() => None,
            _ = reader => None,
            _ = stop.wait_for(|stop| *stop) => None,
        };
        let served = matches!(&*self.supervision.state.borrow(), State::Ready(_));
        // Calls under way fail now; new calls wait for the next life.
        if !*stop.borrow() {
            self.supervision.state.send_replace(State::Starting);
        }
        wire.close();
        let stderr = child.stderr();
        let status = child.end().await;
        Life {
            failed,
            served,
            status,
            stderr: self.supervision.diagnostics.visible_lines(&stderr),
        }
    }

    fn connect(&self, pipes: Pipes) -> (Arc<Wire>, tokio::task::JoinHandle<()>) {
        let limit = self.supervision.max_message_bytes.saturating_mul(2);
        let outbox = Outbox::new(pipes.stdin, limit);
        let (server, observer) = (
            Arc::clone(&self.supervision.server),
            Arc::clone(&self.supervision.observer),
        );
        let peer = self.peer.clone();
        let wire = Wire::new(
            outbox,
            self.supervision.max_message_bytes,
            server,
            observer,
            peer,
        );
        let wire = Arc::new(wire);
        if let Some(peer) = &self.peer {
            peer.meet(&wire);
        }
        let lines = Lines::new(
            pipes.stdout,
            self.supervision.max_message_bytes,
            self.supervision.budget.clone(),
        );
        let flusher = Arc::clone(&wire);
        tokio::spawn(async move { flusher.flush().await });
        let listener = Arc::clone(&wire);
        let reader = tokio::spawn(async move { listener.listen(lines).await });
        (wire, reader)
    }

    /// Greets the server and offers the connection; comes back only if there was no greeting.
    async fn serve(&self, wire: &Arc<Wire>, next: &mut Option<Era>) -> Trouble {
        let client = match &self.peer {
            Some(peer) => peer.introduced().await,
            None => Introduction::default(),
        };
        let greeting = match (*next, self.supervision.era) {
            (Some(era), None) => Greeting::First(era),
            _ => Greeting::choose(
                self.supervision.era,
                client.is_legacy,
                self.supervision.eras.known(),
            ),
        };
        // Some servers die of a request they do not know.
        *next = Some(greeting.next());
        let hello = match timeout(START, greet(wire, greeting, &client.capabilities)).await {
            Ok(Ok(hello)) => hello,
            Ok(Err(error)) => {
                if !matches!(error, Trouble::Unreachable) {
                    *next = None;
                    self.supervision.eras.forget();
                }
                return error;
            }
            Err(_) => return Trouble::Silent,
        };
        *next = Some(hello.era);
        self.remember(hello.era, &client);
        self.supervision
            .observer
            .server_started(&self.supervision.server, &hello.version);
        let _subscription = subscribe(wire, &hello);
        let transport = Transport::Stdio(Arc::clone(wire));
        self.supervision.offer(hello, transport);
        std::future::pending().await
    }

    /// Remembers what the server speaks, unless that was not its own choice: one that was greeted with `initialize` for
    /// the sake of its client may speak the modern era to others.
    fn remember(&self, era: Era, client: &Introduction) {
        if self.supervision.era.is_none() && (era == Era::Modern || !client.is_legacy) {
            self.supervision.eras.remember(era);
        }
    }
}

/// Asks a modern server to say when its tools change; a legacy one does so unasked.
fn subscribe(wire: &Arc<Wire>, hello: &Hello) -> Option<Slot> {
    if hello.era != Era::Modern || !hello.tells_changes {
        return None;
    }
    let filter = br#""notifications":{"toolsListChanged":true}"#;
    let params = message::own_params(Era::Modern, filter);
    wire.ask(&NoteSink::closed(), |id| {
        Ok(message::line(id, "subscriptions/listen", &params))
    })
    .ok()
}
