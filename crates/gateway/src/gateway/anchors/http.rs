//! One request to an address of the operator. Connections are not kept: heads are seconds apart.

use std::sync::Arc;

use bytes::Bytes;
use countersign_dial::{Budget, Pool, Site, gather};
use http_body_util::Full;
use hyper::{Method, Request};

use super::Failure;

/// More than any answer here needs.
const MAX_ANSWER: usize = 1 << 16;
const TEXT: [(&str, &str); 2] = [
    ("content-type", "text/plain; charset=utf-8"),
    ("accept", "*/*"),
];

/// Sends text, and is content with any success.
pub(super) async fn send(method: &str, url: &str, text: String) -> Result<(), Failure> {
    let (status, _) = exchange(method, url, text).await?;
    if (200..300).contains(&status) {
        Ok(())
    } else {
        Err(format!("the answer was {status}").into())
    }
}

/// Sends text; gives the status and the body of the answer.
pub(super) async fn exchange(
    method: &str,
    url: &str,
    text: String,
) -> Result<(u16, Bytes), Failure> {
    let site = Site::new(url, TEXT)?;
    let mut request = Request::new(Full::new(Bytes::from(text)));
    *request.method_mut() = Method::from_bytes(method.as_bytes())?;
    *request.uri_mut() = site.path;
    *request.headers_mut() = site.headers;
    let pool = Arc::new(Pool::new(site.origin, 0));
    let response = pool.send(request).await?;
    let status = response.status().as_u16();
    let mut body = response.into_body();
    let answer = gather(&mut body, MAX_ANSWER, &Budget::new(usize::MAX)).await;
    Ok((status, answer.map_err(|error| format!("{error:?}"))?))
}
