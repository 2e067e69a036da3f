//! The door: who sends a request. Every caller that comes by HTTP is made here, from the credential in the headers or,
//! without one, from what its connection has shown.

mod tokens;

use std::sync::Arc;

use countersign_audit::Timestamp;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, Response};

use crate::http::{Peer, turned_away};
use crate::path::reply::Body;
use crate::services::Runtime;
use crate::state::guard::AccessRefusal;
use crate::state::{Caller, Guard, Right, TokenRules};

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// A credential, as a request shows it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Credential<'a> {
    /// Of `X-API-Key`.
    ApiKey(&'a [u8]),
    /// Of `Authorization: Bearer`.
    Bearer(&'a [u8]),
}

impl<'a> Credential<'a> {
    /// The one credential of a request, if it has any. Another scheme than `Bearer` is meant for others on the way.
    pub(super) fn find(headers: &'a HeaderMap) -> Result<Option<Self>, AccessRefusal> {
        let key = only(headers, &API_KEY)?.map(HeaderValue::as_bytes);
        let bearer = only(headers, &AUTHORIZATION)?.and_then(|value| bearer(value.as_bytes()));
        match (key, bearer) {
            (Some(key), Some(bearer)) if key != bearer => Err(AccessRefusal::TwoCredentials),
            (Some(key), _) => Ok(Some(Self::ApiKey(key))),
            (None, Some(bearer)) => Ok(Some(Self::Bearer(bearer))),
            (None, None) => Ok(None),
        }
    }

    fn as_bytes(self) -> &'a [u8] {
        match self {
            Self::ApiKey(bytes) | Self::Bearer(bytes) => bytes,
        }
    }
}

/// The one value of a header, if it is there.
fn only<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a HeaderValue>, AccessRefusal> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    match values.next() {
        Some(_) => Err(AccessRefusal::TwoCredentials),
        None => Ok(first),
    }
}

fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked(7)?;
    let is_bearer = scheme.eq_ignore_ascii_case(b"bearer ");
    is_bearer.then(|| token.trim_ascii())
}

/// Who sends a request that needs a right. Comes before the path is looked up: a caller without the right must not learn
/// which servers there are.
pub(super) async fn identify(
    runtime: &Runtime,
    (guard, rules): (&Guard, Option<&TokenRules>),
    need: Right,
    (peer, request): (&Peer, &Request<Incoming>),
) -> Result<Arc<Caller>, AccessRefusal> {
    if rules.is_some() {
        tokens::refuse_in_query(request.uri())?;
    }
    let caller = match (Credential::find(request.headers())?, rules) {
        (Some(Credential::Bearer(token)), Some(rules)) if guard.find_key(token).is_none() => {
            let path = request.uri().path();
            // Boxed: a request with a key would carry the room for it.
            Box::pin(tokens::verify(&runtime.services, rules, path, token)).await?
        }
        (Some(credential), _) => Arc::clone(with_key(guard, need, credential)?),
        (None, _) => {
            let shown = shown(guard, peer)?;
            Arc::clone(shown.map_or_else(|| open_to(guard, need), Ok)?)
        }
    };
    if caller.rights.has(need) {
        Ok(caller)
    } else {
        Err(tokens::without_right(&caller, need))
    }
}

/// The answer to a request that is not let in, which is counted, and recorded once per reason and minute.
pub(super) fn refuse(runtime: &Runtime, refused: AccessRefusal) -> Response<Body> {
    let services = &runtime.services;
    services.count_refusal(refused);
    turned_away(&services.events, refused)
}

/// The caller with a key.
fn with_key<'a>(
    guard: &'a Guard,
    need: Right,
    credential: Credential<'_>,
) -> Result<&'a Arc<Caller>, AccessRefusal> {
    match guard.find_key(credential.as_bytes()) {
        Some(caller) if has_expired(caller) => Err(AccessRefusal::Expired),
        Some(caller) => Ok(caller),
        None => {
            let open = guard.unknown_key().filter(|_| need == Right::Call);
            open.ok_or(AccessRefusal::Key)
        }
    }
}

/// The clock is asked only about keys that end.
fn has_expired(caller: &Caller) -> bool {
    caller.expires.is_some() && caller.has_expired(Timestamp::now())
}

/// The caller that a connection has shown: by a certificate whose name is listed, or the gateway's own user by a Unix
/// socket.
fn shown<'a>(guard: &'a Guard, peer: &Peer) -> Result<Option<&'a Arc<Caller>>, AccessRefusal> {
    let caller = match peer {
        Peer::Local(uid) => guard.find_user(*uid),
        Peer::Certificate(names) => guard.find_certificate(names),
        Peer::Network => None,
    };
    match caller {
        Some(caller) if has_expired(caller) => Err(AccessRefusal::Expired),
        caller => Ok(caller),
    }
}

/// The caller of a request that needs no credential.
fn open_to(guard: &Guard, need: Right) -> Result<&Arc<Caller>, AccessRefusal> {
    let open = guard.anonymous().filter(|_| need == Right::Call);
    open.ok_or(AccessRefusal::Key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pairs: &[(&'static str, &str)]) -> Result<Option<String>, AccessRefusal> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let value = HeaderValue::from_str(value).expect("a header value");
            headers.append(HeaderName::from_static(name), value);
        }
        let text = |credential: Credential<'_>| {
            String::from_utf8_lossy(credential.as_bytes()).into_owned()
        };
        Credential::find(&headers).map(|found| found.map(text))
    }

    #[test]
    fn a_credential_comes_in_either_header() {
        let key = Ok(Some("k".to_owned()));
        assert_eq!(found(&[("x-api-key", "k")]), key);
        assert_eq!(found(&[("authorization", "bearer  k ")]), key);
        assert_eq!(
            found(&[("authorization", "Bearer k"), ("x-api-key", "k")]),
            key
        );
        assert_eq!(
            found(&[("authorization", "Basic x"), ("x-api-key", "k")]),
            key
        );
        for none in ["Basic x", "Bearer", ""] {
            assert_eq!(found(&[("authorization", none)]), Ok(None));
        }
    }

    #[test]
    fn two_credentials_are_refused() {
        for two in [
            [("authorization", "Bearer a"), ("x-api-key", "b")],
            [("authorization", "Bearer a"), ("authorization", "Bearer a")],
            [("authorization", "Basic a"), ("authorization", "Bearer a")],
            [("x-api-key", "a"), ("x-api-key", "a")],
        ] {
            assert_eq!(found(&two), Err(AccessRefusal::TwoCredentials), "{two:?}");
        }
    }
}
