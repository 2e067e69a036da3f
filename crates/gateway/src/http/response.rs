//! Responses over HTTP: replies of the protocol, plain texts for people, and refusals.

use bytes::Bytes;
use countersign_dial::ReadError;
use hyper::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{HeaderMap, Response, StatusCode};

use super::intake::BodyError;
use crate::events::{self, Events};
use crate::path::reply::{self, Body, Problem, Reply};
use crate::state::{Right, guard};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: &str = "text/event-stream";
/// What nearly every client accepts.
const USUAL: &str = "application/json, text/event-stream";

/// The error for a request that would change something and has only the clients' key.
const NOT_ADMIN: &str = "this request needs the admin_key: the api_key opens MCP and every GET";
const ADMIN_KEY_HINT: &str = "send the admin_key instead: it is in the configuration, in COUNTERSIGN_ADMIN_KEY, or in the file `admin_key` in the data directory";

/// The answer to a method that the path does not have; `allowed` are those that it has, as `Allow` lists them.
pub(crate) fn not_allowed(allowed: &'static str) -> Response<Body> {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
    let allowed = HeaderValue::from_static(allowed);
    response.headers_mut().insert(ALLOW, allowed);
    response
}

/// Whether a client can read a stream of events.
pub(crate) fn hears_events(headers: &HeaderMap) -> bool {
    if headers.get(ACCEPT).is_some_and(|value| value == USUAL) {
        return true;
    }
    let accepted = headers.get_all(ACCEPT).iter();
    accepted
        .filter_map(|value| value.to_str().ok())
        .any(|value| {
            let kinds = value.split(',').filter_map(|kind| kind.split(';').next());
            kinds
                .map(str::trim)
                .any(|kind| kind.eq_ignore_ascii_case(EVENTS))
        })
}

pub(crate) fn respond_with(reply: Reply) -> Response<Body> {
    if matches!(reply.body, Body::Whole { .. }) {
        return json(reply.status, reply.body);
    }
    let mut response = with_type(HeaderValue::from_static(EVENTS), reply.body);
    let headers = response.headers_mut();
    let not_kept = HeaderValue::from_static("no-cache, no-transform");
    headers.insert(CACHE_CONTROL, not_kept);
    // Some proxies collect a response before they pass it on.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

pub(crate) fn unread(refused: BodyError) -> Response<Body> {
    match refused {
        BodyError::TooSlow => plain(StatusCode::REQUEST_TIMEOUT, "the message took too long\n"),
        BodyError::Unreadable(ReadError::TooLarge) => {
            plain(StatusCode::PAYLOAD_TOO_LARGE, "the message is too large\n")
        }
        BodyError::Unreadable(ReadError::Broken) => {
            plain(StatusCode::BAD_REQUEST, "the message is incomplete\n")
        }
        BodyError::Unreadable(ReadError::Busy) => {
            let era = countersign_inspect::ClientEra::Unnegotiated;
            let reply = reply::problem(None, &Problem::Busy, era);
            json(reply.status, reply.body)
        }
    }
}

pub(crate) fn turned_away(events: &Events, refused: guard::AccessRefusal) -> Response<Body> {
    match refused {
        guard::AccessRefusal::Key | guard::AccessRefusal::Expired => {
            events::Unauthorised {
                header: "X-API-Key",
            }
            .emit(events);
            let mut response = plain(StatusCode::UNAUTHORIZED, "a valid API key is required\n");
            let challenge = HeaderValue::from_static("Bearer realm=\"countersign\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            response
        }
        guard::AccessRefusal::Right(Right::Manage) => {
            events::NotAdmin {
                header: "X-API-Key",
            }
            .emit(events);
            let text = serde_json::json!({ "error": NOT_ADMIN, "hint": ADMIN_KEY_HINT });
            json(StatusCode::FORBIDDEN, Bytes::from(text.to_string()))
        }
        guard::AccessRefusal::Right(_) => {
            events::NoRight {}.emit(events);
            plain(StatusCode::FORBIDDEN, "this caller has no right to it\n")
        }
        guard::AccessRefusal::TwoCredentials => {
            events::TwoCredentials {}.emit(events);
            plain(StatusCode::BAD_REQUEST, "more than one credential\n")
        }
        guard::AccessRefusal::Token(refusal) => {
            let reason = refusal.word();
            events::TokenRefused { reason }.emit(events);
            let text = serde_json::json!({ "error": "invalid_token", "error_description": refusal.to_string() });
            json(StatusCode::UNAUTHORIZED, Bytes::from(text.to_string()))
        }
        guard::AccessRefusal::Scope => {
            events::ScopeMissing {}.emit(events);
            let text = r#"{"error":"insufficient_scope"}"#;
            json(StatusCode::FORBIDDEN, Bytes::from_static(text.as_bytes()))
        }
        guard::AccessRefusal::TokenInQuery => {
            events::TokenInQuery {}.emit(events);
            let text = "a token must be sent in the Authorization header, not in the address\n";
            plain(StatusCode::BAD_REQUEST, text)
        }
        guard::AccessRefusal::IssuerUnreachable => {
            events::IssuerUnreachable {}.emit(events);
            let text = "the issuer of the token cannot be reached\n";
            let mut response = plain(StatusCode::SERVICE_UNAVAILABLE, text);
            let headers = response.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from_static("30"));
            response
        }
        guard::AccessRefusal::TwoHosts => {
            events::Foreign { header: "Host" }.emit(events);
            plain(StatusCode::BAD_REQUEST, "more than one Host header\n")
        }
        guard::AccessRefusal::Foreign(header) => {
            events::Foreign { header }.emit(events);
            plain(
                StatusCode::FORBIDDEN,
                "this host or origin is not allowed\n",
            )
        }
    }
}

pub(crate) fn json(status: StatusCode, body: impl Into<Body>) -> Response<Body> {
    let mut response = with_type(JSON, body.into());
    *response.status_mut() = status;
    response
}

pub(crate) fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let text = Bytes::from_static(text.as_bytes());
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    let mut response = with_type(kind, Body::from(text));
    *response.status_mut() = status;
    response
}

/// A response of this content type.
pub(crate) fn with_type(content_type: HeaderValue, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}
