//! TLS towards PostgreSQL: rustls with the platform's root certificates, or with those of one file.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

use super::error::PostgresError;

/// Makes encrypted streams to servers whose certificate is valid for the host's name.
#[derive(Clone)]
pub(super) struct Connector(Arc<ClientConfig>);

/// A connector that trusts the certificates of a PEM file, or those of the platform.
pub(super) fn connector(root: Option<&std::path::PathBuf>) -> Result<Connector, PostgresError> {
    let roots = match root {
        Some(path) => roots_of(path)?,
        None => platform_roots()?,
    };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| PostgresError::Tls(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Connector(Arc::new(config)))
}

fn roots_of(path: &Path) -> Result<RootCertStore, PostgresError> {
    let unusable = |why: String| PostgresError::Tls(format!("{}: {why}", path.display()));
    let mut roots = RootCertStore::empty();
    let certificates =
        CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        let added = roots.add(certificate);
        added.map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unusable("holds no certificate".to_owned()));
    }
    Ok(roots)
}

fn platform_roots() -> Result<RootCertStore, PostgresError> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (trusted, _unusable) = roots.add_parsable_certificates(found.certs);
    if trusted == 0 {
        let why = "no root certificates found; name a file with sslrootcert=…";
        return Err(PostgresError::Tls(why.to_owned()));
    }
    Ok(roots)
}

impl<S> MakeTlsConnect<S> for Connector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = EncryptedStream<S>;
    type TlsConnect = HostConnector;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<HostConnector> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(HostConnector {
            connector: TlsConnector::from(Arc::clone(&self.0)),
            name,
        })
    }
}

/// Makes one stream to one host.
pub(super) struct HostConnector {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S> TlsConnect<S> for HostConnector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = EncryptedStream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let connecting = self.connector.connect(self.name, stream);
        Box::pin(async move { connecting.await.map(EncryptedStream) })
    }
}

/// An encrypted stream to a server whose certificate was verified.
pub(super) struct EncryptedStream<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for EncryptedStream<S> {
    /// The certificate is verified, so the password exchange need not be bound to it.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for EncryptedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for EncryptedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
