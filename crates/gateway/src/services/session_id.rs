//! The id of a legacy session. It carries what a gateway has to know of the session, under a code that only gateways with
//! the same `session_key` can make. So a client goes on after a restart of its gateway, or at another gateway that shares
//! the key. An id is no credential: the caller is identified on every request, and another caller's id is unknown.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use countersign_audit::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use super::NewSession;
use crate::state::Endpoint;

/// What is signed begins with one of these, so that a code for one purpose is none for the other.
const PURPOSE: &[u8] = b"countersign session 1\0";
const STATE_PURPOSE: &[u8] = b"countersign request state 1\0";
/// How a request state that was bound to a caller begins.
const STATE_MARK: &str = "cs1.";
/// Bytes of the code in a bound request state.
const STATE_CODE: usize = 16;
/// Random bytes at the beginning of an id. They come first, because some proxies compare only the first characters.
const NONCE: usize = 16;
/// Longer declarations of a client's capabilities stay with the gateway that heard them.
const MAX_CAPABILITIES: usize = 1024;
/// Longer ids are not ours.
const MAX_LENGTH: usize = 4096;

/// What makes the ids of sessions, and binds request states to callers.
#[derive(Clone)]
pub(crate) struct SessionKey {
    sessions: Hmac<Sha256>,
    states: Hmac<Sha256>,
}

/// The random part of an id, by which a session that has ended is remembered.
pub(super) type Nonce = [u8; NONCE];

/// What an id says about its session.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SessionId {
    pub(super) nonce: Nonce,
    pub(super) claims: Claims,
}

/// The part of an id that can be read. One letter each: an id is sent with every request.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claims {
    /// The session's name in records.
    #[serde(rename = "p")]
    pub(super) public: String,
    /// When a gateway that does not know the session stops taking it over: milliseconds since 1970.
    #[serde(rename = "x")]
    expires: u64,
    /// The name of the caller that the session belongs to. Ids of earlier versions have none, and belong to no caller.
    #[serde(rename = "o", default)]
    pub(super) caller: String,
    #[serde(rename = "c", skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    /// `/` and the server's name, `router` or `direct`; nothing for a pipe.
    #[serde(rename = "e", skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
    #[serde(rename = "a", skip_serializing_if = "Option::is_none")]
    capabilities: Option<String>,
}

impl Claims {
    pub(super) fn new(
        session: &NewSession,
        public: &str,
        now: Timestamp,
        lifetime: Duration,
    ) -> Self {
        let lifetime = u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX);
        let capabilities = session.capabilities.as_ref();
        let capabilities = capabilities.filter(|said| said.len() <= MAX_CAPABILITIES);
        Self {
            public: public.to_owned(),
            expires: now.as_millis().saturating_add(lifetime),
            caller: str::to_owned(&session.caller),
            client: session.client.as_deref().map(str::to_owned),
            endpoint: session.endpoint.as_ref().map(|endpoint| match endpoint {
                Endpoint::Router => "router".to_owned(),
                Endpoint::Direct => "direct".to_owned(),
                Endpoint::Server(name) => format!("/{name}"),
            }),
            capabilities: capabilities.and_then(|said| String::from_utf8(said.to_vec()).ok()),
        }
    }

    /// The session as it began; nothing for an endpoint that this version does not know.
    pub(super) fn session(&self) -> Option<NewSession> {
        let endpoint = match self.endpoint.as_deref()? {
            "router" => Endpoint::Router,
            "direct" => Endpoint::Direct,
            name => Endpoint::Server(name.strip_prefix('/')?.into()),
        };
        Some(NewSession {
            caller: self.caller.as_str().into(),
            client: self.client.as_deref().map(Into::into),
            endpoint: Some(endpoint),
            capabilities: self.capabilities.clone().map(Bytes::from),
        })
    }

    pub(super) fn has_expired(&self, now: Timestamp) -> bool {
        self.expires <= now.as_millis()
    }
}

impl SessionKey {
    /// The key of a configuration, or of a file.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let mac: Hmac<Sha256> = Hmac::new_from_slice(text.as_bytes()).ok()?;
        Some(Self {
            sessions: mac.clone().chain_update(PURPOSE),
            states: mac.chain_update(STATE_PURPOSE),
        })
    }

    /// A request state of a server as only this caller can send it back.
    pub(super) fn bind_state(&self, caller: &str, state: &str) -> String {
        let code = URL_SAFE_NO_PAD.encode(self.state_code(caller, state));
        format!("{STATE_MARK}{code}.{state}")
    }

    /// The server's own request state, if it was bound to this caller.
    pub(super) fn release_state<'a>(&self, caller: &str, bound: &'a str) -> Option<&'a str> {
        let (code, state) = bound.strip_prefix(STATE_MARK)?.split_once('.')?;
        let code = URL_SAFE_NO_PAD.decode(code).ok()?;
        let is_ours: bool = self.state_code(caller, state)[..].ct_eq(&code).into();
        is_ours.then_some(state)
    }

    fn state_code(&self, caller: &str, state: &str) -> [u8; STATE_CODE] {
        let mac = self.states.clone();
        // Names of callers have no NUL.
        let mac = mac.chain_update(caller).chain_update(b"\0");
        let whole: [u8; 32] = mac.chain_update(state).finalize().into_bytes().into();
        let mut code = [0; STATE_CODE];
        code.copy_from_slice(
            whole
                .first_chunk::<STATE_CODE>()
                .unwrap_or(&[0; STATE_CODE]),
        );
        code
    }

    /// The id of a session. `None` if the system gives no randomness.
    pub(super) fn issue(&self, claims: &Claims) -> Option<String> {
        let mut signed = vec![0; NONCE];
        getrandom::fill(&mut signed).ok()?;
        serde_json::to_writer(&mut signed, claims).ok()?;
        let mac = self.sessions.clone().chain_update(&signed);
        let code = mac.finalize().into_bytes();
        let (nonce, claims) = signed.split_at(NONCE);
        let [nonce, claims, code] =
            [nonce, claims, code.as_slice()].map(|part| URL_SAFE_NO_PAD.encode(part));
        Some(format!("{nonce}.{claims}.{code}"))
    }

    /// What an id says, if this key made it.
    pub(super) fn read(&self, id: &str) -> Option<SessionId> {
        let id = Some(id).filter(|id| id.len() <= MAX_LENGTH)?;
        let mut parts = id.splitn(3, '.').map(|part| URL_SAFE_NO_PAD.decode(part));
        let mut part = || parts.next()?.ok();
        let (nonce, claims, code) = (part()?, part()?, part()?);
        let mac = self.sessions.clone();
        let mac = mac.chain_update(&nonce).chain_update(&claims);
        mac.verify_slice(&code).ok()?;
        Some(SessionId {
            nonce: nonce.try_into().ok()?,
            claims: serde_json::from_slice(&claims).ok()?,
        })
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    fn key(text: &str) -> SessionKey {
        SessionKey::new(text).expect("a key")
    }

    fn session(endpoint: Endpoint) -> NewSession {
        NewSession {
            caller: "key:ci".into(),
            client: Some("a \"client\"".into()),
            endpoint: Some(endpoint),
            capabilities: Some(Bytes::from_static(br#"{"sampling":{}}"#)),
        }
    }

    #[test]
    fn an_id_gives_back_what_the_session_began_with() {
        let (key, now) = (key("a key"), Timestamp::from_millis(1_000));
        for endpoint in [
            Endpoint::Router,
            Endpoint::Direct,
            Endpoint::Server("router".into()),
        ] {
            let session = session(endpoint);
            let claims = Claims::new(&session, "a1b2", now, HOUR);
            let id = key.issue(&claims).expect("randomness");
            assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
            let read = key.read(&id).expect("our own");
            assert_eq!(read.claims, claims);
            let again = read.claims.session().expect("an endpoint");
            assert_eq!(format!("{again:?}"), format!("{session:?}"));
            let end = Timestamp::from_millis(1_000 + 3_600_000);
            assert!(!read.claims.has_expired(now) && read.claims.has_expired(end));
        }
    }

    #[test]
    fn an_id_that_was_changed_or_made_with_another_key_is_refused() {
        let key = key("a key");
        let claims = Claims::new(&session(Endpoint::Direct), "a1", Timestamp::now(), HOUR);
        let id = key.issue(&claims).expect("randomness");
        for at in 0..id.len() {
            let mut changed = id.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ASCII");
            assert_eq!(key.read(&changed), None, "{changed}");
        }
        assert_eq!(self::key("another key").read(&id), None);
        // Bytes cannot move from one part to another unless the text of the whole stays, and then the claims do not read.
        for forged in [
            "",
            ".",
            "..",
            "a.b.c",
            &id[1..],
            &format!("{id}."),
            &format!("{id}A"),
        ] {
            assert_eq!(key.read(forged), None, "{forged}");
        }
        assert_eq!(key.read(&"A".repeat(MAX_LENGTH + 1)), None);
    }

    #[test]
    fn a_request_state_is_released_to_its_caller_alone() {
        let key = key("a key");
        for state in ["", "s.t", "cs1.AAAA.x", "\u{1f512} \"quoted\""] {
            let bound = key.bind_state("key:ci", state);
            assert_eq!(key.release_state("key:ci", &bound), Some(state));
            assert_eq!(key.release_state("key:cj", &bound), None);
            assert_eq!(key.release_state("key:ci", &format!("{bound}x")), None);
            assert_eq!(self::key("another").release_state("key:ci", &bound), None);
            assert_eq!(key.release_state("key:ci", state), None, "never bound");
        }
    }

    #[test]
    fn large_capabilities_stay_behind() {
        let mut session = session(Endpoint::Router);
        session.capabilities = Some(Bytes::from(vec![b' '; MAX_CAPABILITIES + 1]));
        let claims = Claims::new(&session, "a1", Timestamp::now(), HOUR);
        assert_eq!(claims.capabilities, None);
        let id = key("k").issue(&claims).expect("randomness");
        assert!(id.len() < 512);
    }
}
