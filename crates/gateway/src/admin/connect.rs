//! `/connect/SERVER`: where a user gives the gateway a token of its own for a server, for its own calls. The user signs in at
//! the issuer that knows the user as a caller, sees what will be asked for, agrees, and logs in at the server's authorization
//! server. The token is stored for the caller who signed in and for no other, so a link that was passed on connects nothing
//! for its sender.
//!
//! Pages hold no script. They cannot be framed, and each form carries a token of its browser.

mod failed_login;
mod page;

use std::sync::Arc;

use countersign_config::{OAuthCredentials, Server, is_server_name};
use hyper::body::Incoming;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use super::auth::of_owner;
use super::issuer_login::{self, BrowserCookies, go_to};
use super::logins::record_login;
use super::pairs;
use crate::http::{intake, not_allowed, plain, with_type};
use crate::path::reply::Body;
use crate::services::{
    LoginRequest, Redirect, Runtime, Services, SignedIn, SignedInBrowser, connect_callback,
    server_document_url,
};
use crate::state::{Snapshot, TokenRules};
pub(super) use failed_login::sign_in_failed;

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);
/// As much as a form may have.
const MAX_FORM: usize = 4 << 10;
/// The cookie of a browser whose user has signed in.
const USER: &str = "countersign-user";

/// One request for a page.
struct Visit<'a> {
    services: &'a Services,
    snapshot: &'a Snapshot,
    rules: &'a TokenRules,
    headers: HeaderMap,
    query: String,
}

/// Why there is no server for a user.
enum NoServer {
    Unknown,
    /// The link was made for another user.
    ForAnother,
}

impl NoServer {
    fn told(&self) -> Response<Body> {
        match self {
            Self::Unknown => unknown_server(),
            Self::ForAnother => told(StatusCode::FORBIDDEN, page::FOR_ANOTHER),
        }
    }
}

/// Whether a path is one of these pages.
pub(crate) fn is_path(path: &str) -> bool {
    path.starts_with("/connect/")
}

/// Answers a request for a page. `Host` and `Origin` have been checked.
pub(crate) async fn respond(
    runtime: &Runtime,
    snapshot: &Snapshot,
    request: Request<Incoming>,
) -> Response<Body> {
    let Some(rules) = issuer_login::rules(snapshot) else {
        return plain(StatusCode::NOT_FOUND, "not found\n");
    };
    let (head, body) = request.into_parts();
    let visit = Visit {
        services: &runtime.services,
        snapshot,
        rules,
        headers: head.headers,
        query: head.uri.query().unwrap_or_default().to_owned(),
    };
    let path = head.uri.path();
    let is_read = head.method == Method::GET;
    let mut response = match path.strip_prefix("/connect/") {
        Some(rest) => match (rest.strip_suffix("/callback"), is_read) {
            (Some(name), true) if is_server_name(name) => visit.complete_login(name).await,
            (None, true) if is_server_name(rest) => visit.show(rest).await,
            (None, false) if is_server_name(rest) && head.method == Method::POST => {
                visit.begin_login(rest, body).await
            }
            (Some(_), false) => not_allowed("GET"),
            (None, false) if is_server_name(rest) => not_allowed("GET, POST"),
            _ => plain(StatusCode::NOT_FOUND, "not found\n"),
        },
        None => plain(StatusCode::NOT_FOUND, "not found\n"),
    };
    protect(response.headers_mut());
    response
}

fn protect(headers: &mut HeaderMap) {
    let values = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        // With `no-referrer` a browser would send `Origin: null` with forms, which the guard refuses.
        (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    for (name, value) in values {
        headers.insert(name, value);
    }
}

impl Visit<'_> {
    /// The page of a server: what will be asked for, and a button. A browser without a user is sent to the issuer first,
    /// whatever the server is called.
    async fn show(&self, name: &str) -> Response<Body> {
        let Some(browser) = self.browser() else {
            return self.sign_in(name).await;
        };
        let server = match self.find(name, &browser) {
            Ok(server) => server,
            Err(refused) => return refused.told(),
        };
        let caller = &*browser.caller.name;
        let preview = self.services.grants.preview_login(server, caller).await;
        match preview {
            Some(Ok(preview)) => html(
                StatusCode::OK,
                &page::confirm(name, caller, &preview, &browser.csrf),
            ),
            Some(Err(error)) => self.failed(name, &error),
            None => unknown_server(),
        }
    }

    /// Sends the browser to the issuer that knows the caller.
    async fn sign_in(&self, name: &str) -> Response<Body> {
        let issuer = self.parameter("issuer");
        let Some(issuer) = self.rules.login_issuer(issuer.as_deref()) else {
            return told(StatusCode::NOT_FOUND, page::NO_ISSUER);
        };
        let mut return_to = format!("/connect/{name}");
        let name = &issuer.issuer.name;
        let mut beginning = format!("{return_to}?issuer={name}");
        if let Some(link) = self.parameter("for").filter(|link| is_link(link)) {
            return_to = format!("{return_to}?for={link}");
            beginning = format!("{return_to}&issuer={name}");
        }
        let cookies = self.cookies();
        let pages = (&*beginning, return_to);
        let begun = issuer_login::begin(&cookies, self.services, issuer, pages).await;
        begun.unwrap_or_else(|error| {
            let (status, sentence) = issuer_login::explain(&error);
            html(status, &page::begin_again(&sentence, &beginning))
        })
    }

    /// The user agrees: the browser goes to the authorization server of the server.
    async fn begin_login(&self, name: &str, body: Incoming) -> Response<Body> {
        let Some(browser) = self.browser() else {
            return self.sign_in_again(name);
        };
        let form = intake::read_body(body, MAX_FORM, &self.services.intake).await;
        let Ok(form) = form else {
            return told(StatusCode::BAD_REQUEST, page::TRY_AGAIN);
        };
        let mut fields = form_urlencoded::parse(&form);
        let csrf = fields.find(|(name, _)| name == "csrf");
        if !csrf.is_some_and(|(_, given)| browser.has_token(&given)) {
            return self.sign_in_again(name);
        }
        let server = match self.find(name, &browser) {
            Ok(server) => server,
            Err(refused) => return refused.told(),
        };
        let config = &self.snapshot.settings.config;
        let Some(callback) = connect_callback(config, name) else {
            return unknown_server();
        };
        let request = LoginRequest {
            redirect: Redirect::Page(callback),
            scopes: Vec::new(),
            client_document: server_document_url(config, name),
        };
        let grants = &self.services.grants;
        let begun = grants
            .begin_login(server, Some(&browser.caller.name), &request)
            .await;
        match begun {
            Some(Ok(url)) if is_web_address(&url) => html(StatusCode::OK, &page::go_on(&url)),
            Some(Ok(_)) | None => unknown_server(),
            Some(Err(error)) => self.failed(name, &error),
        }
    }

    /// The browser comes back from the authorization server. The login has to be one of the user that this browser has.
    async fn complete_login(&self, name: &str) -> Response<Body> {
        let Some(browser) = self.browser() else {
            return self.sign_in_again(name);
        };
        let server = match self.find(name, &browser) {
            Ok(server) => server,
            Err(refused) => return refused.told(),
        };
        let caller = &*browser.caller.name;
        let grants = &self.services.grants;
        let completed = grants
            .complete_login(server, Some(caller), &self.query)
            .await;
        match completed {
            Some(Ok(())) => {
                tracing::info!(server = name, caller, "a caller has logged in to a server");
                let reason = format!("logged in with a browser{}", of_owner(Some(caller)));
                record_login(self.services, caller, Some(name), reason).await;
                html(StatusCode::OK, &page::connected(name))
            }
            Some(Err(error)) => self.failed(name, &error),
            None => unknown_server(),
        }
    }

    /// The server, if its callers log in and the user may reach it, and if the link was not made for another user.
    fn find(&self, name: &str, browser: &SignedInBrowser) -> Result<&Server, NoServer> {
        let caller = &browser.caller;
        let link = self.parameter("for");
        let is_for_other = |link: String| {
            let grants = &self.services.grants;
            grants.connect_link(name, &caller.name) != Some(link)
        };
        if link.is_some_and(is_for_other) {
            return Err(NoServer::ForAnother);
        }
        let by_caller = |server: &&Server| {
            let oauth = server.oauth.as_ref();
            oauth.is_some_and(|oauth| oauth.credentials == OAuthCredentials::Caller)
        };
        let server = self.snapshot.settings.config.server(name);
        let may_reach = caller.rights.call && self.snapshot.for_caller(caller).may_reach(name);
        let server = server.filter(by_caller).filter(|_| may_reach);
        server.ok_or(NoServer::Unknown)
    }

    fn parameter(&self, name: &str) -> Option<String> {
        let found = pairs(&self.query).find(|(key, _)| key == name);
        found.map(|(_, value)| value)
    }

    /// The browser, if its user has signed in.
    fn browser(&self) -> Option<Arc<SignedInBrowser>> {
        let id = self.cookies().get(USER)?;
        self.services.signed_in_browsers.find(&id)
    }

    fn cookies(&self) -> BrowserCookies<'_> {
        BrowserCookies::new(self.rules, &self.headers)
    }
}

/// The browser comes back from the issuer: its user is remembered, and the browser goes to the page that it wanted.
pub(super) fn signed_in(
    services: &Services,
    cookies: &BrowserCookies<'_>,
    user: &SignedIn,
) -> Response<Body> {
    let mut response = match services.signed_in_browsers.open(&user.caller) {
        Some(id) => go_to(&user.return_to, cookies.set(USER, &id)),
        None => told(StatusCode::SERVICE_UNAVAILABLE, page::TRY_AGAIN),
    };
    protect(response.headers_mut());
    response
}

/// Whether a parameter can be what a link carries: hexadecimal digits, so that nothing else gets into an address.
fn is_link(text: &str) -> bool {
    text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a browser may be sent to an address that an authorization server named.
fn is_web_address(url: &str) -> bool {
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    is_web && url.bytes().all(|byte| byte.is_ascii_graphic())
}

fn html(status: StatusCode, page: &str) -> Response<Body> {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    let mut response = with_type(kind, bytes::Bytes::from(page.to_owned()).into());
    *response.status_mut() = status;
    response
}

/// A page with one sentence of ours.
fn told(status: StatusCode, sentence: &str) -> Response<Body> {
    html(status, &page::message(sentence))
}

fn unknown_server() -> Response<Body> {
    told(StatusCode::NOT_FOUND, page::NO_SERVER)
}
