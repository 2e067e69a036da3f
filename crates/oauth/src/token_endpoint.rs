//! The token endpoint: codes, refresh tokens and the client's own credentials become access tokens.

use std::sync::Arc;
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::HeaderValue;
use serde::Deserialize;

use crate::authorization::AuthorizationCode;
use crate::client_key::ClientKey;
use crate::error::OAuthError;
use crate::http::{Form, HttpClient};
use crate::secret::Secret;
use crate::server_metadata::ServerMetadata;

/// What `client_assertion_type` says of a signed assertion (RFC 7523, section 2.2).
const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// How a client proves who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientAuthentication {
    /// Not at all: a public client.
    None,
    /// By its secret in a header (`client_secret_basic`).
    Basic(Secret),
    /// By its secret in the form (`client_secret_post`).
    Post(Secret),
    /// By an assertion that is signed with its private key (`private_key_jwt`).
    PrivateKey(Arc<ClientKey>),
}

/// A client at one authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its identifier.
    pub id: String,
    /// How it proves who it is.
    pub authentication: ClientAuthentication,
}

/// What an access token is asked for with.
#[derive(Debug)]
pub enum Grant<'a> {
    /// The code of a login.
    AuthorizationCode(&'a AuthorizationCode),
    /// An earlier refresh token.
    RefreshToken(&'a Secret),
    /// Nothing but the client's own credentials.
    ClientCredentials,
}

/// Tokens that were granted.
#[derive(Debug, Deserialize)]
pub struct GrantedTokens {
    /// The access token.
    pub access_token: Secret,
    token_type: String,
    /// The token for the next refresh; without it, the old one stays valid.
    pub refresh_token: Option<Secret>,
    /// For how many seconds the access token is valid.
    pub expires_in: Option<u64>,
    /// The scopes that were granted, if they differ from what was asked for.
    pub scope: Option<String>,
}

impl Client {
    /// A client with a secret, which it shows in the way that the server supports. Without a list, the header is the
    /// standard's default.
    pub fn with_secret(id: &str, secret: Secret, server: &ServerMetadata) -> Self {
        let methods = &server.token_endpoint_auth_methods_supported;
        let supports = |name: &str| methods.iter().any(|method| method == name);
        let authentication = if !supports("client_secret_basic") && supports("client_secret_post") {
            ClientAuthentication::Post(secret)
        } else {
            ClientAuthentication::Basic(secret)
        };
        Self {
            id: id.to_owned(),
            authentication,
        }
    }

    /// A client without a secret.
    pub fn public(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            authentication: ClientAuthentication::None,
        }
    }

    /// A client with a private key.
    pub fn with_key(id: &str, key: ClientKey) -> Self {
        Self {
            id: id.to_owned(),
            authentication: ClientAuthentication::PrivateKey(Arc::new(key)),
        }
    }

    /// A form with these fields, and the client's credentials where they belong. `audience` is the authorization server
    /// that a signed assertion is for.
    pub(crate) fn form(&self, fields: &[(&str, &str)], audience: &str) -> Result<Form, OAuthError> {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(fields);
        let mut authorization = None;
        match &self.authentication {
            ClientAuthentication::None => {
                query.append_pair("client_id", &self.id);
            }
            ClientAuthentication::Post(secret) => {
                query.append_pair("client_id", &self.id);
                query.append_pair("client_secret", secret.expose());
            }
            ClientAuthentication::Basic(secret) => authorization = basic(&self.id, secret),
            ClientAuthentication::PrivateKey(key) => {
                let assertion = key.assertion(&self.id, audience, SystemTime::now())?;
                query.append_pair("client_id", &self.id);
                query.append_pair("client_assertion_type", JWT_BEARER);
                query.append_pair("client_assertion", assertion.expose());
            }
        }
        Ok(Form {
            body: query.finish(),
            authorization,
        })
    }
}

/// Both parts are encoded as in a form before they are joined (RFC 6749, section 2.3.1).
fn basic(id: &str, secret: &Secret) -> Option<HeaderValue> {
    let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encode(id), encode(secret.expose()));
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl Grant<'_> {
    /// Asks the token endpoint for an access token for `resource`.
    pub async fn request(
        &self,
        http: HttpClient,
        server: &ServerMetadata,
        client: &Client,
        resource: Option<&str>,
        scope: Option<&str>,
    ) -> Result<GrantedTokens, OAuthError> {
        let mut fields = self.fields();
        let optional = [("resource", resource), ("scope", scope)];
        fields.extend(
            optional
                .iter()
                .filter_map(|(name, value)| Some((*name, (*value)?))),
        );
        let form = client.form(&fields, &server.issuer)?;
        let what = "response of the token endpoint";
        let response = http.post_form(server.token_endpoint()?, form).await?;
        let granted: GrantedTokens = response.json(what)?;
        let is_usable = granted.token_type.eq_ignore_ascii_case("bearer")
            && HeaderValue::from_str(granted.access_token.expose()).is_ok()
            && !granted.access_token.expose().is_empty();
        is_usable
            .then_some(granted)
            .ok_or(OAuthError::Malformed { what })
    }

    fn fields(&self) -> Vec<(&'static str, &str)> {
        match self {
            Self::AuthorizationCode(response) => vec![
                ("grant_type", "authorization_code"),
                ("code", response.code.expose()),
                ("redirect_uri", &response.redirect_uri),
                ("code_verifier", response.verifier.expose()),
            ],
            Self::RefreshToken(token) => vec![
                ("grant_type", "refresh_token"),
                ("refresh_token", token.expose()),
            ],
            Self::ClientCredentials => vec![("grant_type", "client_credentials")],
        }
    }
}
