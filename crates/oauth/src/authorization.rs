//! The authorization request that a user's browser makes, and the response that comes back to the redirect address.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use subtle::ConstantTimeEq;

use crate::error::{OAuthError, RefusalCode};
use crate::secret::Secret;
use crate::server_metadata::ServerMetadata;

/// How long a user may take to log in.
const MAX_AGE: Duration = Duration::from_mins(10);

/// What a login asks for.
#[derive(Clone, Copy, Debug)]
pub struct AuthorizationRequest<'a> {
    /// The client's identifier at this authorization server.
    pub client_id: &'a str,
    /// Where the browser comes back to.
    pub redirect_uri: &'a str,
    /// The resource that the token is for (RFC 8707). Only servers that refuse the parameter go without.
    pub resource: Option<&'a str>,
    /// The scopes, separated by spaces.
    pub scope: Option<&'a str>,
}

/// A login under way. Completing it consumes it, so a response cannot be used twice.
#[derive(Debug)]
pub struct PendingAuthorization {
    state: Secret,
    verifier: Secret,
    redirect_uri: String,
    issuer: String,
    must_name_issuer: bool,
    started: Instant,
}

/// The code that the token endpoint takes, with what has to be sent along.
#[derive(Debug)]
pub struct AuthorizationCode {
    /// The code.
    pub code: Secret,
    /// The PKCE verifier, of which the authorization server knows the hash.
    pub verifier: Secret,
    /// The same redirect address as in the request.
    pub redirect_uri: String,
}

impl AuthorizationRequest<'_> {
    /// The URL for the browser, and what has to be kept until the browser comes back. Refused if the server does not offer
    /// PKCE with S256.
    pub fn start(
        &self,
        server: &ServerMetadata,
        now: Instant,
    ) -> Result<(String, PendingAuthorization), OAuthError> {
        let endpoint = server.login_endpoint()?;
        let pending = PendingAuthorization {
            state: Secret::random()?,
            verifier: Secret::random()?,
            redirect_uri: self.redirect_uri.to_owned(),
            issuer: server.issuer.clone(),
            must_name_issuer: server.authorization_response_iss_parameter_supported,
            started: now,
        };
        Ok((self.url(endpoint, &pending), pending))
    }

    fn url(&self, endpoint: &str, pending: &PendingAuthorization) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", self.client_id)
            .append_pair("redirect_uri", self.redirect_uri)
            .append_pair("state", pending.state.expose())
            .append_pair("code_challenge", &challenge(&pending.verifier))
            .append_pair("code_challenge_method", "S256");
        for (name, value) in [("resource", self.resource), ("scope", self.scope)] {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        let separator = if endpoint.contains('?') { '&' } else { '?' };
        format!("{endpoint}{separator}{}", query.finish())
    }
}

/// The hash of the verifier (RFC 7636, section 4.2).
fn challenge(verifier: &Secret) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.expose().as_bytes()))
}

impl PendingAuthorization {
    /// Whether a response belongs to this login. It tells which of several logins to complete; `state` is compared in
    /// constant time.
    pub fn matches_state(&self, state: &str) -> bool {
        self.state
            .expose()
            .as_bytes()
            .ct_eq(state.as_bytes())
            .into()
    }

    /// Checks the response: the query of the redirect address, without its question mark. `iss` is compared before anything
    /// else of the response is used, an error included (RFC 9207).
    pub fn complete(self, query: &str, now: Instant) -> Result<AuthorizationCode, OAuthError> {
        let response = Response::parse(query)?;
        let is_late = now.saturating_duration_since(self.started) > MAX_AGE;
        let state = response.state.as_deref().unwrap_or_default();
        if is_late || !self.matches_state(state) {
            return Err(OAuthError::StateMismatch);
        }
        match &response.iss {
            Some(issuer) if *issuer != self.issuer => return Err(OAuthError::IssuerMismatch),
            None if self.must_name_issuer => return Err(OAuthError::IssuerMismatch),
            _ => {}
        }
        if let Some(error) = &response.error {
            return Err(OAuthError::Refused(RefusalCode::from_name(error)));
        }
        let what = "response of the authorization server";
        let code = response.code.ok_or(OAuthError::Malformed { what })?;
        Ok(AuthorizationCode {
            code: Secret::new(code),
            verifier: self.verifier,
            redirect_uri: self.redirect_uri,
        })
    }
}

#[derive(Default)]
struct Response {
    code: Option<String>,
    state: Option<String>,
    iss: Option<String>,
    error: Option<String>,
}

impl Response {
    /// Refuses a parameter that occurs twice: two readers could take different ones.
    fn parse(query: &str) -> Result<Self, OAuthError> {
        let mut response = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let member = match &*name {
                "code" => &mut response.code,
                "state" => &mut response.state,
                "iss" => &mut response.iss,
                "error" => &mut response.error,
                _ => continue,
            };
            if member.replace(value.into_owned()).is_some() {
                let what = "response of the authorization server";
                return Err(OAuthError::Malformed { what });
            }
        }
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_standard() {
        // RFC 7636, appendix B.
        let verifier = Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(
            challenge(&verifier),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }
}
