//! Decides which requests are let in, and which of them may change something: by the key, and by a `Host` and an `Origin`
//! that are the gateway's. The hosts are checked even without a key, because a page in the user's browser can reach a
//! loopback port too, under a name of its own choosing.

use std::net::IpAddr;

use hyper::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use hyper::{HeaderMap, Method};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use countersign_config::Config;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// What is checked on every request.
#[derive(Debug)]
pub(crate) struct Guard {
    /// The clients' key. Both keys are hashed, so that a comparison takes the same time for every value.
    api_key: [u8; 32],
    /// The admin key.
    admin_key: [u8; 32],
    /// Whether `/mcp` needs the key.
    mcp_needs_key: bool,
    hosts: Vec<String>,
}

/// What the key of a request opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// MCP, and everything that only reads.
    Client,
    /// Everything.
    Admin,
}

/// Why a request is refused before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessRefusal {
    /// No key, or a wrong one.
    Key,
    /// The clients' key, where the admin key is needed.
    NotAdmin,
    /// More than one `Host`, so that it is not known which one others on the way have read.
    TwoHosts,
    /// This header names a foreign host.
    Foreign(&'static str),
}

impl Guard {
    pub(crate) fn new(config: &Config, api_key: &str, admin_key: &str) -> Self {
        let mut hosts = vec![
            "localhost".to_owned(),
            "127.0.0.1".to_owned(),
            "[::1]".to_owned(),
        ];
        if !config.listen.ip().is_unspecified() {
            hosts.push(match config.listen.ip() {
                IpAddr::V4(ip) => ip.to_string(),
                IpAddr::V6(ip) => format!("[{ip}]"),
            });
        }
        hosts.extend(config.trusted_hosts.iter().cloned());
        Self {
            api_key: Sha256::digest(api_key).into(),
            admin_key: Sha256::digest(admin_key).into(),
            mcp_needs_key: config.require_mcp_auth,
            hosts,
        }
    }

    /// Checks where a request claims to go and to come from.
    pub(crate) fn check_hosts(&self, headers: &HeaderMap) -> Result<(), AccessRefusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        if hosts.next().is_some() {
            return Err(AccessRefusal::TwoHosts);
        }
        if !host.is_some_and(|host| self.is_allowed(host)) {
            return Err(AccessRefusal::Foreign("Host"));
        }
        for origin in headers.get_all(ORIGIN) {
            let host = origin.to_str().ok().and_then(|origin| {
                let (scheme, host) = origin.split_once("://")?;
                matches!(scheme, "http" | "https").then_some(host)
            });
            if !host.is_some_and(|host| self.is_allowed(host)) {
                return Err(AccessRefusal::Foreign("Origin"));
            }
        }
        Ok(())
    }

    /// Checks the key of a request for `/mcp`.
    pub(crate) fn check_mcp(&self, headers: &HeaderMap) -> Result<(), AccessRefusal> {
        if self.mcp_needs_key {
            self.check_key(headers).map(drop)
        } else {
            Ok(())
        }
    }

    /// Checks the key of a request for the REST interface: every method but `GET` may change something.
    pub(crate) fn check_api(
        &self,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<(), AccessRefusal> {
        match self.check_key(headers)? {
            Access::Client if method != Method::GET => Err(AccessRefusal::NotAdmin),
            Access::Client | Access::Admin => Ok(()),
        }
    }

    /// Checks the key, and says what it opens.
    pub(crate) fn check_key(&self, headers: &HeaderMap) -> Result<Access, AccessRefusal> {
        let given = headers
            .get(API_KEY)
            .map(hyper::header::HeaderValue::as_bytes);
        let bearer = || {
            let value = headers.get(AUTHORIZATION)?.as_bytes();
            let (scheme, token) = value.split_at_checked(7)?;
            scheme
                .eq_ignore_ascii_case(b"bearer ")
                .then(|| token.trim_ascii())
        };
        let given = given.or_else(bearer).ok_or(AccessRefusal::Key)?;
        let given: [u8; 32] = Sha256::digest(given).into();
        // Both are compared, in a time that does not depend on them.
        let [is_api_key, is_admin_key] =
            [&self.api_key, &self.admin_key].map(|key| bool::from(key.ct_eq(&given)));
        match (is_admin_key, is_api_key) {
            (true, _) => Ok(Access::Admin),
            (false, true) => Ok(Access::Client),
            (false, false) => Err(AccessRefusal::Key),
        }
    }

    /// A trusted host may be given with or without a port; without one, any port will do.
    fn is_allowed(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
                name
            }
            _ => host,
        };
        let is_it =
            |ours: &String| ours.eq_ignore_ascii_case(host) || ours.eq_ignore_ascii_case(name);
        self.hosts.iter().any(is_it)
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            let name: HeaderName = name.parse().expect("a header name");
            (name, HeaderValue::from_str(value).expect("a header value"))
        };
        pairs.iter().map(pair).collect()
    }

    fn guard() -> Guard {
        let mut config = Config::embedded(&countersign_config::Environment::empty());
        config.trusted_hosts = vec![
            "gateway.example".to_owned(),
            "other.example:8443".to_owned(),
        ];
        Guard::new(&config, "the key", "the admin key")
    }

    #[test]
    fn hosts_and_origins_must_be_ours() {
        let guard = guard();
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:8080",
            "[::1]:80",
            "gateway.example:9",
            "other.example:8443",
        ] {
            assert_eq!(
                guard.check_hosts(&headers(&[("host", host)])),
                Ok(()),
                "{host}"
            );
        }
        for host in [
            "",
            "evil.example",
            "127.0.0.1.evil.example",
            "other.example",
            "localhost:x",
            "0.0.0.0",
        ] {
            let refused = Err(AccessRefusal::Foreign("Host"));
            assert_eq!(
                guard.check_hosts(&headers(&[("host", host)])),
                refused,
                "{host}"
            );
        }
        assert!(guard.check_hosts(&headers(&[])).is_err());
        let mut two = headers(&[("host", "localhost")]);
        two.append(HOST, HeaderValue::from_static("localhost"));
        assert_eq!(guard.check_hosts(&two), Err(AccessRefusal::TwoHosts));
        let origin =
            |origin| guard.check_hosts(&headers(&[("host", "localhost"), ("origin", origin)]));
        assert_eq!(origin("http://localhost:3000"), Ok(()));
        assert_eq!(origin("https://gateway.example"), Ok(()));
        for foreign in [
            "null",
            "https://evil.example",
            "file://localhost",
            "localhost",
            "http://localhost/",
        ] {
            assert_eq!(
                origin(foreign),
                Err(AccessRefusal::Foreign("Origin")),
                "{foreign}"
            );
        }
    }

    #[test]
    fn the_key_comes_in_either_header() {
        let guard = guard();
        assert_eq!(
            guard.check_key(&headers(&[("x-api-key", "the key")])),
            Ok(Access::Client)
        );
        assert_eq!(
            guard.check_key(&headers(&[("authorization", "bearer the admin key")])),
            Ok(Access::Admin)
        );
        for wrong in [
            ("x-api-key", "the"),
            ("x-api-key", ""),
            ("authorization", "Basic dGhl"),
            ("authorization", "Bearer"),
        ] {
            assert_eq!(guard.check_key(&headers(&[wrong])), Err(AccessRefusal::Key));
        }
        assert_eq!(guard.check_mcp(&headers(&[])), Err(AccessRefusal::Key));
    }

    #[test]
    fn only_the_admin_key_changes_something() {
        let guard = guard();
        let client = headers(&[("x-api-key", "the key")]);
        let admin = headers(&[("x-api-key", "the admin key")]);
        assert_eq!(guard.check_api(&Method::GET, &client), Ok(()));
        assert_eq!(guard.check_api(&Method::GET, &admin), Ok(()));
        for method in [Method::POST, Method::PATCH, Method::PUT, Method::DELETE] {
            let refused = guard.check_api(&method, &client);
            assert_eq!(refused, Err(AccessRefusal::NotAdmin), "{method}");
            assert_eq!(guard.check_api(&method, &admin), Ok(()), "{method}");
            let stranger = guard.check_api(&method, &headers(&[]));
            assert_eq!(stranger, Err(AccessRefusal::Key), "{method}");
        }
        assert_eq!(guard.check_mcp(&admin), Ok(()));
    }
}
