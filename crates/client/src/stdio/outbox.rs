//! A child's standard input. Lines are written whole and in order: at once if the pipe takes them,
//! else by a task in the background, so that no caller blocks and no cancelled caller leaves half
//! a line behind. The backlog is bounded; a child that does not read is refused more.

use std::io;
use std::sync::{Arc, Mutex};

use bytes::{Buf, BytesMut};
use countersign_dial::lock;
use tokio::net::unix::pipe::Sender;
use tokio::sync::Notify;

/// The writing end of a child's standard input.
#[derive(Debug)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// More than this may not wait to be written.
    limit: usize,
    wake: Notify,
}

#[derive(Debug)]
struct State {
    /// `None` once the pipe is closed.
    pipe: Option<Arc<Sender>>,
    backlog: BytesMut,
}

/// Why a line was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutboxError {
    Full,
    Closed,
}

impl Outbox {
    pub(crate) fn new(pipe: Sender, limit: usize) -> Self {
        Self {
            state: Mutex::new(State {
                pipe: Some(Arc::new(pipe)),
                backlog: BytesMut::new(),
            }),
            limit,
            wake: Notify::new(),
        }
    }

    /// Takes a line, its end included.
    pub(crate) fn send(&self, line: &[u8]) -> Result<(), OutboxError> {
        let mut state = lock(&self.state);
        let Some(pipe) = state.pipe.clone() else {
            return Err(OutboxError::Closed);
        };
        if !state.backlog.is_empty() {
            if state.backlog.len().saturating_add(line.len()) > self.limit {
                return Err(OutboxError::Full);
            }
            state.backlog.extend_from_slice(line);
            return Ok(());
        }
        let written = match pipe.try_write(line) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(_) => {
                state.pipe = None;
                return Err(OutboxError::Closed);
            }
        };
        let rest = line.get(written..).unwrap_or_default();
        if !rest.is_empty() {
            state.backlog.extend_from_slice(rest);
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Closes the child's standard input. What still waits is dropped.
    pub(crate) fn close(&self) {
        lock(&self.state).pipe = None;
        self.wake.notify_one();
    }

    /// Writes the backlog whenever there is one; ends when the pipe is closed.
    pub(crate) async fn flush(&self) {
        loop {
            self.wake.notified().await;
            while let Some(pipe) = self.waiting() {
                tokio::select! {
                    ready = pipe.writable() => if ready.is_err() || !self.push(&pipe) {
                        self.close();
                    },
                    // Closed meanwhile: the pipe must not stay open because of us.
                    () = self.wake.notified() => {}
                }
            }
            if lock(&self.state).pipe.is_none() {
                return;
            }
        }
    }

    /// The pipe, if there is something to write to it.
    fn waiting(&self) -> Option<Arc<Sender>> {
        let state = lock(&self.state);
        if state.backlog.is_empty() {
            None
        } else {
            state.pipe.clone()
        }
    }

    /// Writes what the pipe takes; false if it is broken.
    fn push(&self, pipe: &Sender) -> bool {
        let mut state = lock(&self.state);
        match pipe.try_write(&state.backlog) {
            Ok(written) => {
                state.backlog.advance(written);
                if state.backlog.is_empty() {
                    state.backlog = BytesMut::new();
                }
                true
            }
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::unix::pipe;

    use super::*;

    #[tokio::test]
    async fn lines_stay_whole_and_in_order_when_the_pipe_is_full() {
        let (sender, mut receiver) = pipe::pipe().expect("a pipe");
        let outbox = Arc::new(Outbox::new(sender, 1 << 20));
        let flusher = tokio::spawn({
            let outbox = Arc::clone(&outbox);
            async move { outbox.flush().await }
        });
        let mut expected = Vec::new();
        for number in 0..64_u8 {
            let line = [vec![b'a' + number % 26; 9_999], vec![b'\n']].concat();
            outbox.send(&line).expect("taken");
            expected.extend(line);
        }
        let mut seen = vec![0; expected.len()];
        receiver
            .read_exact(&mut seen)
            .await
            .expect("everything arrives");
        assert!(seen == expected);
        outbox.close();
        flusher.await.expect("the flusher ends");
        assert_eq!(outbox.send(b"x\n"), Err(OutboxError::Closed));
    }

    #[tokio::test]
    async fn a_child_that_does_not_read_is_refused_more() {
        let (sender, _receiver) = pipe::pipe().expect("a pipe");
        let outbox = Outbox::new(sender, 100_000);
        let line = vec![b'x'; 50_000];
        let refused = (0..10).find_map(|_| outbox.send(&line).err());
        assert_eq!(refused, Some(OutboxError::Full));
    }

    #[tokio::test]
    async fn a_closed_pipe_is_noticed() {
        let (sender, receiver) = pipe::pipe().expect("a pipe");
        drop(receiver);
        sender.writable().await.expect("the end is an event too");
        let outbox = Outbox::new(sender, 1000);
        assert_eq!(outbox.send(b"x\n"), Err(OutboxError::Closed));
    }
}
