//! One origin, asked with POST. Connections are kept, answers are bounded, redirects are not followed, and nothing of an
//! answer that is not a success is read.

use std::io;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, Uri, body::Incoming, http};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

use crate::error::{Error, SetupError};

/// More than any verdict needs.
const MAX_ANSWER: usize = 1 << 20;
const MOST_IDLE: usize = 16;

/// A place to ask.
#[derive(Debug)]
pub(crate) struct Client {
    tls: bool,
    host: String,
    port: u16,
    authority: HeaderValue,
    /// What comes before every path, without a slash at its end.
    base: String,
    idle: Mutex<Vec<Sender>>,
}

type Sender = SendRequest<Full<Bytes>>;

impl Client {
    pub(crate) fn new(url: &str) -> Result<Self, SetupError> {
        let uri: Uri = url.parse().map_err(|_| SetupError::Address)?;
        let http::uri::Parts {
            scheme,
            authority,
            path_and_query,
            ..
        } = uri.into_parts();
        let tls = match scheme.as_ref().map(http::uri::Scheme::as_str) {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(SetupError::Address),
        };
        let authority = authority.ok_or(SetupError::Address)?;
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let has_port = authority.as_str() != authority.host();
        if host.is_empty() || (has_port && authority.port_u16().is_none()) {
            return Err(SetupError::Address);
        }
        let base = path_and_query.map_or(String::new(), |path| path.as_str().to_owned());
        Ok(Self {
            tls,
            port: authority.port_u16().unwrap_or(if tls { 443 } else { 80 }),
            authority: HeaderValue::from_str(authority.as_str())
                .map_err(|_| SetupError::Address)?,
            host,
            base: base.trim_end_matches('/').to_owned(),
            idle: Mutex::default(),
        })
    }

    /// As the `Host` header says it.
    pub(crate) fn authority(&self) -> &str {
        self.authority.to_str().unwrap_or_default()
    }

    /// The path of a request, whatever comes before it included.
    pub(crate) fn path(&self, path: &str) -> String {
        let whole = format!("{}{path}", self.base);
        if whole.is_empty() {
            "/".to_owned()
        } else {
            whole
        }
    }

    /// Asks at a path as [`path`](Self::path) gives it, and returns the body of a success.
    pub(crate) async fn post(
        &self,
        path: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Bytes, Error> {
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = path.parse().map_err(|_| Error::Internal)?;
        *request.headers_mut() = headers;
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(HOST, self.authority.clone());
        request.headers_mut().insert(CONTENT_TYPE, json);
        let (response, sender) = self.send(request).await?;
        success(&response)?;
        let body = read(response.into_body()).await?;
        self.keep(sender);
        Ok(body)
    }

    /// On a kept connection or a new one. A request that was not written is written again; no other is.
    async fn send(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, Sender), Error> {
        while let Some(mut sender) = self.kept() {
            if sender.ready().await.is_err() {
                continue;
            }
            match sender.try_send_request(request).await {
                Ok(response) => return Ok((response, sender)),
                Err(mut failed) => request = failed.take_message().ok_or(Error::Unreachable)?,
            }
        }
        let mut sender = self.dial().await.map_err(|error| {
            tracing::debug!(%error, host = self.host, "a classifier cannot be reached");
            Error::Unreachable
        })?;
        let response = sender.send_request(request).await;
        Ok((response.map_err(|_| Error::Unreachable)?, sender))
    }

    async fn dial(&self) -> io::Result<Sender> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        if !self.tls {
            return speak(stream).await;
        }
        let name = ServerName::try_from(self.host.clone()).map_err(io::Error::other)?;
        let connector = TlsConnector::from(Arc::clone(&TLS));
        speak(connector.connect(name, stream).await?).await
    }

    fn kept(&self) -> Option<Sender> {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
    }

    fn keep(&self, sender: Sender) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|sender| !sender.is_closed());
        if idle.len() < MOST_IDLE {
            idle.push(sender);
        }
    }
}

/// Headers whose values are keys.
pub(crate) fn secrets<'a>(
    headers: impl IntoIterator<Item = (&'a str, String)>,
) -> Result<HeaderMap, SetupError> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| SetupError::Header)?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| SetupError::Header)?;
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}

fn success(response: &Response<Incoming>) -> Result<(), Error> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    // AWS says it in a header where the status is a general one.
    let kind = response.headers().get("x-amzn-errortype");
    let throttled = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"Throttling"));
    Err(match status.as_u16() {
        429 => Error::Throttled,
        _ if throttled => Error::Throttled,
        status => Error::Status(status),
    })
}

async fn read(mut body: Incoming) -> Result<Bytes, Error> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Error::Unreachable)?;
        if let Some(data) = frame.data_ref() {
            if whole.len() + data.len() > MAX_ANSWER {
                return Err(Error::TooLarge);
            }
            whole.extend_from_slice(data);
        }
    }
    Ok(whole.freeze())
}

async fn speak<S>(stream: S) -> io::Result<Sender>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    // Ends with the last of its senders.
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to a classifier broke");
        }
    });
    Ok(sender)
}

/// The certificates are the platform's, read once and only where a classifier is reached over TLS.
static TLS: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (trusted, _unusable) = roots.add_parsable_certificates(found.certs);
    if trusted == 0 {
        tracing::error!("no root certificates found: no classifier can be reached over https");
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let client = Client::new("https://a.example/base/").unwrap();
        assert_eq!((client.port, &*client.base), (443, "/base"));
        assert_eq!(client.path("/x?y=1"), "/base/x?y=1");
        let client = Client::new("http://[::1]:81").unwrap();
        assert_eq!((&*client.host, client.port), ("::1", 81));
        assert_eq!(client.path(""), "/");
        for url in ["ftp://a", "a.example", "http://", "http://a:99999/"] {
            assert!(Client::new(url).is_err(), "{url}");
        }
    }
}
