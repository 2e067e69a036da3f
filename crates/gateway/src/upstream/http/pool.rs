//! Connections to one server, kept open between requests. A request goes out on one that is idle,
//! or on a new one; it is sent a second time only if a kept connection turns out to be dead before
//! a byte of it was written, so no request is ever carried out twice.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::{Request, Response};
use thiserror::Error;
use tokio::time::timeout;

use super::dial::{Sender, dial};
use super::target::Target;

/// More idle connections than this are closed.
const MOST_IDLE: usize = 64;
/// Servers close what is idle; we would rather be first.
const IDLE: Duration = Duration::from_secs(30);
/// What may still come after the answer for the connection to be worth keeping.
const REST: usize = 64 * 1024;
const REST_TIME: Duration = Duration::from_secs(1);

/// The connections to one server.
#[derive(Debug)]
pub(super) struct Pool {
    target: Target,
    idle: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    sender: Sender,
    since: Instant,
}

/// Why there is no response.
#[derive(Debug, Error)]
pub(super) enum SendError {
    #[error("no connection")]
    Connect(#[source] io::Error),
    #[error("the connection was closed before the request was written")]
    Unsent(#[source] hyper::Error),
    #[error("the connection broke")]
    Broken(#[source] hyper::Error),
}

/// A connection with a response on it. Dropping it closes the connection.
#[derive(Debug)]
pub(super) struct Lease {
    pool: Arc<Pool>,
    sender: Sender,
}

impl Pool {
    pub(super) fn new(target: Target) -> Self {
        Self {
            target,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Sends a request and waits for the head of the response.
    pub(super) async fn send(
        self: &Arc<Self>,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, Lease), SendError> {
        if let Some(mut sender) = self.kept().await {
            match sender.try_send_request(request).await {
                Ok(response) => return Ok((response, self.lease(sender))),
                Err(mut failed) => match failed.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(SendError::Broken(failed.into_error())),
                },
            }
        }
        // Boxed: the state of a TLS handshake is large, and seldom needed.
        let dialled = Box::pin(dial(&self.target)).await;
        let mut sender = dialled.map_err(SendError::Connect)?;
        match sender.try_send_request(request).await {
            Ok(response) => Ok((response, self.lease(sender))),
            Err(mut failed) => Err(match failed.take_message() {
                Some(_) => SendError::Unsent(failed.into_error()),
                None => SendError::Broken(failed.into_error()),
            }),
        }
    }

    fn lease(self: &Arc<Self>, sender: Sender) -> Lease {
        Lease {
            pool: Arc::clone(self),
            sender,
        }
    }

    /// A connection that was used before and still works, as far as anybody can tell.
    async fn kept(&self) -> Option<Sender> {
        loop {
            let Kept { mut sender, since } = self.idle().pop()?;
            if since.elapsed() < IDLE && !sender.is_closed() && sender.ready().await.is_ok() {
                return Some(sender);
            }
        }
    }

    fn keep(&self, sender: Sender) {
        let mut idle = self.idle();
        if idle.len() >= MOST_IDLE {
            // The one that has been idle longest is the first to be closed by the server anyway.
            idle.remove(0);
        }
        idle.push(Kept {
            sender,
            since: Instant::now(),
        });
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Kept>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    /// Gives the connection back; its response has been read to the end.
    pub(super) fn done(self) {
        if !self.sender.is_closed() {
            self.pool.keep(self.sender);
        }
    }

    /// Gives the connection back once the rest of the response, of which nothing is wanted, has
    /// come; closes it if that is much, or takes long.
    pub(super) fn done_after(self, rest: Incoming) {
        if rest.is_end_stream() {
            return self.done();
        }
        tokio::spawn(async move {
            let mut rest = Limited::new(rest, REST);
            let ended = async {
                loop {
                    match rest.frame().await {
                        None => return true,
                        Some(Err(_)) => return false,
                        Some(Ok(_)) => {}
                    }
                }
            };
            if timeout(REST_TIME, ended).await == Ok(true) {
                self.done();
            }
        });
    }
}
