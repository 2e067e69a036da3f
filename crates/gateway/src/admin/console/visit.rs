//! One request of a person who is signed in: who it is, and under which snapshot the page is made.

use std::sync::Arc;

use countersign_audit::Timestamp;
use countersign_console::{Frame, Nav, Notice, Role, Text};
use hyper::body::Incoming;
use hyper::header::COOKIE;
use hyper::{HeaderMap, Request};

use crate::config_change::{AppliedConfig, ConfigRefusal, ReloadRequest};
use crate::services::{ConsoleSession, Runtime, Services};
use crate::state::{Admission, Right, Snapshot, State};

/// The cookie that holds a session's id.
pub(super) const SESSION_COOKIE: &str = "countersign_console";

/// A request within a session.
pub(super) struct Visit<'a> {
    state: &'a Arc<State>,
    pub(super) services: &'a Arc<Services>,
    pub(super) snapshot: &'a Snapshot,
    pub(super) session: Arc<ConsoleSession>,
    pub(super) role: Role,
    /// The name of the caller whose key opened the session.
    pub(super) who: String,
    /// The parameters of the page, without those that have no value.
    pub(super) parameters: Vec<(String, String)>,
    pub(super) now: Timestamp,
}

impl<'a> Visit<'a> {
    /// The visit of a request with the cookie of a session whose key still opens the console.
    pub(super) fn new(
        runtime: &'a Runtime,
        snapshot: &'a Snapshot,
        request: &Request<Incoming>,
    ) -> Option<Self> {
        let services = &runtime.services;
        let session = services
            .console_sessions
            .find(session_id(request.headers())?)?;
        let (role, who) = opened_by(snapshot, &session.key)?;
        let query = request.uri().query().unwrap_or_default();
        let parameters = super::super::pairs(query);
        Some(Self {
            state: &runtime.state,
            services,
            snapshot,
            session,
            role,
            who,
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
            who: Text::new(self.who.as_str()),
            csrf: self.session.csrf.clone(),
            events,
            notice,
        }
    }

    /// For how long a stream of the caller goes on; nothing if its key was revoked just now.
    pub(super) fn admission(&self) -> Option<Admission> {
        let guard = self.snapshot.settings.guard.as_ref()?;
        let caller = guard.find_digest(&self.session.key)?;
        Some(Admission::new(self.state, caller))
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
        reloads.request_by(request, Some(self.who.clone())).await
    }

    /// A parameter of the page; nothing if it is not there.
    pub(super) fn parameter(&self, name: &str) -> &str {
        super::field(&self.parameters, name)
    }
}

/// What the key with this digest opens, and the name of its caller: the one place where the console looks at keys.
pub(super) fn opened_by(snapshot: &Snapshot, key: &[u8; 32]) -> Option<(Role, String)> {
    let guard = snapshot.settings.guard.as_ref()?;
    let caller = guard.find_digest(key)?;
    if caller.has_expired(Timestamp::now()) || !caller.rights.has(Right::Read) {
        return None;
    }
    let role = if caller.rights.has(Right::Manage) {
        Role::Operator
    } else {
        Role::Viewer
    };
    Some((role, caller.name.to_string()))
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
