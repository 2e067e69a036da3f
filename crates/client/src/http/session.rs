//! What the requests to a server have in common once it has been greeted: the era, the version,
//! and for a legacy server the session it opened, all of it as headers.

use countersign_dial::Site;
use countersign_inspect::Era;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};

use countersign_wire::header::{SESSION, VERSION, encode_header_value};

/// The state a conversation with a server is in.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) era: Era,
    /// What every request says.
    pub(crate) headers: HeaderMap,
    /// Whether the server gave us a session that it may lose.
    pub(crate) is_named: bool,
}

impl Session {
    /// Before anything has been agreed on.
    pub(crate) fn without_id(site: &Site) -> Self {
        Self {
            era: Era::Legacy,
            headers: site.headers.clone(),
            is_named: false,
        }
    }

    /// The headers of a request that opens a stream of events.
    pub(crate) fn stream_headers(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.remove(CONTENT_TYPE);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers
    }

    /// With a server that speaks this version and named the session so.
    pub(crate) fn new(site: &Site, era: Era, version: &str, session: Option<HeaderValue>) -> Self {
        let mut headers = site.headers.clone();
        // Before 2025-06-18 there was no such header; servers ignore it.
        headers.insert(VERSION, encode_header_value(version));
        let is_named = session.is_some();
        if let Some(session) = session {
            headers.insert(SESSION, session);
        }
        Self {
            era,
            headers,
            is_named,
        }
    }
}
