//! A new connection: TCP, TLS where the origin asks for it, and HTTP/1.1 on top.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustix::net::sockopt::{
    set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

use crate::connect_error::{
    forbidden, refused, timed_out, unanswered_socket, unresolved, untrusted,
};
use crate::origin::Origin;
use crate::pinned::PinnedCertificate;
use crate::wake_filter::WakeFilter;

/// How long connecting may take, TLS included, if nothing else is said.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);

/// How much of a response is read at once, at most, and how long its head may be. Parts of a body are copied out of the memory
/// that they are read into, so more would only be new memory for each large response.
const READ_BYTES: usize = 64 * 1024;

/// After this much silence the kernel asks whether the peer is still there (TCP keep-alive),
const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(30);
/// repeats the question at this interval,
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(10);
/// and closes the connection after this many questions without an answer.
const KEEP_ALIVE_TRIES: u32 = 3;

/// Says whether an address may be connected to. It is asked about each address that a name resolves to, for every new
/// connection.
pub type AddressFilter = fn(IpAddr) -> bool;

/// A connection without a task of its own: the caller that waits for a response also drives the
/// connection, which saves two task switches per call.
pub(crate) struct HttpConnection {
    sender: SendRequest<Full<Bytes>>,
    /// Ends when the connection is closed.
    driver: Pin<Box<dyn Future<Output = ()> + Send>>,
    is_closed: bool,
    /// The driver and its callers talk over channels, and would wake the task that is driving.
    wakes: WakeFilter,
}

impl HttpConnection {
    /// Moves what bytes there are to move, for as long as `part`, which waits for them, is not ready. It is asked first, so
    /// that the connection reads only while a caller waits for data.
    pub(crate) fn drive_until<T>(
        &mut self,
        context: &Context<'_>,
        mut part: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let (driver, is_closed) = (&mut self.driver, &mut self.is_closed);
        self.wakes.poll(context, |context| {
            let polled = part(context);
            if polled.is_ready() {
                return polled;
            }
            if !*is_closed {
                *is_closed = driver.as_mut().poll(context).is_ready();
            }
            part(context)
        })
    }

    /// Whether the connection can carry another request, as far as this side can tell.
    pub(crate) fn is_usable(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        self.is_closed = self.is_closed || self.driver.as_mut().poll(&mut context).is_ready();
        !self.is_closed && matches!(self.sender.poll_ready(&mut context), Poll::Ready(Ok(())))
    }

    /// Sends a request and drives the connection until the head of the response.
    pub(crate) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
        let mut response = std::pin::pin!(self.sender.try_send_request(request));
        poll_fn(|context| self.drive_until(context, |context| response.as_mut().poll(context)))
            .await
    }
}

impl fmt::Debug for HttpConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire")
            .field("is_closed", &self.is_closed)
            .finish_non_exhaustive()
    }
}

/// Connects, within `limit`, to an address that the filter lets pass. An error says which step failed and for which host.
pub(crate) async fn dial(
    origin: &Origin,
    filter: AddressFilter,
    limit: Duration,
    pinned: Option<&PinnedCertificate>,
) -> io::Result<HttpConnection> {
    let trust = || pinned.map_or_else(|| Arc::clone(&TLS), PinnedCertificate::trust);
    match timeout(limit, connect(origin, filter, trust)).await {
        Ok(connection) => connection,
        Err(_) => Err(timed_out(origin, limit)),
    }
}

/// Connects to a Unix socket, within `limit`.
pub(crate) async fn dial_socket(path: &Path, limit: Duration) -> io::Result<HttpConnection> {
    let connected = timeout(limit, UnixStream::connect(path)).await;
    let connected = connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    speak(connected.map_err(|error| unanswered_socket(path, error))?).await
}

async fn connect(
    origin: &Origin,
    filter: AddressFilter,
    trust: impl FnOnce() -> Arc<ClientConfig>,
) -> io::Result<HttpConnection> {
    let resolved = lookup_host((origin.host.as_str(), origin.port));
    let stream = connect_to_allowed(origin, resolved, filter).await?;
    stream.set_nodelay(true)?;
    keep_alive(&stream)?;
    if origin.tls {
        let name = ServerName::try_from(origin.host.clone()).map_err(io::Error::other)?;
        let connector = TlsConnector::from(trust());
        let stream = connector.connect(name, stream).await;
        speak(stream.map_err(|error| untrusted(origin, &error))?).await
    } else {
        speak(stream).await
    }
}

/// Connects to an allowed one of the addresses that the name resolved to. What is checked here is what is connected to: the
/// name is not resolved a second time, so a resolver that answers differently then changes nothing.
async fn connect_to_allowed(
    origin: &Origin,
    resolved: impl Future<Output = io::Result<impl Iterator<Item = SocketAddr>>>,
    filter: AddressFilter,
) -> io::Result<TcpStream> {
    let found = resolved.await.map_err(|error| unresolved(origin, error))?;
    let addresses: Vec<_> = found.filter(|address| filter(address.ip())).collect();
    if addresses.is_empty() {
        return Err(forbidden(origin));
    }
    let stream = TcpStream::connect(&addresses[..]).await;
    stream.map_err(|error| refused(origin, error))
}

/// A server may think about a call, and a stream may have no news, for hours. Only the system can tell such a silence
/// from a peer that is gone, and its own setting is to ask after two hours.
fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    set_socket_keepalive(stream, true)?;
    set_tcp_keepidle(stream, KEEP_ALIVE_AFTER)?;
    set_tcp_keepintvl(stream, KEEP_ALIVE_EVERY)?;
    set_tcp_keepcnt(stream, KEEP_ALIVE_TRIES)?;
    Ok(())
}

async fn speak<S>(stream: S) -> io::Result<HttpConnection>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::Builder::new()
        .max_buf_size(READ_BYTES)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    let driver = async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection broke");
        }
    };
    Ok(HttpConnection {
        sender,
        driver: Box::pin(driver),
        is_closed: false,
        wakes: WakeFilter::default(),
    })
}

/// The certificates are the platform's, read once and only where something is reached over TLS.
static TLS: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (trusted, _unusable) = roots.add_parsable_certificates(found.certs);
    if trusted == 0 {
        tracing::error!("no root certificates found: nothing can be reached over https");
    }
    trusting(roots)
});

fn trusting(roots: RootCertStore) -> Arc<ClientConfig> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}

#[cfg(test)]
mod tests;
