//! The metadata of a protected resource (RFC 9728): the document that a resource serves, and how a client finds it.

use serde::{Deserialize, Serialize};

use crate::address::{is_covered_by, with_well_known};
use crate::challenge::Challenge;
use crate::error::OAuthError;
use crate::http::HttpClient;

/// The well-known name of the document.
const WELL_KNOWN: &str = "oauth-protected-resource";
const WHAT: &str = "metadata of the resource";

/// What a resource says about itself.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct ResourceMetadata {
    /// The resource's identifier: a URL.
    pub resource: String,
    /// The issuers of tokens that it accepts.
    #[serde(default)]
    pub authorization_servers: Vec<String>,
    /// The scopes that clients may ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes_supported: Vec<String>,
    /// How tokens may be sent. A resource of ours takes them in the header only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bearer_methods_supported: Vec<String>,
    /// A name for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_name: Option<String>,
}

impl ResourceMetadata {
    /// The document for a resource of ours.
    pub fn new(resource: &str, authorization_servers: &[String], scopes: &[String]) -> Self {
        Self {
            resource: resource.to_owned(),
            authorization_servers: authorization_servers.to_vec(),
            scopes_supported: scopes.to_vec(),
            bearer_methods_supported: vec!["header".to_owned()],
            resource_name: None,
        }
    }

    /// The document as JSON.
    pub fn to_json(&self) -> String {
        // It consists of strings and lists of strings, which can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Where the document of a resource is served; nothing if the resource is no URL.
    pub fn address(resource: &str) -> Option<String> {
        with_well_known(resource, WELL_KNOWN, true)
    }

    /// Finds the document of a server: where its challenge says, then below the well-known name with the server's path, then
    /// without. The resource in it must be the server's URL, or a URL above it on the same origin.
    pub async fn discover(
        client: HttpClient,
        server: &str,
        challenge: Option<&Challenge>,
    ) -> Result<Self, OAuthError> {
        let from_header = challenge.and_then(|challenge| challenge.resource_metadata.clone());
        if let Some(url) = from_header {
            return Self::fetch(client, server, &url).await;
        }
        let with_path = with_well_known(server, WELL_KNOWN, true);
        let at_root =
            with_well_known(server, WELL_KNOWN, false).filter(|it| with_path.as_ref() != Some(it));
        for url in with_path.iter().chain(&at_root) {
            match Self::fetch(client, server, url).await {
                Err(OAuthError::Status(_) | OAuthError::Redirected(_) | OAuthError::Refused(_)) => {
                }
                found => return found,
            }
        }
        Err(OAuthError::NoMetadata { what: WHAT })
    }

    async fn fetch(client: HttpClient, server: &str, url: &str) -> Result<Self, OAuthError> {
        client.check_address(url, "resource_metadata")?;
        let found: Self = client.get(url).await?.json(WHAT)?;
        if !is_covered_by(server, &found.resource) {
            return Err(OAuthError::ResourceMismatch);
        }
        for issuer in &found.authorization_servers {
            client.check_address(issuer, "authorization_servers")?;
        }
        Ok(found)
    }
}
