//! Where a server is served: one origin, one path, and the headers every request to it carries.
//! Nothing else is ever connected to; a redirect is not followed.

use std::collections::BTreeMap;

use countersign_dial::Origin;
use hyper::header::{
    ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, InvalidHeaderName,
    InvalidHeaderValue,
};
use hyper::http::uri::{InvalidUri, PathAndQuery};
use hyper::{Uri, http};
use thiserror::Error;

use crate::config::Secret;

/// The address of a server.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(super) origin: Origin,
    pub(super) path: Uri,
    /// What every request says.
    pub(super) headers: HeaderMap,
}

/// Why an address cannot be used.
#[derive(Debug, Error)]
pub(crate) enum TargetError {
    #[error("the address cannot be read")]
    Uri(#[from] InvalidUri),
    #[error("the address has no host, or is neither http nor https")]
    Incomplete,
    #[error("a header has a name that cannot be sent")]
    HeaderName(#[from] InvalidHeaderName),
    #[error("a header has a value that cannot be sent")]
    HeaderValue(#[from] InvalidHeaderValue),
}

impl Target {
    /// Reads an address; `headers` are the configuration's.
    pub(crate) fn new(url: &str, headers: &BTreeMap<String, Secret>) -> Result<Self, TargetError> {
        let uri: Uri = url.parse()?;
        let origin = Origin::of(&uri).ok_or(TargetError::Incomplete)?;
        let http::uri::Parts {
            authority,
            path_and_query,
            ..
        } = uri.into_parts();
        let authority = authority.ok_or(TargetError::Incomplete)?;
        let mut all = HeaderMap::new();
        all.insert(HOST, HeaderValue::from_str(authority.as_str())?);
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let both = "application/json, text/event-stream";
        all.insert(ACCEPT, HeaderValue::from_static(both));
        for (name, value) in headers {
            let mut value = HeaderValue::from_bytes(value.expose().as_bytes())?;
            value.set_sensitive(true);
            all.insert(HeaderName::from_bytes(name.as_bytes())?, value);
        }
        let root = PathAndQuery::from_static("/");
        Ok(Self {
            origin,
            path: Uri::from(path_and_query.unwrap_or(root)),
            headers: all,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let read = |url: &str| {
            let target = Target::new(url, &BTreeMap::new()).ok()?;
            Some((target.origin.port, target.path.to_string()))
        };
        for (url, expected) in [
            ("http://a.example/mcp?x=1", Some((80, "/mcp?x=1"))),
            ("https://a.example", Some((443, "/"))),
            ("http://", None),
            ("ftp://a/", None),
        ] {
            let expected = expected.map(|(port, path)| (port, path.to_owned()));
            assert_eq!(read(url), expected, "{url}");
        }
    }

    #[test]
    fn configured_headers_are_sent_and_not_shown() {
        let secret = "Bearer s3cret";
        let headers = BTreeMap::from([("authorization".to_owned(), Secret::new(secret))]);
        let target = Target::new("http://a:1/", &headers).expect("an address");
        assert_eq!(target.headers["authorization"], secret);
        assert_eq!(target.headers["host"], "a:1");
        assert!(!format!("{target:?}").contains("s3cret"));
    }
}
