//! A new connection: TCP, TLS where the address says so, and HTTP/1.1 on top. Whoever uses a
//! connection drives it, in its own task, which spares each call two changes of task.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

use super::target::Site;

/// How long a connection may take to come about, TLS included.
const CONNECT: Duration = Duration::from_secs(5);

/// A connection.
pub(super) struct Wire {
    pub(super) sender: SendRequest<Full<Bytes>>,
    /// Ends when the connection is closed.
    driver: Pin<Box<dyn Future<Output = ()> + Send>>,
    is_closed: bool,
}

impl Wire {
    /// Moves what bytes there are to move.
    pub(super) fn drive(&mut self, context: &mut Context<'_>) {
        if !self.is_closed {
            self.is_closed = self.driver.as_mut().poll(context).is_ready();
        }
    }

    /// Whether the connection can carry another request, as far as anybody can tell.
    pub(super) fn is_usable(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        self.drive(&mut context);
        !self.is_closed && matches!(self.sender.poll_ready(&mut context), Poll::Ready(Ok(())))
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire")
            .field("is_closed", &self.is_closed)
            .finish_non_exhaustive()
    }
}

/// Connects to the site.
pub(super) async fn dial(site: &Site) -> io::Result<Wire> {
    let connected = timeout(CONNECT, connect(site)).await;
    connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn connect(site: &Site) -> io::Result<Wire> {
    let stream = TcpStream::connect((site.host.as_str(), site.port)).await?;
    stream.set_nodelay(true)?;
    if !site.tls {
        return speak(stream).await;
    }
    let name = ServerName::try_from(site.host.clone()).map_err(io::Error::other)?;
    let connector = TlsConnector::from(Arc::clone(&TLS));
    speak(connector.connect(name, stream).await?).await
}

async fn speak<S>(stream: S) -> io::Result<Wire>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    // Why a connection ended is told by the request that was on it.
    let driver = async move { drop(connection.await) };
    Ok(Wire {
        sender,
        driver: Box::pin(driver),
        is_closed: false,
    })
}

/// The certificates are the platform's, read once and only where a server is served over TLS.
static TLS: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
});
