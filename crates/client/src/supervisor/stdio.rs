//! One life of a server that is a child process: it is started, greeted, watched and ended.

use std::sync::Arc;

use countersign_dial::{Child, Lines, Pipes};
use countersign_inspect::Era;
use countersign_wire::message;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::Supervision;
use super::life::Life;
use crate::connection::Transport;
use crate::era_preference::EraPreference;
use crate::hello::Hello;
use crate::notes::NoteSink;
use crate::peer::{Introduction, Peer};
use crate::server_error::ServerError;
use crate::state::State;
use crate::stdio::connection::{StdioConnection, StdioRequest};
use crate::stdio::handshake::greet;
use crate::stdio::outbox::Outbox;
use crate::stdio::program::Program;

/// A server that is a child process.
#[derive(Debug)]
pub struct StdioServer {
    /// How it is started.
    pub program: Program,
    /// The one client of the server, if it has only one.
    pub peer: Option<Arc<Peer>>,
}

impl StdioServer {
    /// From the start of the child to its end.
    pub(super) async fn live(
        &self,
        supervision: &Supervision,
        next: &mut Option<Era>,
        stop: &mut watch::Receiver<bool>,
    ) -> Life {
        let (mut child, pipes) = match Child::start(self.program.command()) {
            Ok(started) => started,
            Err(error) => {
                let failed = ServerError::Spawn(error.to_string());
                return Life::without_process(Some(failed));
            }
        };
        supervision.diagnostics.read_from(child.stderr());
        let (connection, reader) = self.connect(supervision, pipes);
        let failed = tokio::select! {
            failed = self.serve(supervision, &connection, next) => Some(failed),
            _ = child.ended() => None,
            _ = reader => None,
            _ = stop.wait_for(|stop| *stop) => None,
        };
        let served = matches!(&*supervision.state.borrow(), State::Ready(_));
        // Calls under way fail now; new calls wait for the next life.
        if !*stop.borrow() {
            supervision.state.send_replace(State::Starting);
        }
        connection.close();
        let stderr = child.stderr();
        let status = child.end().await;
        Life {
            failed,
            served,
            status,
            stderr: supervision.diagnostics.visible_lines(&stderr),
        }
    }

    fn connect(
        &self,
        supervision: &Supervision,
        pipes: Pipes,
    ) -> (Arc<StdioConnection>, JoinHandle<()>) {
        let limit = supervision.max_message_bytes;
        let connection = Arc::new(StdioConnection::new(
            Outbox::new(pipes.stdin, limit.saturating_mul(2)),
            limit,
            Arc::clone(&supervision.server),
            Arc::clone(&supervision.observer),
            self.peer.clone(),
        ));
        if let Some(peer) = &self.peer {
            peer.meet(&connection);
        }
        let lines = Lines::new(pipes.stdout, limit, supervision.budget.clone());
        let flusher = Arc::clone(&connection);
        tokio::spawn(async move { flusher.flush().await });
        let listener = Arc::clone(&connection);
        let reader = tokio::spawn(async move { listener.listen(lines).await });
        (connection, reader)
    }

    /// Greets the server and offers the connection; comes back only if there was no greeting.
    async fn serve(
        &self,
        supervision: &Supervision,
        connection: &Arc<StdioConnection>,
        next: &mut Option<Era>,
    ) -> ServerError {
        let client = match &self.peer {
            Some(peer) => peer.introduced().await,
            None => Introduction::default(),
        };
        let Supervision { era, eras, .. } = supervision;
        let preference = match (*next, era) {
            (Some(era), None) => EraPreference::First(era),
            _ => EraPreference::choose(*era, client.is_legacy, eras.known()),
        };
        // Some servers die of a request they do not know.
        *next = Some(preference.next());
        let hello = match timeout(
            supervision.start_timeout,
            greet(connection, preference, &client.capabilities),
        )
        .await
        {
            Ok(Ok(hello)) => hello,
            Ok(Err(error)) => {
                if !matches!(error, ServerError::Unreachable) {
                    *next = None;
                    eras.forget();
                }
                return error;
            }
            Err(_) => return ServerError::Silent,
        };
        *next = Some(hello.era);
        // Unless it was not the server's own choice: one that was greeted with `initialize` for the sake of its client may
        // speak the modern era to others.
        if era.is_none() && (hello.era == Era::Modern || !client.is_legacy) {
            eras.remember(hello.era);
        }
        let _subscription = subscribe(connection, &hello);
        supervision.offer(hello, Transport::Stdio(Arc::clone(connection)));
        std::future::pending().await
    }
}

/// Asks a modern server to say when its lists change; a legacy one does so unasked.
fn subscribe(connection: &Arc<StdioConnection>, hello: &Hello) -> Option<StdioRequest> {
    if hello.era != Era::Modern {
        return None;
    }
    let filter = hello.subscription()?;
    let params = message::own_params(Era::Modern, filter.as_bytes());
    connection
        .ask(&NoteSink::closed(), |id| {
            Ok(message::line(id, "subscriptions/listen", &params))
        })
        .ok()
}
