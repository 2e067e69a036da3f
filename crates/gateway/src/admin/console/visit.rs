//! One request of a person who is signed in: who it is, and under which snapshot the page is made.

use std::sync::Arc;

use countersign_audit::Timestamp;
use countersign_console::{Frame, Nav, Notice, Role, Text};
use hyper::body::Incoming;
use hyper::header::COOKIE;
use hyper::{HeaderMap, Request};

use crate::config_change::{AppliedConfig, ConfigRefusal, ReloadRequest};
use crate::services::{ConsoleSession, Runtime, Services, SessionCredential, TokenRefusal};
use crate::state::{Admission, Caller, Right, Snapshot, State};

/// The cookie that holds a session's id.
pub(super) const SESSION_COOKIE: &str = "countersign_console";

/// A request within a session.
pub(super) struct Visit<'a> {
    state: &'a Arc<State>,
    pub(super) services: &'a Arc<Services>,
    pub(super) snapshot: &'a Snapshot,
    pub(super) session: Arc<ConsoleSession>,
    pub(super) role: Role,
    /// The caller whose key or token opened the session.
    pub(super) caller: Arc<Caller>,
    /// The parameters of the page, without those that have no value.
    pub(super) parameters: Vec<(String, String)>,
    pub(super) now: Timestamp,
}

/// Why a request is not within a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoVisit {
    /// There is no session, or what opened it does not open the console any more.
    SignedOut,
    /// The issuer has to be asked about the token of the session, and is out of reach.
    IssuerUnreachable,
}

impl<'a> Visit<'a> {
    /// The visit of a request with the cookie of a session whose key or token still opens the console.
    pub(super) async fn find(
        runtime: &'a Runtime,
        snapshot: &'a Snapshot,
        request: &Request<Incoming>,
    ) -> Result<Self, NoVisit> {
        let services = &runtime.services;
        let sessions = &services.console_sessions;
        let id = session_id(request.headers()).ok_or(NoVisit::SignedOut)?;
        let session = sessions.find(id).ok_or(NoVisit::SignedOut)?;
        let opened = caller_of(services, snapshot, &session.credential).await;
        let opened = opened.and_then(|caller| {
            let role = role(&caller).ok_or(NoVisit::SignedOut)?;
            Ok((role, caller))
        });
        if opened == Err(NoVisit::SignedOut) {
            sessions.end(id);
        }
        let (role, caller) = opened?;
        let query = request.uri().query().unwrap_or_default();
        let parameters = super::super::pairs(query);
        Ok(Self {
            state: &runtime.state,
            services,
            snapshot,
            session,
            role,
            caller,
            parameters: parameters.filter(|(_, value)| !value.is_empty()).collect(),
            now: Timestamp::now(),
        })
    }

    /// What is around a page. `events`: after which events it looks again.
    pub(super) fn frame(&self, nav: Nav, events: Option<String>) -> Frame {
        let notice = self.session.take_told().map(|(is_bad, text)| Notice {
            is_bad,
            text: Text::new(text),
        });
        Frame {
            nav,
            role: self.role,
            who: Text::new(&*self.caller.name),
            csrf: self.session.csrf.clone(),
            events,
            notice,
        }
    }

    /// For how long a stream of the caller goes on.
    pub(super) fn admission(&self) -> Admission {
        Admission::new(self.state, &self.caller)
    }

    /// Whether changes are allowed.
    pub(super) fn is_operator(&self) -> bool {
        self.role == Role::Operator
    }

    /// Asks for a change of the configuration, in the name of the caller.
    pub(super) async fn request(
        &self,
        request: ReloadRequest,
    ) -> Result<AppliedConfig, ConfigRefusal> {
        let reloads = &self.services.reloads;
        let who = self.caller.name.to_string();
        reloads.request_by(request, Some(who)).await
    }

    /// A parameter of the page; nothing if it is not there.
    pub(super) fn parameter(&self, name: &str) -> &str {
        super::field(&self.parameters, name)
    }
}

/// The caller whose key or token this is, as a request over REST with it would have it.
async fn caller_of(
    services: &Services,
    snapshot: &Snapshot,
    credential: &SessionCredential,
) -> Result<Arc<Caller>, NoVisit> {
    let (name, token) = match credential {
        SessionCredential::Key(key) => {
            return caller_of_key(snapshot, key).ok_or(NoVisit::SignedOut);
        }
        SessionCredential::Token { caller, token } => (caller, token.expose()),
    };
    let rules = snapshot.settings.tokens.as_ref();
    let rules = rules.ok_or(NoVisit::SignedOut)?;
    let resource = rules.resource("/console");
    let verified = services.issuers.verify(rules, token, &resource).await;
    let verified = verified.map_err(|refused| match refused {
        TokenRefusal::Invalid(_) => NoVisit::SignedOut,
        TokenRefusal::Unreachable => NoVisit::IssuerUnreachable,
    })?;
    let caller = Arc::new(rules.caller(&verified));
    // A session belongs to one caller, whatever an issuer is called now.
    if caller.name == *name {
        Ok(caller)
    } else {
        Err(NoVisit::SignedOut)
    }
}

/// The caller with the key of this digest, if the key has not ended.
pub(super) fn caller_of_key(snapshot: &Snapshot, key: &[u8; 32]) -> Option<Arc<Caller>> {
    let guard = snapshot.settings.guard.as_ref()?;
    let caller = guard.find_digest(key)?;
    (!caller.has_expired(Timestamp::now())).then(|| Arc::clone(caller))
}

/// What a caller may do in the console; nothing if it may not read.
pub(super) fn role(caller: &Caller) -> Option<Role> {
    let may_change = caller.rights.has(Right::Manage);
    let role = if may_change {
        Role::Operator
    } else {
        Role::Viewer
    };
    caller.rights.has(Right::Read).then_some(role)
}

/// The id in the cookie of a request.
pub(super) fn session_id(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(COOKIE).iter();
    cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .find_map(|cookie| {
            let (name, value) = cookie.trim().split_once('=')?;
            (name == SESSION_COOKIE).then_some(value)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_among_other_cookies() {
        let mut headers = HeaderMap::new();
        assert_eq!(session_id(&headers), None);
        let cookies = "a=b; countersign_console=0f; c=d";
        headers.append(COOKIE, cookies.parse().expect("a value"));
        assert_eq!(session_id(&headers), Some("0f"));
    }
}
