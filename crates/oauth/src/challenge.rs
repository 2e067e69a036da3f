//! The `WWW-Authenticate` header of a resource (RFC 6750, RFC 9728): read from servers, and built for clients.

use hyper::StatusCode;
use hyper::header::{HeaderMap, WWW_AUTHENTICATE};

use crate::error::OAuthError;
use crate::http::HttpClient;

/// The longest header that is read.
const MAX_BYTES: usize = 8 * 1024;

/// A challenge for a bearer token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where the metadata of the resource is.
    pub resource_metadata: Option<String>,
    /// The scopes that a token needs, as one string.
    pub scope: Option<String>,
    /// Why the token that came was not enough: `invalid_token` or `insufficient_scope`.
    pub error: Option<String>,
}

impl Challenge {
    /// Reads the first `Bearer` challenge of a header; there may be challenges of other schemes around it. Of two
    /// parameters of one name, the challenge is not read at all.
    pub fn parse(header: &str) -> Option<Self> {
        if header.len() > MAX_BYTES {
            return None;
        }
        let mut found: Option<Self> = None;
        let mut rest = Scanner { text: header };
        loop {
            match (rest.next_item()?, &mut found) {
                (Item::End, _) | (Item::Scheme(_), Some(_)) => return found,
                (Item::Scheme(name), none) if name.eq_ignore_ascii_case("bearer") => {
                    *none = Some(Self::default());
                }
                (Item::Parameter(name, value), Some(challenge)) => challenge.set(name, value)?,
                _ => {}
            }
        }
    }

    /// Reads the first `Bearer` challenge of the headers of a response.
    fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let values = headers.get_all(WWW_AUTHENTICATE).iter();
        let mut texts = values.filter_map(|value| value.to_str().ok());
        texts.find_map(Self::parse)
    }

    /// Asks an MCP server what it needs, by a request without a token. Nothing if the server does not answer with 401.
    pub async fn of_server(http: HttpClient, url: &str) -> Result<Option<Self>, OAuthError> {
        // A request that means nothing outside of a session, for a server that needs no token.
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned();
        let response = http.post_json(url, ping).await?;
        let is_refused = response.status == StatusCode::UNAUTHORIZED;
        let challenge = is_refused.then(|| Self::from_headers(&response.headers));
        Ok(challenge.flatten())
    }

    fn set(&mut self, name: &str, value: String) -> Option<()> {
        let member = match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => &mut self.resource_metadata,
            "scope" => &mut self.scope,
            "error" => &mut self.error,
            _ => return Some(()),
        };
        member.is_none().then(|| *member = Some(value))
    }

    /// The value of the header. Characters that cannot stand in it are left out.
    pub fn to_header(&self) -> String {
        let mut text = String::from("Bearer");
        let members = [
            ("error", &self.error),
            ("resource_metadata", &self.resource_metadata),
            ("scope", &self.scope),
        ];
        let mut separator = " ";
        for (name, value) in members {
            let Some(value) = value else {
                continue;
            };
            let is_allowed =
                |c: &char| c.is_ascii_graphic() && !matches!(c, '"' | '\\') || *c == ' ';
            let value: String = value.chars().filter(is_allowed).collect();
            text.push_str(&[separator, name, "=\"", &value, "\""].concat());
            separator = ", ";
        }
        text
    }
}

enum Item<'a> {
    Scheme(&'a str),
    Parameter(&'a str, String),
    End,
}

struct Scanner<'a> {
    text: &'a str,
}

impl<'a> Scanner<'a> {
    /// The next scheme or parameter; nothing if the rest cannot be read.
    fn next_item(&mut self) -> Option<Item<'a>> {
        self.text = self.text.trim_start_matches([' ', '\t', ',']);
        if self.text.is_empty() {
            return Some(Item::End);
        }
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let end = self.text.find(|c| !is_token(c)).unwrap_or(self.text.len());
        let (name, rest) = self.text.split_at_checked(end).filter(|_| end > 0)?;
        let spaced = rest.trim_start_matches([' ', '\t']);
        let Some(value) = spaced
            .strip_prefix('=')
            .filter(|value| !value.starts_with('='))
        else {
            // Some schemes have a value such as `dGVzdA==` instead of parameters.
            self.text = rest.trim_start_matches('=');
            return Some(Item::Scheme(name));
        };
        let value = value.trim_start_matches([' ', '\t']);
        let value = if let Some(quoted) = value.strip_prefix('"') {
            self.quoted(quoted)?
        } else {
            let end = value.find([',', ' ', '\t']).unwrap_or(value.len());
            let (value, rest) = value.split_at(end);
            self.text = rest;
            value.to_owned()
        };
        Some(Item::Parameter(name, value))
    }

    /// The text of a quoted string, whose first quote is already gone.
    fn quoted(&mut self, text: &'a str) -> Option<String> {
        let mut value = String::new();
        let mut chars = text.char_indices();
        while let Some((index, c)) = chars.next() {
            match c {
                '"' => {
                    self.text = text.get(index + 1..)?;
                    return Some(value);
                }
                '\\' => value.push(chars.next()?.1),
                c => value.push(c),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(metadata: Option<&str>, scope: Option<&str>, error: Option<&str>) -> Challenge {
        Challenge {
            resource_metadata: metadata.map(str::to_owned),
            scope: scope.map(str::to_owned),
            error: error.map(str::to_owned),
        }
    }

    #[test]
    fn a_bearer_challenge_is_found() {
        let url = "https://a.example/.well-known/oauth-protected-resource";
        for (header, expected) in [
            ("Bearer", challenge(None, None, None)),
            (
                &format!("Bearer resource_metadata=\"{url}\", scope=\"a b\""),
                challenge(Some(url), Some("a b"), None),
            ),
            (
                "Basic realm=\"a, Bearer scope=\\\"x\\\"\", bearer error=invalid_token , scope = \"y\"",
                challenge(None, Some("y"), Some("invalid_token")),
            ),
            (
                "Negotiate YWJj==, Bearer scope=a",
                challenge(None, Some("a"), None),
            ),
            (
                "Bearer scope=\"a\", DPoP scope=\"b\"",
                challenge(None, Some("a"), None),
            ),
        ] {
            assert_eq!(Challenge::parse(header), Some(expected), "{header}");
        }
    }

    #[test]
    fn other_headers_are_not_read() {
        let long = format!("Bearer scope=\"{}\"", "x".repeat(MAX_BYTES));
        for header in [
            "",
            "Basic realm=\"x\"",
            "Bearer scope=\"a",
            "Bearer scope=\"a\", scope=\"b\"",
            "Bearer scope=\"a\\",
            "é",
            &long,
        ] {
            assert_eq!(Challenge::parse(header), None, "{header}");
        }
    }

    #[test]
    fn a_challenge_is_built_and_read_again() {
        let built = challenge(
            Some("https://a.example/x"),
            Some("a b"),
            Some("insufficient_scope"),
        );
        let header = built.to_header();
        assert_eq!(
            header,
            "Bearer error=\"insufficient_scope\", resource_metadata=\"https://a.example/x\", scope=\"a b\""
        );
        assert_eq!(Challenge::parse(&header), Some(built));
        let hostile = challenge(None, Some("a\"\r\nX: y\\"), None);
        assert_eq!(hostile.to_header(), "Bearer scope=\"aX: y\"");
        assert_eq!(Challenge::default().to_header(), "Bearer");
    }
}
