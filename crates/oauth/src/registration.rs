//! How a client becomes known to an authorization server: dynamic registration (RFC 7591), or a document about the client
//! whose address is the client's identifier.

use serde::{Deserialize, Serialize};

use crate::error::OAuthError;
use crate::http::HttpClient;
use crate::secret::Secret;
use crate::server_metadata::ServerMetadata;
use crate::token_endpoint::{Client, ClientAuthentication};

const WHAT: &str = "response of the registration endpoint";

/// What a client says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientMetadata {
    /// The address of the document; a registration goes without.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    client_name: String,
    redirect_uris: Vec<String>,
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'static str,
    application_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

impl ClientMetadata {
    /// A public client. It is a `native` application if a redirect address is on the loopback interface, otherwise `web`.
    pub fn new(name: &str, redirect_uris: &[String], scope: Option<&str>) -> Self {
        let is_loopback = |uri: &String| {
            let rest = uri.strip_prefix("http://");
            rest.is_some_and(|rest| {
                let hosts = ["127.0.0.1", "[::1]", "localhost"];
                hosts.iter().any(|host| rest.starts_with(host))
            })
        };
        let is_native = redirect_uris.iter().any(is_loopback);
        Self {
            client_id: None,
            client_name: name.to_owned(),
            redirect_uris: redirect_uris.to_vec(),
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: "none",
            application_type: if is_native { "native" } else { "web" },
            scope: scope.map(str::to_owned),
        }
    }

    /// The document to serve at `url`, which is the client's identifier.
    pub fn to_document(&self, url: &str) -> String {
        let document = Self {
            client_id: Some(url.to_owned()),
            ..self.clone()
        };
        document.to_json()
    }

    fn to_json(&self) -> String {
        // It consists of strings and lists of strings, which can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Registers the client.
    pub async fn register(
        &self,
        http: HttpClient,
        server: &ServerMetadata,
    ) -> Result<Client, OAuthError> {
        let what = "registration_endpoint";
        let endpoint = server.registration_endpoint.as_deref();
        let endpoint = endpoint.ok_or(OAuthError::NoEndpoint { what })?;
        let response = http.post_json(endpoint, self.to_json()).await?;
        response.json::<Registration>(WHAT)?.into_client()
    }
}

#[derive(Deserialize)]
struct Registration {
    client_id: String,
    client_secret: Option<Secret>,
    token_endpoint_auth_method: Option<String>,
}

impl Registration {
    /// The server may have chosen another method than the client asked for.
    fn into_client(self) -> Result<Client, OAuthError> {
        let method = self.token_endpoint_auth_method.as_deref();
        let authentication = match (method, self.client_secret) {
            (Some("none"), _) | (None, None) => ClientAuthentication::None,
            (Some("client_secret_post"), Some(secret)) => ClientAuthentication::Post(secret),
            (Some("client_secret_basic") | None, Some(secret)) => {
                ClientAuthentication::Basic(secret)
            }
            _ => return Err(OAuthError::Malformed { what: WHAT }),
        };
        if self.client_id.is_empty() {
            return Err(OAuthError::Malformed { what: WHAT });
        }
        Ok(Client {
            id: self.client_id,
            authentication,
        })
    }
}
