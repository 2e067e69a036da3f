//! The handshake with one client: what is refused, and who the client has proved to be.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{CertificateError, Error as RustlsError};
use tokio_rustls::server::TlsStream;
use webpki::EndEntityCert;

use super::Tls;
use crate::http::Peer;

/// How the first record of a handshake begins.
const HANDSHAKE_RECORD: u8 = 22;
/// As much of a request without TLS as is read before it is answered.
const PLAIN_REQUEST: usize = 4096;
/// The answer to a client that does not speak TLS.
const PLAIN_ANSWER: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n\
    content-length: 32\r\nconnection: close\r\n\r\nthis port speaks TLS: use https\n";
/// More names than this in one certificate are not looked at.
const MAX_NAMES: usize = 64;

/// Why a handshake failed, in words of ours: what clients send is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct HandshakeError(pub(in crate::gateway) &'static str);

impl Tls {
    /// Shakes hands with a client, under the certificate that holds now.
    pub(in crate::gateway) async fn accept(
        &self,
        mut stream: TcpStream,
    ) -> Result<(TlsStream<TcpStream>, Peer), HandshakeError> {
        let mut first = [0];
        match stream.peek(&mut first).await {
            Ok(1) if first != [HANDSHAKE_RECORD] => {
                // The client may have gone.
                drop(refuse_plain(&mut stream).await);
                return Err(HandshakeError("the client does not speak TLS"));
            }
            Ok(1) => {}
            _ => return Err(HandshakeError("the client went away")),
        }
        let acceptor = TlsAcceptor::from(self.current.load_full());
        let accepted = acceptor.accept(stream).await;
        let stream = accepted.map_err(|error| HandshakeError(reason(&error)))?;
        let peer = peer(stream.get_ref().1.peer_certificates());
        Ok((stream, peer))
    }
}

/// Tells a client that speaks plain HTTP what to do. Its request is read first: a connection that is closed with unread
/// bytes is reset, and the answer with it.
async fn refuse_plain(stream: &mut TcpStream) -> io::Result<()> {
    let mut request = [0; PLAIN_REQUEST];
    let read = stream.read(&mut request).await?;
    if request.first().is_some_and(u8::is_ascii_alphabetic) && read > 0 {
        stream.write_all(PLAIN_ANSWER).await?;
    }
    stream.shutdown().await
}

fn peer(certificates: Option<&[CertificateDer<'_>]>) -> Peer {
    let Some(certificate) = certificates.and_then(<[_]>::first) else {
        return Peer::Network;
    };
    let names: Option<Arc<[String]>> = EndEntityCert::try_from(certificate).ok().map(|read| {
        let uris = read.valid_uri_names().map(str::to_owned);
        let hosts = read.valid_dns_names().map(str::to_ascii_lowercase);
        uris.chain(hosts).take(MAX_NAMES).collect()
    });
    Peer::Certificate(names.unwrap_or_default())
}

fn reason(error: &io::Error) -> &'static str {
    let tls = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<RustlsError>());
    match tls {
        Some(RustlsError::NoCertificatesPresented) => "the client has shown no certificate",
        Some(RustlsError::InvalidCertificate(problem)) => match problem {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the client's certificate has expired"
            }
            CertificateError::UnknownIssuer => {
                "the client's certificate is not from an authority in client_ca_file"
            }
            _ => "the client's certificate cannot be used",
        },
        Some(RustlsError::NoApplicationProtocol) => "the client does not speak HTTP/1.1",
        Some(RustlsError::AlertReceived(_)) => "the client refused the certificate or went away",
        Some(_) => "the client and the gateway have no TLS in common",
        None => "the client went away",
    }
}
