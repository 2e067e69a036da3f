//! Opaque tokens: the authorization server is asked what they mean (RFC 7662).

use countersign_token::{Caller, Issuer, Refusal};
use tokio::sync::Semaphore;

use crate::error::OAuthError;
use crate::http::HttpClient;
use crate::token_endpoint::Client;

/// How many questions are asked at a time: a flood of made-up tokens must not become a flood at the server.
const MAX_QUESTIONS: usize = 8;

/// Asks one introspection endpoint.
#[derive(Debug)]
pub struct Introspector {
    http: HttpClient,
    endpoint: String,
    client: Client,
    permits: Semaphore,
}

impl Introspector {
    /// Asks `endpoint` as `client`.
    pub fn new(http: HttpClient, endpoint: &str, client: Client) -> Result<Self, OAuthError> {
        http.check_address(endpoint, "introspection_endpoint")?;
        Ok(Self {
            http,
            endpoint: endpoint.to_owned(),
            client,
            permits: Semaphore::new(MAX_QUESTIONS),
        })
    }

    /// Asks about a token. The outer error means that the server gave no verdict; the inner one is the verdict.
    pub async fn ask(
        &self,
        token: &str,
        issuer: &Issuer,
        resource: &str,
        now: u64,
    ) -> Result<Result<Caller, Refusal>, OAuthError> {
        let permit = self.permits.acquire().await;
        let _permit = permit.map_err(|_| OAuthError::TimedOut)?;
        let fields = [("token", token), ("token_type_hint", "access_token")];
        let form = self.client.form(&fields, &self.endpoint)?;
        let response = self.http.post_form(&self.endpoint, form).await?;
        if !response.status.is_success() {
            return Err(OAuthError::Status(response.status.as_u16()));
        }
        Ok(issuer.check_introspection(&response.body, resource, now))
    }
}
