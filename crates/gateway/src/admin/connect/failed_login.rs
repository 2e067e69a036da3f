//! Pages of logins that did not succeed. Each has a link to begin again: the browser may have come back too late, or to another
//! gateway than the one that began the login, which then knows nothing about it. The sentences of errors name the rule, never a
//! word of the authorization server.

use countersign_config::is_server_name;
use hyper::{Response, StatusCode};

use super::{PAGE, Visit, html, page, told};
use crate::path::reply::Body;
use crate::services::{BrowserLoginError, LoginError};

impl Visit<'_> {
    /// The page where this browser began to log in to a server, or else the plain page of that server.
    fn beginning(&self, name: Option<&str>) -> Option<String> {
        let begun = self.cookie_value(PAGE);
        let is_it = |page: &String| {
            let server = server_of_page(page);
            server.is_some() && (name.is_none() || name == server)
        };
        let begun = begun.filter(is_it);
        begun.or_else(|| Some(format!("/connect/{}", name?)))
    }

    fn told_again(&self, status: StatusCode, sentence: &str, name: Option<&str>) -> Response<Body> {
        match self.beginning(name) {
            Some(address) => html(status, &page::begin_again(sentence, &address)),
            None => told(status, sentence),
        }
    }

    pub(super) fn sign_in_again(&self, name: &str) -> Response<Body> {
        self.told_again(StatusCode::FORBIDDEN, page::SIGN_IN_AGAIN, Some(name))
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
        self.told_again(status, &sentence, Some(name))
    }

    pub(super) fn sign_in_failed(&self, error: &BrowserLoginError) -> Response<Body> {
        let status = match error {
            BrowserLoginError::UnknownState => StatusCode::BAD_REQUEST,
            BrowserLoginError::Token => StatusCode::FORBIDDEN,
            BrowserLoginError::Unreachable | BrowserLoginError::OAuth(_) => StatusCode::BAD_GATEWAY,
        };
        tracing::info!(%error, "a user could not sign in with a browser");
        let sentence = format!("You are not signed in: {error}. Nothing was connected.");
        self.told_again(status, &sentence, None)
    }
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
