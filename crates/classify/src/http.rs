//! One origin, asked with POST. Connections are kept, answers are bounded, redirects are not followed, and nothing of an
//! answer that is not a success is read.

use std::sync::Arc;

use bytes::Bytes;
use countersign_dial::{Budget, Origin, Pool, ReadError, Reply, gather};
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, Uri, http};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, SetupError};

/// More than any verdict needs.
const MAX_ANSWER: usize = 1 << 20;
const MOST_IDLE: usize = 16;

/// A place to ask.
#[derive(Debug)]
pub(crate) struct Client {
    pool: Arc<Pool>,
    authority: HeaderValue,
    /// What comes before every path, without a slash at its end.
    base: String,
    /// Headers of every request, whose values are keys.
    headers: HeaderMap,
}

impl Client {
    /// A client of an address; the values of `headers` are keys.
    pub(crate) fn new<'a>(
        url: &str,
        headers: impl IntoIterator<Item = (&'a str, String)>,
    ) -> Result<Self, SetupError> {
        let uri: Uri = url.parse().map_err(|_| SetupError::Address)?;
        let origin = Origin::from_uri(&uri).ok_or(SetupError::Address)?;
        let http::uri::Parts {
            authority,
            path_and_query,
            ..
        } = uri.into_parts();
        let authority = authority.ok_or(SetupError::Address)?;
        let base = path_and_query.map_or(String::new(), |path| path.as_str().to_owned());
        Ok(Self {
            pool: Arc::new(Pool::new(origin, MOST_IDLE)),
            authority: HeaderValue::from_str(authority.as_str())
                .map_err(|_| SetupError::Address)?,
            base: base.trim_end_matches('/').to_owned(),
            headers: secrets(headers)?,
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

    /// Asks at a path below the address with a body in JSON, and reads the JSON of a success.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Error> {
        let body = serde_json::to_vec(body).map_err(|_| Error::Internal)?;
        self.post(&self.path(path), HeaderMap::new(), body).await
    }

    /// Asks at a path as [`path`](Self::path) gives it, with more headers, and reads the JSON of a success.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<T, Error> {
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = path.parse().map_err(|_| Error::Internal)?;
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().extend(headers);
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(HOST, self.authority.clone());
        request.headers_mut().insert(CONTENT_TYPE, json);
        let response = self.pool.send(request).await.map_err(|error| {
            tracing::debug!(%error, host = self.pool.origin().host, "a classifier cannot be reached");
            Error::Unreachable
        })?;
        success(&response)?;
        let answer = read(response.into_body()).await?;
        serde_json::from_slice(&answer).map_err(|_| Error::Malformed)
    }
}

/// Headers whose values are keys.
fn secrets<'a>(
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

fn success<B>(response: &Response<B>) -> Result<(), Error> {
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

async fn read(mut body: Reply) -> Result<Bytes, Error> {
    // Answers are small, and as many are under way as the operator allows: none of them waits for memory.
    let memory = Budget::new(usize::MAX);
    let whole = gather(&mut body, MAX_ANSWER, &memory).await;
    let whole = whole.map_err(|error| match error {
        ReadError::TooLarge => Error::TooLarge,
        ReadError::Broken | ReadError::Busy => Error::Unreachable,
    })?;
    body.done();
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let client = Client::new("https://a.example/base/", []).unwrap();
        assert_eq!((client.pool.origin().port, &*client.base), (443, "/base"));
        assert_eq!(client.path("/x?y=1"), "/base/x?y=1");
        let client = Client::new("http://[::1]:81", []).unwrap();
        let origin = client.pool.origin();
        assert_eq!((&*origin.host, origin.port), ("::1", 81));
        assert_eq!(client.path(""), "/");
        for url in ["ftp://a", "a.example", "http://", "http://a:99999/"] {
            assert!(Client::new(url, []).is_err(), "{url}");
        }
    }
}
