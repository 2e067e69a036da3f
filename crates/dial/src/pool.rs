//! Connections to one origin, kept open between requests. A request goes out on one that is idle,
//! or on a new one; it is sent a second time only if a kept connection turns out to be dead before
//! a byte of it was written, so no request is ever carried out twice.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::{Request, Response};
use thiserror::Error;
use tokio::time::timeout;

use crate::connection::{AddressFilter, CONNECT, HttpConnection, dial, dial_socket};
use crate::lock::lock;
use crate::origin::Origin;
use crate::pinned::PinnedCertificate;

/// Servers close what is idle; we would rather be first.
const IDLE: Duration = Duration::from_secs(30);
/// What may still come after the answer for the connection to be worth keeping.
const REST: usize = 64 * 1024;
const REST_TIME: Duration = Duration::from_secs(1);

/// The connections to one origin.
#[derive(Debug)]
pub struct Pool {
    origin: Origin,
    most_idle: usize,
    filter: AddressFilter,
    connect_timeout: Duration,
    /// The Unix socket to connect to, instead of the origin.
    socket: Option<PathBuf>,
    /// The certificate that the server has to have, instead of one that the platform trusts.
    pinned: Option<PinnedCertificate>,
    idle: Mutex<Vec<IdleConnection>>,
}

#[derive(Debug)]
struct IdleConnection {
    connection: Box<HttpConnection>,
    since: Instant,
}

/// Why there is no response.
#[derive(Debug, Error)]
pub enum SendError {
    /// No connection came about.
    #[error("no connection")]
    Connect(#[source] io::Error),
    /// The connection was closed before the request was written.
    #[error("the connection was closed before the request was written")]
    Unsent(#[source] hyper::Error),
    /// The connection broke; the request may have been carried out.
    #[error("the connection broke")]
    Broken(#[source] hyper::Error),
}

impl Pool {
    /// No connection yet. More idle ones than `most_idle` are closed.
    pub fn new(origin: Origin, most_idle: usize) -> Self {
        Self {
            origin,
            most_idle,
            filter: |_| true,
            connect_timeout: CONNECT,
            socket: None,
            pinned: None,
            idle: Mutex::default(),
        }
    }

    /// Connects only to addresses that the filter lets pass. If there is none, connecting fails with
    /// [`io::ErrorKind::PermissionDenied`].
    #[must_use]
    pub fn with_filter(self, filter: AddressFilter) -> Self {
        Self { filter, ..self }
    }

    /// How long connecting may take, TLS included; five seconds if this is not said.
    #[must_use]
    pub fn with_connect_timeout(self, connect_timeout: Duration) -> Self {
        Self {
            connect_timeout,
            ..self
        }
    }

    /// Connects to this Unix socket, without TLS. The origin only says what requests have in `Host`.
    #[must_use]
    pub fn with_socket(self, path: PathBuf) -> Self {
        let socket = Some(path);
        Self { socket, ..self }
    }

    /// Over TLS, connects only to a server that has this certificate, whatever its names and its issuer are. For a
    /// server whose certificate is known because it is on the same machine.
    #[must_use]
    pub fn with_pinned(self, certificate: PinnedCertificate) -> Self {
        let pinned = Some(certificate);
        Self { pinned, ..self }
    }

    /// Where they go.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Opens a connection and keeps it.
    pub async fn open(&self) -> io::Result<()> {
        let connection = self.dial().await?;
        self.keep(Box::new(connection));
        Ok(())
    }

    /// Sends a request and waits for the head of the response.
    pub async fn send(
        self: &Arc<Self>,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Reply>, SendError> {
        self.send_after(request, || ()).await
    }

    /// The same; `connected` is called whenever the request is about to be written, so that the caller can note the time.
    pub async fn send_after(
        self: &Arc<Self>,
        mut request: Request<Full<Bytes>>,
        mut connected: impl FnMut(),
    ) -> Result<Response<Reply>, SendError> {
        if let Some(mut connection) = self.take_idle() {
            connected();
            match connection.send(request).await {
                Ok(response) => return Ok(self.reply(response, connection)),
                Err(mut failed) => match failed.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(SendError::Broken(failed.into_error())),
                },
            }
        }
        let dialled = self.dial().await;
        let mut connection = Box::new(dialled.map_err(SendError::Connect)?);
        connected();
        match connection.send(request).await {
            Ok(response) => Ok(self.reply(response, connection)),
            Err(mut failed) => Err(match failed.take_message() {
                Some(_) => SendError::Unsent(failed.into_error()),
                None => SendError::Broken(failed.into_error()),
            }),
        }
    }

    async fn dial(&self) -> io::Result<HttpConnection> {
        // Boxed: the state of a TLS handshake is large, and seldom needed.
        Box::pin(async {
            let limit = self.connect_timeout;
            match &self.socket {
                Some(path) => dial_socket(path, limit).await,
                None => dial(&self.origin, self.filter, limit, self.pinned.as_ref()).await,
            }
        })
        .await
    }

    fn reply(
        self: &Arc<Self>,
        response: Response<Incoming>,
        connection: Box<HttpConnection>,
    ) -> Response<Reply> {
        let pool = Arc::clone(self);
        response.map(|body| Reply {
            body,
            connection,
            pool,
        })
    }

    /// A connection that was used before and still works, as far as this side can tell.
    fn take_idle(&self) -> Option<Box<HttpConnection>> {
        loop {
            let IdleConnection {
                mut connection,
                since,
            } = lock(&self.idle).pop()?;
            if since.elapsed() < IDLE && connection.is_usable() {
                return Some(connection);
            }
        }
    }

    fn keep(&self, connection: Box<HttpConnection>) {
        let mut idle = lock(&self.idle);
        // What has been idle longest is the first to be closed by the server anyway.
        while idle.len() >= self.most_idle
            || idle.first().is_some_and(|kept| kept.since.elapsed() > IDLE)
        {
            idle.remove(0);
        }
        let since = Instant::now();
        idle.push(IdleConnection { connection, since });
    }
}

/// The body of a response, on its connection. Dropping it before its end closes the connection.
#[derive(Debug)]
pub struct Reply {
    body: Incoming,
    connection: Box<HttpConnection>,
    pool: Arc<Pool>,
}

impl Body for Reply {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Self {
            body, connection, ..
        } = &mut *self;
        connection.drive_until(context, |context| Pin::new(&mut *body).poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Reply {
    /// Gives the connection back; the response has been read to its end.
    pub fn done(self) {
        self.pool.keep(self.connection);
    }

    /// Gives the connection back once the rest of the response, of which nothing is wanted, has
    /// come; closes it if that is much, or takes long.
    pub fn done_after_rest(mut self) {
        if self.is_end_stream() {
            return self.done();
        }
        tokio::spawn(async move {
            if timeout(REST_TIME, self.rest()).await == Ok(true) {
                self.done();
            }
        });
    }

    /// Reads what is left; false if it is too much or cannot be read.
    async fn rest(&mut self) -> bool {
        let mut length = 0;
        while let Some(frame) = self.frame().await {
            let Ok(frame) = frame else {
                return false;
            };
            length += frame.data_ref().map_or(0, Bytes::len);
            if length > REST {
                return false;
            }
        }
        true
    }
}
