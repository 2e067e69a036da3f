//! The metadata of an authorization server (RFC 8414, OpenID Connect Discovery).

use serde::Deserialize;

use crate::address::with_well_known;
use crate::error::OAuthError;
use crate::http::HttpClient;

const WHAT: &str = "metadata of the authorization server";

/// What an authorization server says about itself. Its endpoints were checked: each is an address that may be used.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct ServerMetadata {
    /// Its identifier: the URL that the metadata was found by.
    pub issuer: String,
    /// Where users log in.
    pub authorization_endpoint: Option<String>,
    /// Where codes and refresh tokens become access tokens.
    pub token_endpoint: Option<String>,
    /// Where clients register themselves.
    pub registration_endpoint: Option<String>,
    /// Where opaque tokens are explained.
    pub introspection_endpoint: Option<String>,
    /// Where its keys are.
    pub jwks_uri: Option<String>,
    /// The scopes that it knows.
    #[serde(default)]
    pub scopes_supported: Vec<String>,
    /// How clients may prove who they are at the token endpoint.
    #[serde(default)]
    pub token_endpoint_auth_methods_supported: Vec<String>,
    /// The methods of PKCE.
    #[serde(default)]
    pub code_challenge_methods_supported: Vec<String>,
    /// Whether its responses name it (RFC 9207).
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
    /// Whether a client may be identified by the address of a document about it.
    #[serde(default)]
    pub client_id_metadata_document_supported: bool,
}

impl ServerMetadata {
    /// Finds the metadata of an issuer: RFC 8414 first, then OpenID Connect in both of its places. The `issuer` in it must be
    /// the same string.
    pub async fn discover(client: HttpClient, issuer: &str) -> Result<Self, OAuthError> {
        client.check_address(issuer, "issuer")?;
        for url in addresses(issuer) {
            let response = client.get(&url).await;
            match response.and_then(|response| response.json::<Self>(WHAT)) {
                Err(OAuthError::Status(_) | OAuthError::Redirected(_) | OAuthError::Refused(_)) => {
                }
                found => return found?.check(client, issuer),
            }
        }
        Err(OAuthError::NoMetadata { what: WHAT })
    }

    fn check(self, client: HttpClient, issuer: &str) -> Result<Self, OAuthError> {
        if self.issuer != issuer {
            return Err(OAuthError::IssuerMismatch);
        }
        for (what, endpoint) in [
            ("authorization_endpoint", &self.authorization_endpoint),
            ("token_endpoint", &self.token_endpoint),
            ("registration_endpoint", &self.registration_endpoint),
            ("introspection_endpoint", &self.introspection_endpoint),
            ("jwks_uri", &self.jwks_uri),
        ] {
            if let Some(url) = endpoint {
                client.check_address(url, what)?;
            }
        }
        Ok(self)
    }

    /// Where users log in. Refused if the server does not offer PKCE with S256.
    pub fn login_endpoint(&self) -> Result<&str, OAuthError> {
        let what = "authorization_endpoint";
        let endpoint = self.authorization_endpoint.as_deref();
        let endpoint = endpoint.ok_or(OAuthError::NoEndpoint { what })?;
        let mut methods = self.code_challenge_methods_supported.iter();
        if !methods.any(|method| method == "S256") {
            return Err(OAuthError::NoPkce);
        }
        Ok(endpoint)
    }

    /// The token endpoint.
    pub(crate) fn token_endpoint(&self) -> Result<&str, OAuthError> {
        let what = "token_endpoint";
        let endpoint = self.token_endpoint.as_deref();
        endpoint.ok_or(OAuthError::NoEndpoint { what })
    }
}

/// Where the metadata may be, in the order of asking.
fn addresses(issuer: &str) -> Vec<String> {
    const OPENID: &str = "openid-configuration";
    let issuer = issuer.strip_suffix('/').unwrap_or(issuer);
    let oauth = with_well_known(issuer, "oauth-authorization-server", true);
    let inserted = with_well_known(issuer, OPENID, true);
    let appended = Some(format!("{issuer}/.well-known/{OPENID}"));
    let appended = appended.filter(|url| inserted.as_ref() != Some(url));
    [oauth, inserted, appended].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_looked_for_in_three_places() {
        assert_eq!(
            addresses("https://a.example/t1"),
            [
                "https://a.example/.well-known/oauth-authorization-server/t1",
                "https://a.example/.well-known/openid-configuration/t1",
                "https://a.example/t1/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            addresses("https://a.example/"),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ]
        );
    }
}
