//! A child process that is called directly and not started again.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use countersign_dial::{Budget, Child, Lines, Tail, lock};
use countersign_wire::message;

use crate::error::Error;
use crate::notes::NoteSink;
use crate::observer::Observer;
use crate::stdio::connection::StdioConnection;
use crate::stdio::outbox::Outbox;
use crate::stdio::program::Program;
use crate::timings::Timings;

/// A child process and the connection to it.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) connection: Arc<StdioConnection>,
    child: Mutex<Option<Child>>,
    stderr: Tail,
    noise: Arc<NoiseCount>,
}

/// Counts the lines that are not messages; an empty line is not counted.
#[derive(Debug, Default)]
struct NoiseCount(AtomicU64);

impl Observer for NoiseCount {
    fn message_skipped(&self, _server: &str, message: &[u8]) {
        if !message.trim_ascii().is_empty() {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Process {
    pub(super) fn start(program: &Program, limit: usize, budget: &Budget) -> io::Result<Self> {
        let (child, pipes) = Child::start(program.command())?;
        let noise = Arc::<NoiseCount>::default();
        // A test sends as much as it was told to: nothing is refused because the child is slow to read.
        let outbox = Outbox::new(pipes.stdin, usize::MAX);
        let observer = Arc::<NoiseCount>::clone(&noise);
        let connection = Arc::new(StdioConnection::new(
            outbox,
            limit,
            "server".into(),
            observer,
            None,
        ));
        let lines = Lines::new(pipes.stdout, limit, budget.clone());
        let (flusher, listener) = (Arc::clone(&connection), Arc::clone(&connection));
        tokio::spawn(async move { flusher.flush().await });
        tokio::spawn(async move {
            listener.listen(lines).await;
            listener.close();
        });
        Ok(Self {
            connection,
            stderr: child.stderr(),
            child: Mutex::new(Some(child)),
            noise,
        })
    }

    /// Sends a request and waits for its answer; the id it was sent under.
    pub(super) async fn ask(
        &self,
        method: &str,
        params: &[u8],
        timings: &mut Timings,
    ) -> Result<(u64, Bytes), Error> {
        timings.sent = Some(Instant::now());
        let asked = self.connection.ask(&NoteSink::closed(), |id| {
            Ok(message::line(id, method, params))
        });
        let slot = asked?;
        let id = slot.id();
        let message = slot.timed_answer(timings).await?;
        Ok((id, message))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.connection.is_closed()
    }

    pub(super) fn noise(&self) -> u64 {
        self.noise.0.load(Ordering::Relaxed)
    }

    pub(super) fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Closes the pipe, then ends the process and whatever it started.
    pub(super) async fn end(&self) {
        self.connection.close();
        let child = lock(&self.child).take();
        if let Some(child) = child {
            child.end().await;
        }
    }
}
