//! Signing in at an issuer with a browser, as far as all pages do it alike: the cookies, the way to the issuer, and the page
//! that says why it failed. `login_callback` is the way back.

use std::sync::Arc;

use countersign_console::{Entrance, Next, Text};
use hyper::header::{COOKIE, HeaderValue, LOCATION, SET_COOKIE};
use hyper::{HeaderMap, Response, StatusCode};

use crate::http::{plain, with_type};
use crate::path::reply::Body;
use crate::services::{BrowserLoginError, LOGIN_LIFETIME, Services};
use crate::state::{IssuerRules, Snapshot, TokenRules};

/// The cookie of a login at an issuer.
pub(super) const LOGIN: &str = "countersign-login";
/// The cookie with the page where the login began: the browser may come back to a gateway that knows nothing of the login.
pub(super) const PAGE: &str = "countersign-page";

/// The rules for tokens, if users can sign in with a browser.
pub(super) fn rules(snapshot: &Snapshot) -> Option<&TokenRules> {
    let rules = snapshot.settings.tokens.as_ref();
    rules.filter(|rules| rules.login_issuer(None).is_some())
}

/// The cookies of a browser between its requests. They are `Lax`: the browser comes back from other sites.
pub(super) struct BrowserCookies<'a> {
    pub(super) rules: &'a TokenRules,
    headers: &'a HeaderMap,
}

impl<'a> BrowserCookies<'a> {
    pub(super) fn new(rules: &'a TokenRules, headers: &'a HeaderMap) -> Self {
        Self { rules, headers }
    }

    fn is_secure(&self) -> bool {
        self.rules.public_url().starts_with("https://")
    }

    /// A name that no other host can set a cookie under, where the connection is encrypted.
    fn name(&self, name: &str) -> String {
        let prefix = if self.is_secure() { "__Host-" } else { "" };
        format!("{prefix}{name}")
    }

    /// A cookie for the next requests of the browser; an empty one is removed.
    pub(super) fn set(&self, name: &str, value: &str) -> Option<HeaderValue> {
        let name = self.name(name);
        let secure = if self.is_secure() { "; Secure" } else { "" };
        let age = if value.is_empty() {
            0
        } else {
            LOGIN_LIFETIME.as_secs()
        };
        let text = format!("{name}={value}; HttpOnly; SameSite=Lax; Path=/; Max-Age={age}{secure}");
        HeaderValue::from_str(&text).ok()
    }

    pub(super) fn get(&self, name: &str) -> Option<String> {
        let name = self.name(name);
        let cookies = self.headers.get_all(COOKIE).iter();
        let mut cookies = cookies
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'));
        cookies.find_map(|cookie| {
            let (key, value) = cookie.trim().split_once('=')?;
            (key == name).then(|| value.to_owned())
        })
    }
}

/// Sends the browser to an issuer. `page` is where the login begins, and begins again if it fails; `return_to` is where the
/// browser goes afterwards. A request must not choose either of them freely.
pub(super) async fn begin(
    cookies: &BrowserCookies<'_>,
    services: &Services,
    issuer: &Arc<IssuerRules>,
    (page, return_to): (&str, String),
) -> Result<Response<Body>, BrowserLoginError> {
    let logins = &services.browser_logins;
    let begun = logins.begin(cookies.rules, issuer, return_to).await?;
    let set = [cookies.set(LOGIN, &begun.browser), cookies.set(PAGE, page)];
    Ok(go_to(&begun.url, set.into_iter().flatten()))
}

/// Sends the browser to a page of the gateway, or to the issuer.
pub(super) fn go_to(
    address: &str,
    cookies: impl IntoIterator<Item = HeaderValue>,
) -> Response<Body> {
    let Ok(location) = HeaderValue::from_str(address) else {
        return plain(StatusCode::BAD_GATEWAY, "this address cannot be opened\n");
    };
    let mut response = plain(StatusCode::SEE_OTHER, "");
    response.headers_mut().insert(LOCATION, location);
    for cookie in cookies {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// The status and the sentence for a login that failed. The sentence names the rule, never a word of the issuer.
pub(super) fn explain(error: &BrowserLoginError) -> (StatusCode, String) {
    let status = match error {
        BrowserLoginError::UnknownState => StatusCode::BAD_REQUEST,
        BrowserLoginError::Token => StatusCode::FORBIDDEN,
        BrowserLoginError::Unreachable | BrowserLoginError::OAuth(_) => StatusCode::BAD_GATEWAY,
    };
    tracing::info!(%error, "a user could not sign in with a browser");
    (status, format!("You are not signed in: {error}."))
}

/// The page for a login that failed.
pub(super) fn failed(error: &BrowserLoginError, next: Next) -> Response<Body> {
    let (status, sentence) = explain(error);
    let page = Entrance {
        title: "Not signed in",
        text: Text::new(sentence),
        next,
    };
    entrance(status, &page)
}

/// A page before a session.
pub(super) fn entrance(status: StatusCode, page: &Entrance) -> Response<Body> {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    let mut response = with_type(kind, bytes::Bytes::from(page.html()).into());
    *response.status_mut() = status;
    response
}
