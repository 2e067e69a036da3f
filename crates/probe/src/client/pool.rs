//! Connections to one site, kept open between requests. A request goes out on one that is idle, or
//! on a new one; it is written a second time only if a kept connection turns out to be dead before
//! a byte of it was sent, so no call is ever carried out twice.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_dial::{Wire, dial};
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::TrySendError;
use hyper::{Request, Response};

use super::exchange::Fault;
use super::target::Site;

/// Servers close what is idle; we would rather be first.
const IDLE: Duration = Duration::from_secs(30);

/// The connections to one site.
#[derive(Debug)]
pub(super) struct Pool {
    site: Site,
    idle: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    wire: Box<Wire>,
    since: Instant,
}

impl Pool {
    pub(super) fn new(site: Site) -> Self {
        Self {
            site,
            idle: Mutex::default(),
        }
    }

    /// Opens a connection and keeps it.
    pub(super) async fn open(&self) -> std::io::Result<()> {
        let wire = Box::pin(dial(&self.site.origin)).await?;
        self.keep(Box::new(wire));
        Ok(())
    }

    /// Sends a request and waits for the head of the response; `sent` is stamped on the way.
    pub(super) async fn send(
        self: &Arc<Self>,
        mut request: Request<Full<Bytes>>,
        sent: &mut Instant,
    ) -> Result<Response<Incomplete>, Fault> {
        if let Some(mut wire) = self.kept() {
            *sent = Instant::now();
            match respond(&mut wire, request).await {
                Ok(response) => return Ok(self.incomplete(response, wire)),
                Err(mut failed) => match failed.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(Fault::Closed),
                },
            }
        }
        // Boxed: the state of a TLS handshake is large, and seldom needed.
        let dialled = Box::pin(dial(&self.site.origin)).await;
        let mut wire = Box::new(dialled.map_err(|_| Fault::Unreachable)?);
        *sent = Instant::now();
        match respond(&mut wire, request).await {
            Ok(response) => Ok(self.incomplete(response, wire)),
            Err(_) => Err(Fault::Closed),
        }
    }

    fn incomplete(
        self: &Arc<Self>,
        response: Response<Incoming>,
        wire: Box<Wire>,
    ) -> Response<Incomplete> {
        let pool = Arc::clone(self);
        response.map(|body| Incomplete { body, wire, pool })
    }

    fn kept(&self) -> Option<Box<Wire>> {
        loop {
            let Kept { mut wire, since } = self.idle().pop()?;
            if since.elapsed() < IDLE && wire.is_usable() {
                return Some(wire);
            }
        }
    }

    fn keep(&self, wire: Box<Wire>) {
        let since = Instant::now();
        self.idle().push(Kept { wire, since });
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a request on a connection and drives the connection until the head of the response.
async fn respond(
    wire: &mut Wire,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
    let mut response = std::pin::pin!(wire.sender.try_send_request(request));
    poll_fn(|context| {
        wire.drive(context);
        response.as_mut().poll(context)
    })
    .await
}

/// The body of a response, on its connection. Dropping it before its end closes the connection.
#[derive(Debug)]
pub(super) struct Incomplete {
    body: Incoming,
    wire: Box<Wire>,
    pool: Arc<Pool>,
}

impl Incomplete {
    /// Gives the connection back; the response has been read to its end.
    pub(super) fn done(self) {
        self.pool.keep(self.wire);
    }
}

impl Body for Incomplete {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        // Asking first: the connection reads no more than somebody waits for.
        match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(frame) => Poll::Ready(frame),
            Poll::Pending => {
                this.wire.drive(context);
                Pin::new(&mut this.body).poll_frame(context)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
