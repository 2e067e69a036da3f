//! One request to an address of the operator. Connections are not kept: heads are seconds apart.

use std::sync::Arc;

use bytes::Bytes;
use countersign_dial::{Budget, Pool, Site, SiteError, gather};
use http_body_util::Full;
use hyper::{Method, Request};

use super::Failure;

/// More than any answer here needs.
const MAX_ANSWER: usize = 1 << 16;
pub(super) const TEXT: (&str, &str) = ("content-type", "text/plain; charset=utf-8");

/// Sends text, and is content with any success.
pub(super) async fn send(method: &str, url: &str, text: String) -> Result<(), Failure> {
    let (status, _) = exchange(method, url, text).await?;
    succeeded(status)
}

pub(super) fn succeeded(status: u16) -> Result<(), Failure> {
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
    request(method, site(url, &[TEXT])?, text).await
}

/// An address with headers for every request, which takes any answer.
pub(super) fn site(url: &str, headers: &[(&str, &str)]) -> Result<Site, SiteError> {
    Site::new(url, headers.iter().chain(&[("accept", "*/*")]).copied())
}

/// Sends text to a site; gives the status and the body of the answer.
pub(super) async fn request(
    method: &str,
    site: Site,
    text: String,
) -> Result<(u16, Bytes), Failure> {
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
