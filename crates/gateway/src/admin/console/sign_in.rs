//! Signing in with a key, and signing out. A key is in the body of a form and nowhere else; the cookie holds a random id that only this gateway
//! knows.

use std::sync::Arc;

use countersign_console::SignIn;
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue, SET_COOKIE};
use hyper::{HeaderMap, Request, Response, StatusCode};
use tokio::time::sleep;

use super::visit::{SESSION_COOKIE, Visit, caller_of_key, role, session_id};
use super::{SIGN_IN, field, form as read_form, html, see_other_with};
use crate::admin::logins::record_login;
use crate::events;
use crate::path::reply::Body;
use crate::services::{
    SESSION_LIFETIME, Services, SessionCredential, WRONG_KEY_DELAY, secret_digest,
};
use crate::state::guard::AccessRefusal;
use crate::state::{Caller, Snapshot, TokenRules};

const TOO_MANY: &str = "Too many keys are being tried. Try again in a moment.";
const WRONG_KEY: &str = "This key does not open the console.";
pub(super) const NO_RANDOMNESS: &str = "The system has no randomness for a session.";

/// The form, with the issuers at which users can sign in.
pub(super) fn form(snapshot: &Snapshot, refusal: Option<&'static str>) -> Response<Body> {
    let status = match refusal {
        Some(TOO_MANY) => StatusCode::TOO_MANY_REQUESTS,
        Some(_) => StatusCode::UNAUTHORIZED,
        None => StatusCode::OK,
    };
    let rules = snapshot.settings.tokens.iter();
    let issuers = rules.flat_map(TokenRules::login_issuers);
    let issuers = issuers.map(|it| it.issuer.name.clone()).collect();
    html(status, SignIn { refusal, issuers }.html())
}

/// Opens a session with the key of the form.
pub(super) async fn open(
    services: &Arc<Services>,
    snapshot: &Snapshot,
    request: Request<Incoming>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let Ok(fields) = read_form(services, body).await else {
        return form(snapshot, Some("The form is too large or incomplete."));
    };
    let Some(check) = services.console_sessions.key_check() else {
        return form(snapshot, Some(TOO_MANY));
    };
    let key = secret_digest(field(&fields, "key").trim().as_bytes());
    let caller = caller_of_key(snapshot, &key).filter(|caller| role(caller).is_some());
    let Some(caller) = caller else {
        events::Unauthorised { header: "form" }.emit(&services.events);
        services.count_refusal(AccessRefusal::Key);
        sleep(WRONG_KEY_DELAY).await;
        drop(check);
        return form(snapshot, Some(WRONG_KEY));
    };
    // The browser has one session at a time.
    if let Some(id) = session_id(&head.headers) {
        services.console_sessions.end(id);
    }
    let credential = SessionCredential::Key(key);
    match open_session(services, snapshot, &head.headers, (&caller, credential)).await {
        Some(cookie) => see_other_with(HeaderValue::from_static("/console"), Some(cookie)),
        None => form(snapshot, Some(NO_RANDOMNESS)),
    }
}

/// Opens a session for a caller, records it, and gives its cookie; nothing if the system has no randomness.
pub(super) async fn open_session(
    services: &Services,
    snapshot: &Snapshot,
    headers: &HeaderMap,
    (caller, credential): (&Caller, SessionCredential),
) -> Option<(HeaderName, HeaderValue)> {
    let id = services.console_sessions.open(credential)?;
    let reason = "signed in to the console".to_owned();
    record_login(services, &caller.name, None, reason).await;
    let seconds = SESSION_LIFETIME.as_secs();
    cookie(&id, seconds, is_secure(snapshot, headers))
}

/// Whether the browser speaks TLS, as `tls`, `public_url` or the proxy in front says. A client that lies about the latter loses
/// only its own cookie.
fn is_secure(snapshot: &Snapshot, headers: &HeaderMap) -> bool {
    let config = &snapshot.settings.config;
    let url = config.public_url.as_ref();
    let scheme = headers.get("x-forwarded-proto");
    config.tls.is_enabled()
        || url.is_some_and(|url| url.starts_with("https://"))
        || scheme.is_some_and(|scheme| scheme.as_bytes().eq_ignore_ascii_case(b"https"))
}

fn cookie(id: &str, seconds: u64, is_secure: bool) -> Option<(HeaderName, HeaderValue)> {
    let secure = if is_secure { "; Secure" } else { "" };
    let text = format!(
        "{SESSION_COOKIE}={id}; HttpOnly; SameSite=Strict; Path=/console; Max-Age={seconds}{secure}"
    );
    Some((SET_COOKIE, HeaderValue::from_str(&text).ok()?))
}

/// Ends the session.
pub(super) async fn close(visit: &Visit<'_>, headers: &HeaderMap) -> Response<Body> {
    if let Some(id) = session_id(headers) {
        visit.services.console_sessions.end(id);
        let reason = "signed out of the console".to_owned();
        record_login(visit.services, &visit.caller.name, None, reason).await;
    }
    let gone = cookie("", 0, is_secure(visit.snapshot, headers));
    see_other_with(HeaderValue::from_static(SIGN_IN), gone)
}
