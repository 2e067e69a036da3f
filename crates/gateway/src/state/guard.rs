//! Decides which requests are let in: by the caller's key, and by a `Host` and an `Origin` that are the gateway's. The hosts
//! are checked even without a key, because a page in the user's browser can reach a loopback port too, under a name of its
//! own choosing.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};

use countersign_config::{CallerCredential, Config};
use countersign_login::{ANONYMOUS, Caller, Right, Rights, secret_digest};
use countersign_token::Refusal;

/// What is checked on every request.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// The callers that have a key, by its digest. How long a search takes may tell of digests, never of keys.
    keys: HashMap<KeyDigest, Arc<Caller>>,
    /// The callers that have a certificate, by the name in it, with what a revocation names.
    certificates: HashMap<String, (KeyDigest, Arc<Caller>)>,
    /// The caller of MCP without a credential, if `/mcp` is open.
    anonymous: Option<Arc<Caller>>,
    /// Whether a key that is not known is as good as none where MCP is open: so it is as long as no callers are named.
    takes_unknown_keys: bool,
    /// The user that the gateway runs as. Its processes may come by a Unix socket without a key, and need one to change
    /// something: the servers that the gateway starts are among them.
    owner: (u32, Arc<Caller>),
    hosts: Vec<String>,
}

/// What the names of callers with a key begin with.
const KEY: &str = "key:";
/// What the names of callers with a certificate begin with.
const CERTIFICATE: &str = "cert:";

/// The SHA-256 of a key. A key is long and random, so that it needs no slow hash.
type KeyDigest = [u8; 32];

/// Why a request is refused before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessRefusal {
    /// No key, or a wrong one.
    Key,
    /// A key that has ended.
    Expired,
    /// More than one credential, so that it is not known which one others on the way have read.
    TwoCredentials,
    /// The caller lacks this right.
    Right(Right),
    /// A token that is not accepted.
    Token(Refusal),
    /// A token without the scopes that MCP needs.
    Scope,
    /// A token in the address.
    TokenInQuery,
    /// A token whose issuer is out of reach, so that it can be neither accepted nor refused.
    IssuerUnreachable,
    /// More than one `Host`, so that it is not known which one others on the way have read.
    TwoHosts,
    /// This header names a foreign host.
    Foreign(&'static str),
}

/// The words for the reasons of refusals, in metrics.
pub(crate) const REFUSAL_REASONS: [&str; 9] = [
    "credential",
    "expired",
    "two_credentials",
    "right",
    "scope",
    "token_in_query",
    "issuer_unreachable",
    "two_hosts",
    "foreign",
];

impl AccessRefusal {
    /// The word for it in metrics: one of [`REFUSAL_REASONS`].
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Key | Self::Token(_) => "credential",
            Self::Expired => "expired",
            Self::TwoCredentials => "two_credentials",
            Self::Right(_) => "right",
            Self::Scope => "scope",
            Self::TokenInQuery => "token_in_query",
            Self::IssuerUnreachable => "issuer_unreachable",
            Self::TwoHosts => "two_hosts",
            Self::Foreign(_) => "foreign",
        }
    }

    /// Whether an operator should hear of it: a page in a browser, or a client that gives tokens away, is behind it.
    pub(crate) fn is_suspicious(self) -> bool {
        matches!(self, Self::TokenInQuery | Self::TwoHosts | Self::Foreign(_))
    }

    /// One sentence for a person.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::Key | Self::Token(_) => "without a credential, or with one that is not accepted",
            Self::Expired => "with a credential that has ended",
            Self::TwoCredentials => "with more than one credential",
            Self::Right(_) => "of a caller without the right to it",
            Self::Scope => "with a token without the scopes that MCP needs",
            Self::TokenInQuery => "with a token in the address",
            Self::IssuerUnreachable => "with a token whose issuer is out of reach",
            Self::TwoHosts => "with more than one Host",
            Self::Foreign(_) => "from a foreign host",
        }
    }
}

impl Guard {
    /// `before`: the guard in force. A caller whose key stays as it is stays the same one, so that its streams go on.
    pub(crate) fn new(
        config: &Config,
        (api_key, admin_key): (&str, &str),
        before: Option<&Self>,
    ) -> Self {
        let mut hosts = vec![
            "localhost".to_owned(),
            "127.0.0.1".to_owned(),
            "[::1]".to_owned(),
        ];
        let ours = config.listen.tcp().map(|address| address.ip());
        hosts.extend(ours.filter(|ip| !ip.is_unspecified()).map(|ip| match ip {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        }));
        hosts.extend(config.trusted_hosts.iter().cloned());
        hosts.extend(config.public_host().map(str::to_owned));
        let is_open = !config.require_mcp_auth;
        let mut guard = Self {
            keys: keys(config, api_key, admin_key),
            certificates: certificates(config),
            anonymous: is_open.then(|| Arc::new(Caller::anonymous())),
            takes_unknown_keys: is_open && config.callers.is_empty(),
            owner: owner(),
            hosts,
        };
        if let Some(before) = before {
            guard.keep_callers_of(before);
        }
        guard
    }

    /// The caller that a process of this user is, if it comes by a Unix socket.
    pub(crate) fn find_user(&self, uid: u32) -> Option<&Arc<Caller>> {
        let (owner, caller) = &self.owner;
        (*owner == uid).then_some(caller)
    }

    /// The caller whose certificate has one of these names.
    pub(crate) fn find_certificate(&self, names: &[String]) -> Option<&Arc<Caller>> {
        let found = names.iter().find_map(|name| self.certificates.get(name));
        found.map(|(_, caller)| caller)
    }

    /// The caller with this key.
    pub(crate) fn find_key(&self, key: &[u8]) -> Option<&Arc<Caller>> {
        self.find_digest(&secret_digest(key))
    }

    /// The caller with the key of this SHA-256.
    pub(crate) fn find_digest(&self, key: &KeyDigest) -> Option<&Arc<Caller>> {
        self.keys.get(key)
    }

    /// The caller of a request for MCP that shows no credential; nothing if it needs one.
    pub(crate) fn anonymous(&self) -> Option<&Arc<Caller>> {
        self.anonymous.as_ref()
    }

    /// The same for one that shows a key that is not known.
    pub(crate) fn unknown_key(&self) -> Option<&Arc<Caller>> {
        self.anonymous().filter(|_| self.takes_unknown_keys)
    }

    /// Whether a caller that was let in still is. Callers that are not made here are asked about elsewhere.
    pub(crate) fn still_admits(&self, caller: &Arc<Caller>) -> bool {
        !is_made_here(&caller.name) || self.known().any(|known| Arc::ptr_eq(known, caller))
    }

    /// Whether there is a caller of this name; nothing if callers of such a name are not made here.
    pub(crate) fn knows(&self, name: &str) -> Option<bool> {
        if !is_made_here(name) {
            return (*self.owner.1.name == *name).then_some(true);
        }
        Some(self.known().any(|known| *known.name == *name))
    }

    /// The callers whose key or certificate is one of these.
    pub(crate) fn callers_of(
        &self,
        revoked: &HashSet<KeyDigest>,
    ) -> impl Iterator<Item = &Arc<Caller>> {
        let keys = revoked.iter().filter_map(|key| self.keys.get(key));
        let certificates = self.certificates.values();
        let certificates = certificates.filter(|(digest, _)| revoked.contains(digest));
        keys.chain(certificates.map(|(_, caller)| caller))
    }

    /// The same guard without these keys and certificates. The other callers stay the same ones.
    pub(crate) fn without_revoked(&self, revoked: &HashSet<KeyDigest>) -> Self {
        let mut guard = self.clone();
        guard.keys.retain(|key, _| !revoked.contains(key));
        let certificates = &mut guard.certificates;
        certificates.retain(|_, (digest, _)| !revoked.contains(digest));
        guard
    }

    /// The callers that are made here.
    fn known(&self) -> impl Iterator<Item = &Arc<Caller>> {
        let certificates = self.certificates.values().map(|(_, caller)| caller);
        let named = self.keys.values().chain(certificates);
        named.chain(&self.anonymous)
    }

    fn keep_callers_of(&mut self, before: &Self) {
        let is_same = |old: &Arc<Caller>, new: &Arc<Caller>| **old == **new;
        for (digest, caller) in &mut self.keys {
            let old = before.keys.get(digest);
            if let Some(old) = old.filter(|old| is_same(old, caller)) {
                *caller = Arc::clone(old);
            }
        }
        for (name, (_, caller)) in &mut self.certificates {
            let old = before.certificates.get(name).map(|(_, old)| old);
            if let Some(old) = old.filter(|old| is_same(old, caller)) {
                *caller = Arc::clone(old);
            }
        }
        if let (Some(caller), Some(old)) = (&mut self.anonymous, &before.anonymous) {
            *caller = Arc::clone(old);
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

/// Whether a caller of this name is one of the guard's.
fn is_made_here(name: &str) -> bool {
    name.starts_with(KEY) || name.starts_with(CERTIFICATE) || name == ANONYMOUS
}

/// The callers with a certificate.
fn certificates(config: &Config) -> HashMap<String, (KeyDigest, Arc<Caller>)> {
    let named = config.callers.iter().filter_map(|caller| {
        let name = caller.credential.certificate_name()?;
        let digest = caller.revocation_digest();
        Some((name, (digest, Arc::new(Caller::named(caller)))))
    });
    named.collect()
}

fn owner() -> (u32, Arc<Caller>) {
    let uid = rustix::process::geteuid().as_raw();
    let caller = Caller::new(format!("local:{uid}"), Rights::CLIENT);
    (uid, Arc::new(caller))
}

/// The callers with a key: those that the file names, and the two that every gateway has.
fn keys(config: &Config, api_key: &str, admin_key: &str) -> HashMap<KeyDigest, Arc<Caller>> {
    let named = config.callers.iter().filter_map(|caller| {
        let CallerCredential::Key(digest) = &caller.credential else {
            return None;
        };
        Some((*digest, Arc::new(Caller::named(caller))))
    });
    let own = [
        (api_key, Caller::new("key:client", Rights::CLIENT)),
        (admin_key, Caller::new("key:operator", Rights::ALL)),
    ];
    let own = own.map(|(key, caller)| (secret_digest(key.as_bytes()), Arc::new(caller)));
    named.chain(own).collect()
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
        Guard::new(&config, ("the key", "the admin key"), None)
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
    fn a_key_names_its_caller() {
        let guard = guard();
        let name = |key: &str| guard.find_key(key.as_bytes()).map(|caller| &*caller.name);
        assert_eq!(name("the key"), Some("key:client"));
        assert_eq!(name("the admin key"), Some("key:operator"));
        for wrong in ["", "the", "the key "] {
            assert_eq!(name(wrong), None);
        }
        assert!(guard.anonymous().is_none());
    }
}
