//! Where a server is served: one origin, one path, and the headers every request to it carries.
//! Nothing else is ever connected to; a redirect is not followed.

use std::collections::BTreeMap;

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
    pub(super) tls: bool,
    /// Without the brackets of a numeric address.
    pub(super) host: String,
    pub(super) port: u16,
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
        let http::uri::Parts {
            scheme,
            authority,
            path_and_query,
            ..
        } = url.parse::<Uri>()?.into_parts();
        let tls = match scheme.as_ref().map(http::uri::Scheme::as_str) {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(TargetError::Incomplete),
        };
        let authority = authority.ok_or(TargetError::Incomplete)?;
        let host = authority.host();
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let host = bare.unwrap_or(host).to_owned();
        // A port that is no number of a port is not said to be there at all.
        let has_port = authority.as_str() != authority.host();
        if host.is_empty() || (has_port && authority.port_u16().is_none()) {
            return Err(TargetError::Incomplete);
        }
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
            tls,
            host,
            port: authority.port_u16().unwrap_or(if tls { 443 } else { 80 }),
            path: Uri::from(path_and_query.unwrap_or(root)),
            headers: all,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Option<(bool, String, u16, String)> {
        let target = Target::new(url, &BTreeMap::new()).ok()?;
        Some((
            target.tls,
            target.host,
            target.port,
            target.path.to_string(),
        ))
    }

    #[test]
    fn an_address_is_taken_apart() {
        let parts =
            |tls, host: &str, port, path: &str| Some((tls, host.to_owned(), port, path.to_owned()));
        for (url, expected) in [
            (
                "http://a.example/mcp?x=1",
                parts(false, "a.example", 80, "/mcp?x=1"),
            ),
            ("https://a.example", parts(true, "a.example", 443, "/")),
            ("http://[::1]:8080/m", parts(false, "::1", 8080, "/m")),
            ("ftp://a/", None),
            ("http://", None),
            ("http://a:99999/", None),
            ("/mcp", None),
        ] {
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
