//! `/console`: the web console. Signing in with a key or at an issuer opens a session, whose id is in a cookie; a page shows
//! what the REST interface answers, by the same functions. Pages hold no script or style of their own and are never kept by a browser.

mod activity;
mod attempt;
mod changes;
mod issuer_sign_in;
mod marked_schemas;
mod new_server;
mod overview;
mod policy;
mod record;
mod servers;
mod sign_in;
mod tools;
mod visit;

use bytes::Bytes;
use countersign_console::{Message, Nav, asset};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, HeaderName,
    HeaderValue, LOCATION, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

pub(super) use self::issuer_sign_in::signed_in;
use self::visit::{NoVisit, Visit};
use super::{ApiError, events};
use crate::http::intake;
use crate::http::{ClientConnection, not_allowed, plain, turned_away, with_type};
use crate::path::reply::Body;
use crate::services::{Runtime, Services};
use crate::state::Snapshot;
use crate::state::guard::AccessRefusal;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);
/// As much as a form may have.
const MAX_FORM: usize = 2 << 20;

pub(super) const SIGN_IN: &str = "/console/sign-in";

/// Why a page is not shown, or what is shown.
type PageResult = Result<String, ApiError>;

/// Whether a path belongs to the console.
pub(crate) fn is_path(path: &str) -> bool {
    path == "/console" || path.starts_with("/console/")
}

/// Answers a request for the console. `Host` and `Origin` have been checked.
pub(crate) async fn respond(
    runtime: &Runtime,
    snapshot: &Snapshot,
    request: Request<Incoming>,
) -> Response<Body> {
    let path = request.uri().path().strip_prefix("/console").unwrap_or("");
    protected(match path.strip_prefix("/assets/") {
        Some(name) => show_asset(name, request.headers()),
        None => page_or_form(runtime, snapshot, request).await,
    })
}

/// The response with the headers that every page of the console has.
pub(super) fn protected(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert(X_CONTENT_TYPE_OPTIONS, nosniff);
    // With `no-referrer` a browser would send `Origin: null` with forms, which the guard refuses.
    let same_origin = HeaderValue::from_static("same-origin");
    headers.insert(REFERRER_POLICY, same_origin);
    let no_store = HeaderValue::from_static("no-store");
    headers.entry(CACHE_CONTROL).or_insert(no_store);
    response
}

/// The name of an asset holds a hash of its content, so that it never changes.
fn show_asset(name: &str, headers: &HeaderMap) -> Response<Body> {
    let Some(asset) = asset(name) else {
        return plain(StatusCode::NOT_FOUND, "not found\n");
    };
    let kind = HeaderValue::from_static(asset.content_type);
    let is_gzip = accepts_gzip(headers);
    let content = if is_gzip {
        asset.gzipped
    } else {
        asset.content
    };
    let mut response = with_type(kind, Bytes::from_static(content).into());
    let headers = response.headers_mut();
    let kept = HeaderValue::from_static("public, max-age=31536000, immutable");
    headers.insert(CACHE_CONTROL, kept);
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if is_gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Whether a browser takes content that is compressed with gzip. One that names gzip with a quality does not want it or
/// gets the content as it is.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT_ENCODING).iter();
    accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| coding.trim().eq_ignore_ascii_case("gzip"))
}

async fn page_or_form(
    runtime: &Runtime,
    snapshot: &Snapshot,
    request: Request<Incoming>,
) -> Response<Body> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_read && request.method() != Method::POST {
        return not_allowed("GET, HEAD, POST");
    }
    let path = request.uri().path();
    let issuer = path.strip_prefix("/console/sign-in/").map(str::to_owned);
    if path == SIGN_IN || issuer.is_some() {
        return sign_in_page(runtime, snapshot, issuer.as_deref(), request).await;
    }
    let visit = match Visit::find(runtime, snapshot, &request).await {
        Ok(visit) => visit,
        Err(NoVisit::IssuerUnreachable) => {
            let (services, refused) = (&runtime.services, AccessRefusal::IssuerUnreachable);
            services.count_refusal(refused);
            return turned_away(&services.events, refused);
        }
        Err(NoVisit::SignedOut) if is_read && !request.uri().path().ends_with("/events") => {
            return see_other(SIGN_IN);
        }
        Err(NoVisit::SignedOut) => return plain(StatusCode::UNAUTHORIZED, "sign in first\n"),
    };
    let client = request.extensions().get::<ClientConnection>();
    if client.is_some_and(|client| client.keep().is_err()) {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "too many connections\n");
    }
    if is_read {
        visit_page(&visit, request).await
    } else {
        changes::answer(&visit, request).await
    }
}

/// The form to sign in with, what was typed into it, or the way to an issuer. A browser with a session needs none of them.
async fn sign_in_page(
    runtime: &Runtime,
    snapshot: &Snapshot,
    issuer: Option<&str>,
    request: Request<Incoming>,
) -> Response<Body> {
    let services = &runtime.services;
    let is_post = request.method() == Method::POST;
    if !is_post && Visit::find(runtime, snapshot, &request).await.is_ok() {
        return see_other("/console");
    }
    match (issuer, request.method()) {
        (None, &Method::POST) => sign_in::open(services, snapshot, request).await,
        (None, _) => sign_in::form(snapshot, None),
        (Some(issuer), &Method::GET) => {
            issuer_sign_in::begin(services, snapshot, request.headers(), issuer).await
        }
        _ => not_allowed("GET"),
    }
}

/// Shows a page to a person who is signed in.
async fn visit_page(visit: &Visit<'_>, request: Request<Incoming>) -> Response<Body> {
    let path = request.uri().path().strip_prefix("/console").unwrap_or("");
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let page = match parts.as_slice() {
        [] | [""] => overview::page(visit).await,
        ["events"] => {
            let max = visit.snapshot.settings.config.activity.max_event_streams;
            let admission = visit.admission();
            let stream = events::respond(visit.services, max, admission, &request).await;
            return stream.unwrap_or_else(Response::from);
        }
        ["activity"] => activity::page(visit).await,
        ["activity", id] => record::page(visit, id).await,
        ["activity", id, "receipt"] => match super::activity::receipt(visit.services, id).await {
            Ok(response) => return response,
            Err(refused) => Err(refused),
        },
        ["servers"] => Ok(servers::list(visit)),
        ["servers", name] => servers::page(visit, name),
        ["tools"] => Ok(tools::list(visit)),
        ["tools", name] => tools::page(visit, name),
        ["policy"] => policy::page(visit).await,
        ["try"] => Ok(attempt::form(visit)),
        _ => Err(ApiError::not_found("There is no such page.")),
    };
    match page {
        Ok(page) => html(StatusCode::OK, page),
        Err(refused) => message(visit, refused),
    }
}

/// A page that says why there is no other.
fn message(visit: &Visit<'_>, refused: ApiError) -> Response<Body> {
    let page = Message {
        frame: visit.frame(Nav::Overview, None),
        title: refused.status.canonical_reason().unwrap_or("Refused"),
        text: refused.message.into(),
    };
    html(refused.status, page.html())
}

fn html(status: StatusCode, page: String) -> Response<Body> {
    let mut response = with_type(HTML, Bytes::from(page).into());
    *response.status_mut() = status;
    response
}

/// Sends the browser to another page of the console.
fn see_other(path: &'static str) -> Response<Body> {
    see_other_with(HeaderValue::from_static(path), None)
}

fn see_other_with(path: HeaderValue, header: Option<(HeaderName, HeaderValue)>) -> Response<Body> {
    let mut response = plain(StatusCode::SEE_OTHER, "");
    response.headers_mut().insert(LOCATION, path);
    response.headers_mut().extend(header);
    response
}

/// The fields of a form.
async fn form(services: &Services, body: Incoming) -> Result<Vec<(String, String)>, ApiError> {
    let body = intake::read_body(body, MAX_FORM, &services.intake).await;
    let body = body.map_err(|_| ApiError::bad_request("The form is too large or incomplete."))?;
    Ok(form_urlencoded::parse(&body).into_owned().collect())
}

/// A field of a form; nothing if it is not there.
fn field<'a>(form: &'a [(String, String)], name: &str) -> &'a str {
    let found = form.iter().find(|(key, _)| key == name);
    found.map_or("", |(_, value)| value)
}
