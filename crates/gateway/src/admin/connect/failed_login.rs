//! Pages of logins that did not succeed. Each has a link to begin again: the browser may have come back too late, or to another
//! gateway than the one that began the login, which then knows nothing about it. The sentences of errors name the rule, never a
//! word of the authorization server.

use countersign_config::is_server_name;
use hyper::{Response, StatusCode};

use super::{Visit, html, page, protect};
use crate::admin::issuer_login::{BrowserCookies, PAGE, explain};
use crate::path::reply::Body;
use crate::services::{BrowserLoginError, LoginError};

impl Visit<'_> {
    /// A page with a link to where this browser began to log in to the server, or else to the plain page of the server.
    fn told_again(&self, status: StatusCode, sentence: &str, name: &str) -> Response<Body> {
        let begun = beginning(&self.cookies());
        let begun = begun.filter(|page| server_of_page(page) == Some(name));
        let address = begun.unwrap_or_else(|| format!("/connect/{name}"));
        html(status, &page::begin_again(sentence, &address))
    }

    pub(super) fn sign_in_again(&self, name: &str) -> Response<Body> {
        self.told_again(StatusCode::FORBIDDEN, page::SIGN_IN_AGAIN, name)
    }

    pub(super) fn failed(&self, name: &str, error: &LoginError) -> Response<Body> {
        let status = match error {
            LoginError::RedirectUri | LoginError::UnknownState => StatusCode::BAD_REQUEST,
            LoginError::NoClient => StatusCode::CONFLICT,
            LoginError::OAuth(_) => StatusCode::BAD_GATEWAY,
            LoginError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        tracing::info!(%error, "a caller could not log in to a server");
        let sentence = format!("The login did not succeed: {error}. Nothing was connected.");
        self.told_again(status, &sentence, name)
    }
}

/// The page of a server where this browser began to sign in, if it did.
fn beginning(cookies: &BrowserCookies<'_>) -> Option<String> {
    let page = cookies.get(PAGE);
    page.filter(|page| server_of_page(page).is_some())
}

/// The page for a browser that began to sign in here and could not; nothing for one that began elsewhere.
pub(in crate::admin) fn sign_in_failed(
    cookies: &BrowserCookies<'_>,
    error: &BrowserLoginError,
) -> Option<Response<Body>> {
    let address = beginning(cookies)?;
    let (status, sentence) = explain(error);
    let sentence = format!("{sentence} Nothing was connected.");
    let mut response = html(status, &page::begin_again(&sentence, &address));
    protect(response.headers_mut());
    Some(response)
}

/// The server of a page where a login begins; nothing for any other address.
fn server_of_page(page: &str) -> Option<&str> {
    let rest = page.strip_prefix("/connect/")?;
    let (name, query) = rest.split_once('?').unwrap_or((rest, ""));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"=&-_.".contains(&byte);
    (is_server_name(name) && query.bytes().all(is_plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::server_of_page;

    #[test]
    fn a_login_begins_at_a_page_of_a_server_only() {
        for page in ["/connect/crm", "/connect/crm?issuer=corp&for=0f"] {
            assert_eq!(server_of_page(page), Some("crm"), "{page}");
        }
        for other in [
            "https://evil.example/connect/crm",
            "//evil.example/connect/crm",
            "/connect//evil.example",
            "/connect/crm?x=//evil.example",
            "/connect/crm?x=%0d",
            "/connect/",
            "/mcp",
            "",
        ] {
            assert_eq!(server_of_page(other), None, "{other}");
        }
    }
}
