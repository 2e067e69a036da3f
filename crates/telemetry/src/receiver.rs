//! The receiver of one signal: an OTLP/HTTP address. One request, one outcome; what is tried again is decided by the caller.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_dial::{Budget, Pool, Reply, Site, SiteError, gather};
use http_body_util::Full;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response};
use tokio::time::timeout;

use crate::options::Options;
use crate::protobuf::{Message, rejected_count};

/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// More is not read of an answer.
const MAX_ANSWER: usize = 64 * 1024;
/// A receiver is not obeyed further than this.
const MAX_RETRY_AFTER: u64 = 60;
const PROTOBUF: HeaderValue = HeaderValue::from_static("application/x-protobuf");

/// Where one signal goes.
#[derive(Debug)]
pub(crate) struct Receiver {
    site: Site,
    pool: Arc<Pool>,
    /// The resource and the scope, which every request begins with.
    resource: Message,
    scope: Message,
}

/// What became of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// It was taken, except so many items.
    Taken { rejected: u64 },
    /// It may be taken later, after this pause at least.
    Later { why: Failure, pause: Duration },
    /// It will never be taken.
    Refused { why: Failure },
}

/// Why a request was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    #[error("no connection, or it broke")]
    Connection,
    #[error("no answer in time")]
    Timeout,
    #[error("HTTP status {0}")]
    Status(u16),
}

impl Receiver {
    pub(crate) fn new(options: &Options, path: &str) -> Result<Self, SiteError> {
        let base = options.endpoint.trim_end_matches('/');
        let headers = options.headers.iter().map(|(name, value)| (name, value));
        let mut site = Site::new(&format!("{base}{path}"), headers)?;
        site.headers.insert(CONTENT_TYPE, PROTOBUF);
        site.headers.insert(ACCEPT, PROTOBUF);
        let mut resource = Message::default();
        for (key, value) in &options.resource {
            let value = crate::protobuf::Value::Text(value);
            resource.attribute(1, key, value);
        }
        let mut scope = Message::default();
        scope.text(1, "countersign");
        scope.text(2, env!("CARGO_PKG_VERSION"));
        Ok(Self {
            pool: Arc::new(Pool::new(site.origin.clone(), 1)),
            site,
            resource,
            scope,
        })
    }

    /// The host that is connected to.
    pub(crate) fn host(&self) -> &str {
        &self.site.origin.host
    }

    /// An export request: the requests of the three signals have the same shape, and items are field 2 of their scope.
    pub(crate) fn request(&self, items: &Message) -> Bytes {
        let mut scope = Message::with_capacity(items.0.len() + 64);
        scope.bytes(1, &self.scope.0);
        scope.0.extend_from_slice(&items.0);
        let mut resource = Message::with_capacity(scope.0.len() + self.resource.0.len() + 32);
        resource.bytes(1, &self.resource.0);
        resource.bytes(2, &scope.0);
        let mut request = Message::with_capacity(resource.0.len() + 8);
        request.bytes(1, &resource.0);
        request.0.into()
    }

    /// Sends a request once.
    pub(crate) async fn send(&self, body: Bytes) -> Delivery {
        let later = |why| Delivery::Later {
            why,
            pause: Duration::ZERO,
        };
        match timeout(TIMEOUT, self.post(body)).await {
            Ok(Some(delivery)) => delivery,
            Ok(None) => later(Failure::Connection),
            Err(_) => later(Failure::Timeout),
        }
    }

    async fn post(&self, body: Bytes) -> Option<Delivery> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.site.path.clone();
        *request.headers_mut() = self.site.headers.clone();
        let response = self.pool.send(request).await;
        let response = response.map_err(|error| tracing::debug!(%error, "an export failed"));
        let response = response.ok()?;
        let status = response.status();
        let why = Failure::Status(status.as_u16());
        Some(match status.as_u16() {
            200..=299 => Delivery::Taken {
                rejected: rejected_count(&read(response.into_body()).await),
            },
            408 | 429 | 502..=504 => Delivery::Later {
                why,
                pause: retry_after(&response),
            },
            _ => Delivery::Refused { why },
        })
    }
}

/// An answer, as far as it can be read; what cannot be read says nothing.
async fn read(mut body: Reply) -> Bytes {
    let answer = gather(&mut body, MAX_ANSWER, &Budget::new(MAX_ANSWER)).await;
    let Ok(answer) = answer else {
        return Bytes::new();
    };
    body.done();
    answer
}

fn retry_after(response: &Response<Reply>) -> Duration {
    let after = response.headers().get(RETRY_AFTER);
    let seconds = after.and_then(|after| after.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(0).min(MAX_RETRY_AFTER))
}
