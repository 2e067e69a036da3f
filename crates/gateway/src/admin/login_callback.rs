//! `/login/callback`: where issuers send browsers back to. A login that the browser has begun is completed, and its user is
//! handed to the page that the login was begun for.

use countersign_console::Next;
use hyper::body::Incoming;
use hyper::header::SET_COOKIE;
use hyper::{Method, Request, Response, StatusCode};

use super::issuer_login::{self, BrowserCookies, LOGIN, PAGE};
use super::{connect, console};
use crate::http::{not_allowed, plain};
use crate::path::reply::Body;
use crate::services::{BrowserLoginError, LOGIN_CALLBACK, Runtime};
use crate::state::Snapshot;

/// Whether a path is this one.
pub(crate) fn is_path(path: &str) -> bool {
    path == LOGIN_CALLBACK
}

/// Answers a browser that comes back. `Host` and `Origin` have been checked.
pub(crate) async fn respond(
    runtime: &Runtime,
    snapshot: &Snapshot,
    request: Request<Incoming>,
) -> Response<Body> {
    let Some(rules) = issuer_login::rules(snapshot) else {
        return plain(StatusCode::NOT_FOUND, "not found\n");
    };
    if request.method() != Method::GET {
        return not_allowed("GET");
    }
    let services = &runtime.services;
    let cookies = BrowserCookies::new(rules, request.headers());
    let browser = cookies.get(LOGIN).unwrap_or_default();
    let query = request.uri().query().unwrap_or_default();
    let logins = &services.browser_logins;
    let completed = logins.complete(&services.issuers, rules, query, &browser);
    let user = match completed.await {
        Ok(user) => user,
        Err(error) => return failed(&cookies, &error),
    };
    let (mut response, used) = if console::is_path(&user.return_to) {
        let page = console::signed_in(services, snapshot, request.headers(), user).await;
        (page, &[LOGIN, PAGE][..])
    } else {
        // The login at the server, which comes next, may have to begin again too.
        (connect::signed_in(services, &cookies, &user), &[LOGIN][..])
    };
    for removed in used.iter().filter_map(|name| cookies.set(name, "")) {
        response.headers_mut().append(SET_COOKIE, removed);
    }
    response
}

/// Where the login can begin again depends on where it began.
fn failed(cookies: &BrowserCookies<'_>, error: &BrowserLoginError) -> Response<Body> {
    if let Some(page) = connect::sign_in_failed(cookies, error) {
        return page;
    }
    let is_console = cookies
        .get(PAGE)
        .is_some_and(|page| page == console::SIGN_IN);
    let next = if is_console {
        Next::SignIn
    } else {
        Next::Nothing
    };
    console::protected(issuer_login::failed(error, next))
}
