//! What a server and its authorization server say about themselves.

use countersign_config::{OAuthGrant, ResourceParameter};
use countersign_oauth::{Challenge, OAuthError, ResourceMetadata, ServerMetadata};

use super::server_grant::{ServerGrant, is_scope};

/// A client that asks for this scope gets a refresh token from servers that know the scope.
const OFFLINE: &str = "offline_access";

/// What was found.
#[derive(Debug)]
pub(super) struct Discovery {
    pub(super) metadata: ServerMetadata,
    resource: ResourceMetadata,
    challenge: Option<Challenge>,
}

impl Discovery {
    /// Asks the server for a challenge, then for its metadata, then its authorization server for that one's.
    pub(super) async fn run(grant: &ServerGrant) -> Result<Self, OAuthError> {
        let (http, url) = (grant.http, &*grant.url);
        let challenge = Challenge::of_server(http, url).await?;
        let resource = ResourceMetadata::discover(http, url, challenge.as_ref()).await?;
        let issuer = resource.authorization_servers.first();
        let what = "metadata of the resource";
        let issuer = issuer.ok_or(OAuthError::Malformed { what })?;
        Ok(Self {
            metadata: ServerMetadata::discover(http, issuer).await?,
            resource,
            challenge,
        })
    }

    /// The resource that a token is asked for.
    pub(super) fn resource(&self, grant: &ServerGrant) -> Option<String> {
        let is_sent = grant.oauth.resource == ResourceParameter::Send;
        is_sent.then(|| self.resource.resource.clone())
    }

    /// The scopes to ask for: those of the operator, or those that the server asks for; and those that it missed before.
    pub(super) fn scope(&self, grant: &ServerGrant, given: &[String]) -> Option<String> {
        let challenge = self.challenge.as_ref();
        let challenged = challenge.and_then(|challenge| challenge.scope.as_deref());
        let mut scopes: Vec<String> = if !given.is_empty() {
            given.to_vec()
        } else if !grant.oauth.scopes.is_empty() {
            grant.oauth.scopes.clone()
        } else if let Some(scope) = challenged {
            scope.split(' ').map(str::to_owned).collect()
        } else {
            self.resource.scopes_supported.clone()
        };
        scopes.extend(grant.wanted_scopes());
        let knows_offline = self
            .metadata
            .scopes_supported
            .iter()
            .any(|it| it == OFFLINE);
        if knows_offline && grant.oauth.grant == OAuthGrant::AuthorizationCode {
            scopes.push(OFFLINE.to_owned());
        }
        let mut asked: Vec<String> = Vec::new();
        for scope in scopes.into_iter().filter(|scope| is_scope(scope)) {
            if !asked.contains(&scope) {
                asked.push(scope);
            }
        }
        (!asked.is_empty()).then(|| asked.join(" "))
    }
}
