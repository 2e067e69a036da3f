//! Why a connection did not come about: which step failed, for which host, and what was wrong. What a peer's certificate says
//! is not repeated, except by the TLS library's own words for rare problems, and those are bounded.

use std::error::Error;
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio_rustls::rustls::{CertificateError, Error as TlsError};

use crate::origin::Origin;

/// The longest text of the TLS library that is quoted, for a problem that has no text here.
const MAX_DETAIL: usize = 200;

/// The step that failed; the source says why.
#[derive(Debug, thiserror::Error)]
enum ConnectError {
    #[error("the name {host} cannot be resolved")]
    Name {
        host: String,
        #[source]
        source: io::Error,
    },
    #[error("the addresses of {host} may not be connected to")]
    Forbidden { host: String },
    #[error("no TCP connection to {peer}")]
    Tcp {
        peer: String,
        #[source]
        source: io::Error,
    },
    #[error("no connection to the socket {path}")]
    Socket {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("no TLS connection to {peer}: {problem}")]
    Tls { peer: String, problem: String },
    #[error("no connection to {peer} within {limit:?}")]
    TimedOut { peer: String, limit: Duration },
}

/// The host's name has no address.
pub(crate) fn unresolved(origin: &Origin, source: io::Error) -> io::Error {
    let host = origin.host.clone();
    io::Error::new(source.kind(), ConnectError::Name { host, source })
}

/// The filter lets no address of the host pass.
pub(crate) fn forbidden(origin: &Origin) -> io::Error {
    let host = origin.host.clone();
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        ConnectError::Forbidden { host },
    )
}

/// No TCP connection.
pub(crate) fn refused(origin: &Origin, source: io::Error) -> io::Error {
    let peer = peer(origin);
    io::Error::new(source.kind(), ConnectError::Tcp { peer, source })
}

/// No connection to a Unix socket.
pub(crate) fn unanswered_socket(path: &Path, source: io::Error) -> io::Error {
    let path = path.display().to_string();
    io::Error::new(source.kind(), ConnectError::Socket { path, source })
}

/// A TCP connection, and no TLS over it.
pub(crate) fn untrusted(origin: &Origin, error: &io::Error) -> io::Error {
    let tls = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<TlsError>());
    let problem = match tls {
        Some(TlsError::InvalidCertificate(problem)) => certificate(problem),
        _ => bounded(&error.to_string()),
    };
    let peer = peer(origin);
    let failed = ConnectError::Tls { peer, problem };
    io::Error::new(error.kind(), failed)
}

/// Nothing within this time.
pub(crate) fn timed_out(origin: &Origin, limit: Duration) -> io::Error {
    let peer = peer(origin);
    let failed = ConnectError::TimedOut { peer, limit };
    io::Error::new(io::ErrorKind::TimedOut, failed)
}

/// Host and port, with brackets around an IPv6 address.
fn peer(origin: &Origin) -> String {
    let Origin { host, port, .. } = origin;
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

fn certificate(problem: &CertificateError) -> String {
    use CertificateError as Problem;
    let words = match problem {
        Problem::UnknownIssuer => "its certificate is not from an authority that is trusted here",
        Problem::Expired | Problem::ExpiredContext { .. } => "its certificate has expired",
        Problem::NotValidYet | Problem::NotValidYetContext { .. } => {
            "its certificate is not valid yet"
        }
        Problem::NotValidForName | Problem::NotValidForNameContext { .. } => {
            "its certificate is for another name"
        }
        Problem::Revoked => "its certificate was revoked",
        Problem::ApplicationVerificationFailure => {
            "its certificate is not the one that is expected"
        }
        // What `openssl req -x509` makes: a certificate that signs itself and says that it is an authority.
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "its certificate is self-signed"
        }
        other => {
            return format!(
                "its certificate cannot be used: {}",
                bounded(&other.to_string())
            );
        }
    };
    words.to_owned()
}

/// Text in one line, with nothing that steers a terminal, of bounded length.
fn bounded(text: &str) -> String {
    let safe = text.chars().flat_map(char::escape_debug);
    safe.take(MAX_DETAIL).collect()
}

/// An error and what caused it, in one line: `no TCP connection to a.example:80: Connection refused (os error 111)`.
pub fn explain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
