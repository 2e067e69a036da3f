//! The tokens of one server with everything that is needed to exchange them: what is sealed and stored.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_oauth::{Client, ClientAuthentication, GrantedTokens, Secret};
use hyper::header::HeaderValue;
use serde::{Deserialize, Serialize};

/// A token is exchanged so long before it expires, so that it does not expire on its way.
const MARGIN: Duration = Duration::from_secs(30);

/// Tokens, and the client that they were given to.
pub(super) struct Tokens {
    pub(super) access_token: Secret,
    pub(super) refresh_token: Option<Secret>,
    pub(super) expires_at: Option<SystemTime>,
    /// When they were given out.
    pub(super) obtained_at: SystemTime,
    pub(super) scope: Option<String>,
    /// The scopes that the login asked for: an authorization server may have granted fewer.
    pub(super) asked_scope: Option<String>,
    /// The scopes that the server missed since, for the next login.
    pub(super) wanted_scope: Option<String>,
    pub(super) client: Client,
    /// The resource that they are for, unless the parameter is left out.
    pub(super) resource: Option<String>,
    /// Where the login came back to. A registered client is used again for the same address only.
    pub(super) redirect_uri: Option<String>,
}

/// The same in the form that is sealed.
#[derive(Deserialize, Serialize)]
struct StoredTokens {
    access_token: String,
    refresh_token: Option<String>,
    expires_at: Option<u64>,
    obtained_at: u64,
    scope: Option<String>,
    #[serde(default)]
    asked_scope: Option<String>,
    #[serde(default)]
    wanted_scope: Option<String>,
    client_id: String,
    client_secret: Option<String>,
    in_form: bool,
    resource: Option<String>,
    redirect_uri: Option<String>,
}

impl Tokens {
    /// Takes over what the token endpoint gave. Where it is silent, what was asked for holds.
    pub(super) fn granted(
        granted: GrantedTokens,
        client: Client,
        resource: Option<String>,
        asked_scope: Option<String>,
    ) -> Self {
        let now = SystemTime::now();
        let lifetime = granted.expires_in.map(Duration::from_secs);
        Self {
            access_token: granted.access_token,
            refresh_token: granted.refresh_token,
            expires_at: lifetime.and_then(|lifetime| now.checked_add(lifetime)),
            obtained_at: now,
            scope: granted.scope.or_else(|| asked_scope.clone()),
            asked_scope,
            wanted_scope: None,
            client,
            resource,
            redirect_uri: None,
        }
    }

    /// The tokens after these. Without a new refresh token, the old one stays valid.
    pub(super) fn succeeded_by(&self, granted: GrantedTokens) -> Self {
        let (client, resource) = (self.client.clone(), self.resource.clone());
        let next = Self::granted(granted, client, resource, self.scope.clone());
        Self {
            refresh_token: next.refresh_token.or_else(|| self.refresh_token.clone()),
            redirect_uri: self.redirect_uri.clone(),
            asked_scope: self.asked_scope.clone(),
            wanted_scope: self.wanted_scope.clone(),
            ..next
        }
    }

    /// The scopes that were granted or asked for.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &str> {
        let both = [&self.scope, &self.asked_scope];
        let scopes = both.into_iter().flatten();
        scopes.flat_map(|scopes| scopes.split(' '))
    }

    /// Whether the access token can be used for a while. The margin is less for a token that does not live long.
    pub(super) fn is_fresh(&self, now: SystemTime) -> bool {
        let Some(expires_at) = self.expires_at else {
            return true;
        };
        let lifetime = expires_at.duration_since(self.obtained_at);
        let margin = MARGIN.min(lifetime.unwrap_or_default() / 4);
        now.checked_add(margin)
            .is_some_and(|then| then < expires_at)
    }

    /// Whether the access token has expired.
    pub(super) fn is_expired(&self, now: SystemTime) -> bool {
        self.expires_at.is_some_and(|expires_at| now >= expires_at)
    }

    /// The header for requests, which does not show in `Debug`.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let text = format!("Bearer {}", self.access_token.expose());
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let text = |secret: &Secret| secret.expose().to_owned();
        let (client_secret, in_form) = match &self.client.authentication {
            // The configuration has the key.
            ClientAuthentication::None | ClientAuthentication::PrivateKey(_) => (None, false),
            ClientAuthentication::Basic(secret) => (Some(text(secret)), false),
            ClientAuthentication::Post(secret) => (Some(text(secret)), true),
        };
        let stored = StoredTokens {
            access_token: text(&self.access_token),
            refresh_token: self.refresh_token.as_ref().map(text),
            expires_at: self.expires_at.map(seconds),
            obtained_at: seconds(self.obtained_at),
            scope: self.scope.clone(),
            asked_scope: self.asked_scope.clone(),
            wanted_scope: self.wanted_scope.clone(),
            client_id: self.client.id.clone(),
            client_secret,
            in_form,
            resource: self.resource.clone(),
            redirect_uri: self.redirect_uri.clone(),
        };
        // Strings and numbers can always be written.
        serde_json::to_vec(&stored).unwrap_or_default()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let stored: StoredTokens = serde_json::from_slice(bytes).ok()?;
        let authentication = match (stored.client_secret.map(Secret::new), stored.in_form) {
            (None, _) => ClientAuthentication::None,
            (Some(secret), false) => ClientAuthentication::Basic(secret),
            (Some(secret), true) => ClientAuthentication::Post(secret),
        };
        let time = |seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        Some(Self {
            access_token: Secret::new(stored.access_token),
            refresh_token: stored.refresh_token.map(Secret::new),
            expires_at: stored.expires_at.and_then(time),
            obtained_at: time(stored.obtained_at)?,
            scope: stored.scope,
            asked_scope: stored.asked_scope,
            wanted_scope: stored.wanted_scope,
            client: Client {
                id: stored.client_id,
                authentication,
            },
            resource: stored.resource,
            redirect_uri: stored.redirect_uri,
        })
    }
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(lifetime: Option<u64>) -> Tokens {
        let now = UNIX_EPOCH + Duration::from_secs(1_000_000);
        Tokens {
            access_token: Secret::new("access"),
            refresh_token: Some(Secret::new("refresh")),
            expires_at: lifetime.map(|lifetime| now + Duration::from_secs(lifetime)),
            obtained_at: now,
            scope: Some("a b".to_owned()),
            asked_scope: Some("a b c".to_owned()),
            wanted_scope: Some("d".to_owned()),
            client: Client {
                id: "client".to_owned(),
                authentication: ClientAuthentication::Post(Secret::new("secret")),
            },
            resource: Some("https://crm.example/mcp".to_owned()),
            redirect_uri: None,
        }
    }

    #[test]
    fn tokens_are_the_same_after_storing() {
        let before = tokens(Some(60));
        let after = Tokens::from_bytes(&before.to_bytes()).expect("read");
        assert!(after.access_token == before.access_token);
        assert!(after.refresh_token == before.refresh_token);
        assert_eq!(after.expires_at, before.expires_at);
        assert_eq!(after.client, before.client);
        assert_eq!(after.resource, before.resource);
        assert!(Tokens::from_bytes(b"{}").is_none());
    }

    #[test]
    fn a_token_is_exchanged_before_it_expires() {
        let at = |tokens: &Tokens, second| tokens.obtained_at + Duration::from_secs(second);
        let long = tokens(Some(3600));
        assert!(long.is_fresh(at(&long, 3569)) && !long.is_fresh(at(&long, 3571)));
        let short = tokens(Some(8));
        assert!(short.is_fresh(at(&short, 5)) && !short.is_fresh(at(&short, 6)));
        assert!(!short.is_expired(at(&short, 7)) && short.is_expired(at(&short, 8)));
        let lasting = tokens(None);
        assert!(lasting.is_fresh(at(&lasting, u64::from(u32::MAX))));
        let header = long.header().expect("a header");
        assert_eq!(format!("{header:?}"), "Sensitive");
    }
}
