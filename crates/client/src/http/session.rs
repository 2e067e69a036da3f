//! What the requests to a server have in common once it has been greeted: the era, the version,
//! and for a legacy server the session it opened, all of it as headers.

use countersign_dial::Site;
use countersign_inspect::Era;
use hyper::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use countersign_wire::Subject;
use countersign_wire::header::{METHOD, NAME, SESSION, VERSION, encode_header_value};

/// The state a conversation with a server is in.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) era: Era,
    /// What every request says.
    pub(crate) headers: HeaderMap,
    /// The same with the names of what a request says about itself: a value that is replaced in a copy costs less than one
    /// that is added.
    template: HeaderMap,
    /// Whether the server gave us a session that it may lose.
    pub(crate) is_named: bool,
}

impl Session {
    /// Before anything has been agreed on.
    pub(crate) fn without_id(site: &Site) -> Self {
        let headers = site.headers.clone();
        Self {
            era: Era::Legacy,
            template: template(&headers, Era::Legacy),
            headers,
            is_named: false,
        }
    }

    /// The headers of a request about something, with a body of this length.
    pub(crate) fn request_headers(&self, subject: &Subject<'_>, length: usize) -> HeaderMap {
        let mut headers = self.template.clone();
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        if self.era == Era::Modern {
            subject.write(&mut headers);
        }
        headers
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
            template: template(&headers, era),
            headers,
            is_named,
        }
    }
}

/// These headers, and the names of what a request says about itself.
fn template(headers: &HeaderMap, era: Era) -> HeaderMap {
    let of_request: &[HeaderName] = match era {
        Era::Legacy => &[CONTENT_LENGTH],
        Era::Modern => &[CONTENT_LENGTH, METHOD, NAME],
    };
    let mut template = headers.clone();
    for name in of_request {
        template.insert(name, HeaderValue::from_static(""));
    }
    // A map that is full grows even where a value is only replaced, and its copies are as full as it is.
    template.reserve(1);
    template
}
