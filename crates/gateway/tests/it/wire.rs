//! Requests as text over any stream, and clients that speak TLS.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use countersign_fixture::certificates::{AUTHORITY, Pair};
use countersign_fixture::client::{call_params, request};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::support::{KEY, text};

/// A client that trusts the authority of the tests' servers.
#[derive(Clone)]
pub(crate) struct TlsClient {
    config: Arc<ClientConfig>,
}

impl TlsClient {
    /// With this certificate, if any, and these protocols.
    pub(crate) fn new(pair: Option<Pair>, protocols: &[&[u8]]) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(certificate(AUTHORITY)).expect("a root");
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots);
        let mut config = match pair {
            None => builder.with_no_client_auth(),
            Some(pair) => {
                let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).expect("a key");
                let chain = vec![certificate(pair.certificate)];
                builder.with_client_auth_cert(chain, key).expect("a pair")
            }
        };
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let config = Arc::new(config);
        Self { config }
    }

    pub(crate) async fn connect(&self, address: SocketAddr) -> io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(address).await?;
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let name = ServerName::try_from("localhost").expect("a name");
        connector.connect(name, stream).await
    }

    /// Sends a request by a connection of its own. With TLS 1.3 a client learns here that its certificate was refused.
    pub(crate) async fn exchange(&self, address: SocketAddr, sent: &str) -> io::Result<String> {
        let stream = self.connect(address).await?;
        exchange(stream, sent).await
    }
}

pub(crate) fn certificate(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).expect("a certificate")
}

/// Sends a request, and reads until the connection ends.
pub(crate) async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    sent: &str,
) -> io::Result<String> {
    stream.write_all(sent.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    if answer.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(text(&answer))
}

/// The same over a Unix socket.
pub(crate) async fn exchange_unix(path: &Path, sent: &str) -> io::Result<String> {
    exchange(UnixStream::connect(path).await?, sent).await
}

/// A request without a body; each header ends its line itself.
pub(crate) fn bare(method: &str, path: &str, headers: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
}

/// The key as a header.
pub(crate) fn key() -> String {
    format!("X-API-Key: {KEY}\r\n")
}

/// A call of a tool of the server `x`.
pub(crate) fn tool_call(tool: &str, headers: &str) -> String {
    let body = text(&request("1", "tools/call", &call_params(tool, "{}")));
    let length = body.len();
    let headers =
        format!("Content-Type: application/json\r\nContent-Length: {length}\r\n{headers}");
    bare("POST", "/mcp/s/x", &headers) + &body
}
