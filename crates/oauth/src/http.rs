//! HTTP exchanges with authorization servers: one request and one small response on a connection of its own. Whole
//! exchanges take at most 5 s; redirects are not followed.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_dial::{Budget, Origin, Pool, Reach, ReadError, SendError, gather};
use http_body_util::Full;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::{OAuthError, RefusalCode};

/// How long an exchange may take.
const TIME: Duration = Duration::from_secs(5);
/// The largest response, unless another limit is given.
const MAX_BYTES: usize = 64 * 1024;
/// Larger than any response, so that the limit above decides.
const MEMORY: usize = 1 << 20;

/// Makes requests within its reach.
#[derive(Clone, Copy, Debug)]
pub struct HttpClient {
    reach: Reach,
}

/// A response that was read to its end.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// A form, and perhaps a header with the client's credentials.
#[derive(Default)]
pub(crate) struct Form {
    pub(crate) body: String,
    pub(crate) authorization: Option<HeaderValue>,
}

/// A body, and what it is.
struct Content {
    media_type: &'static str,
    body: Bytes,
    authorization: Option<HeaderValue>,
}

impl HttpClient {
    /// A client that connects to addresses within `reach` only.
    pub fn new(reach: Reach) -> Self {
        Self { reach }
    }

    /// Checks that an address may be used: https, or http where the reach allows it; no user, no fragment. `what` names it
    /// in the error.
    pub fn check_address(self, url: &str, what: &'static str) -> Result<(), OAuthError> {
        self.parse_address(url)
            .map(drop)
            .ok_or(OAuthError::Address { what })
    }

    fn parse_address(self, url: &str) -> Option<(Uri, Origin)> {
        // A fragment is cut off by the parser, so it is looked for before.
        if url.contains('#') || url.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return None;
        }
        let uri: Uri = url.parse().ok()?;
        let origin = Origin::from_uri(&uri)?;
        let has_user = uri.authority()?.as_str().contains('@');
        (self.reach.allows_scheme(origin.tls) && !has_user).then_some((uri, origin))
    }

    /// Asks for a document, of no more than 64 KiB.
    pub(crate) async fn get(self, url: &str) -> Result<HttpResponse, OAuthError> {
        self.get_limited(url, MAX_BYTES).await
    }

    /// Asks for a document of no more than `limit` bytes.
    pub(crate) async fn get_limited(
        self,
        url: &str,
        limit: usize,
    ) -> Result<HttpResponse, OAuthError> {
        self.exchange(url, None, limit).await
    }

    /// Sends a form.
    pub(crate) async fn post_form(self, url: &str, form: Form) -> Result<HttpResponse, OAuthError> {
        let content = Content {
            media_type: "application/x-www-form-urlencoded",
            body: form.body.into(),
            authorization: form.authorization,
        };
        self.exchange(url, Some(content), MAX_BYTES).await
    }

    /// Sends JSON.
    pub(crate) async fn post_json(
        self,
        url: &str,
        body: String,
    ) -> Result<HttpResponse, OAuthError> {
        let content = Content {
            media_type: "application/json",
            body: body.into(),
            authorization: None,
        };
        self.exchange(url, Some(content), MAX_BYTES).await
    }

    async fn exchange(
        self,
        url: &str,
        content: Option<Content>,
        limit: usize,
    ) -> Result<HttpResponse, OAuthError> {
        let address = self.parse_address(url);
        let (uri, origin) = address.ok_or(OAuthError::Address { what: "endpoint" })?;
        let filter = self.reach.filter(origin.tls);
        let pool = Arc::new(Pool::new(origin, 0).with_filter(filter));
        let request = request(&uri, content)?;
        let exchange = async {
            let response = pool.send(request).await.map_err(connect_error)?;
            let status = response.status();
            if status.is_redirection() {
                return Err(OAuthError::Redirected(status.as_u16()));
            }
            let (head, body) = response.into_parts();
            let body = gather(body, limit, &Budget::new(MEMORY)).await;
            let body = body.map_err(read_error)?;
            Ok(HttpResponse {
                status,
                headers: head.headers,
                body,
            })
        };
        let exchange = tokio::time::timeout(TIME, exchange).await;
        exchange.unwrap_or(Err(OAuthError::TimedOut))
    }
}

fn request(uri: &Uri, content: Option<Content>) -> Result<Request<Full<Bytes>>, OAuthError> {
    let malformed = |_| OAuthError::Address { what: "endpoint" };
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let mut request = Request::builder()
        .uri(path)
        .header(HOST, host)
        .header(ACCEPT, "application/json");
    let mut body = Bytes::new();
    if let Some(content) = content {
        request = request
            .method(Method::POST)
            .header(CONTENT_TYPE, content.media_type);
        if let Some(value) = content.authorization {
            request = request.header(AUTHORIZATION, value);
        }
        body = content.body;
    }
    request.body(Full::new(body)).map_err(malformed)
}

fn connect_error(error: SendError) -> OAuthError {
    match error {
        SendError::Connect(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            OAuthError::Forbidden
        }
        SendError::Connect(error) if error.kind() == io::ErrorKind::TimedOut => {
            OAuthError::TimedOut
        }
        SendError::Connect(error) => OAuthError::Unreachable(error),
        SendError::Unsent(error) | SendError::Broken(error) => {
            OAuthError::Unreachable(io::Error::other(error))
        }
    }
}

fn read_error(error: ReadError) -> OAuthError {
    match error {
        ReadError::TooLarge => OAuthError::TooLarge,
        error => OAuthError::Unreachable(io::Error::other(error)),
    }
}

impl HttpResponse {
    /// The JSON of a successful response. An error response of OAuth becomes its code.
    pub(crate) fn json<T: DeserializeOwned>(&self, what: &'static str) -> Result<T, OAuthError> {
        if !self.status.is_success() {
            return Err(self.refusal());
        }
        serde_json::from_slice(&self.body).map_err(|_| OAuthError::Malformed { what })
    }

    fn refusal(&self) -> OAuthError {
        #[derive(Deserialize)]
        struct ErrorResponse {
            error: String,
        }
        match serde_json::from_slice::<ErrorResponse>(&self.body) {
            Ok(response) => OAuthError::Refused(RefusalCode::from_name(&response.error)),
            Err(_) => OAuthError::Status(self.status.as_u16()),
        }
    }
}
