//! One MCP endpoint over HTTP: its origin, its path, and the headers of every request. Requests go to this
//! endpoint only. Header values are never shown, because they may be secrets.

use std::time::Duration;

use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::{InvalidUri, PathAndQuery};
use hyper::{Uri, http};
use thiserror::Error;

use crate::connection::CONNECT;
use crate::origin::Origin;

/// Where a server is served, and what every request to it says.
#[derive(Clone, Debug)]
pub struct Site {
    /// What is connected to.
    pub origin: Origin,
    /// What is asked for there: a path and perhaps a query.
    pub path: Uri,
    /// What every request says.
    pub headers: HeaderMap,
    /// How long connecting may take, TLS included.
    pub connect_timeout: Duration,
}

/// Why an address cannot be used.
#[derive(Debug, Error)]
pub enum SiteError {
    /// It cannot be read.
    #[error("the address cannot be read")]
    Uri(#[from] InvalidUri),
    /// It lacks a host, or is neither http nor https.
    #[error("the address has no host, or is neither http nor https")]
    Incomplete,
    /// A header cannot be sent.
    #[error("the header {name:?} has a name or value that cannot be sent")]
    Header {
        /// The header's name.
        name: String,
    },
}

impl Site {
    /// Reads an address that needs no headers of its own.
    pub fn parse(url: &str) -> Result<Self, SiteError> {
        Self::new(url, [("", ""); 0])
    }

    /// Reads an address; `headers` go out with every request.
    pub fn new(
        url: &str,
        headers: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
    ) -> Result<Self, SiteError> {
        let uri: Uri = url.parse()?;
        let origin = Origin::from_uri(&uri).ok_or(SiteError::Incomplete)?;
        let http::uri::Parts {
            authority,
            path_and_query,
            ..
        } = uri.into_parts();
        let authority = authority.ok_or(SiteError::Incomplete)?;
        let host = HeaderValue::from_str(authority.as_str());
        let both = "application/json, text/event-stream";
        let mut all = HeaderMap::new();
        all.insert(HOST, host.map_err(|_| SiteError::Incomplete)?);
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        all.insert(ACCEPT, HeaderValue::from_static(both));
        for (name, value) in headers {
            let (name, value) = header(name.as_ref(), value.as_ref())?;
            all.insert(name, value);
        }
        let root = PathAndQuery::from_static("/");
        Ok(Self {
            origin,
            path: Uri::from(path_and_query.unwrap_or(root)),
            headers: all,
            connect_timeout: CONNECT,
        })
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), SiteError> {
    let read = (
        HeaderName::from_bytes(name.as_bytes()),
        HeaderValue::from_bytes(value.as_bytes()),
    );
    let (Ok(key), Ok(mut value)) = read else {
        let name = name.to_owned();
        return Err(SiteError::Header { name });
    };
    value.set_sensitive(true);
    Ok((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let read = |url: &str| {
            let Site { origin, path, .. } = Site::parse(url).ok()?;
            let Origin { host, port, tls } = origin;
            Some(format!("{tls} {host} {port} {path}"))
        };
        for (url, expected) in [
            (
                "http://a.example/mcp?x=1",
                Some("false a.example 80 /mcp?x=1"),
            ),
            ("https://a.example", Some("true a.example 443 /")),
            ("http://[::1]:8080/m", Some("false ::1 8080 /m")),
            ("http://", None),
            ("ftp://a/", None),
            ("http://a:99999/", None),
            ("/mcp", None),
        ] {
            assert_eq!(read(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn headers_are_sent_and_not_shown() {
        let site = Site::new("http://a:1/", [("authorization", "Bearer s3cret")]);
        let site = site.expect("an address");
        assert_eq!(site.headers["authorization"], "Bearer s3cret");
        assert_eq!(site.headers["host"], "a:1");
        assert!(!format!("{site:?}").contains("s3cret"));
        for (name, value) in [("a b", "x"), ("a", "x\ny")] {
            let refused = Site::new("http://a/", [(name, value)]);
            assert!(matches!(refused, Err(SiteError::Header { name: it }) if it == name));
        }
    }
}
