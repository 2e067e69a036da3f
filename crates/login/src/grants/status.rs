//! What an operator is told about the token of a server. The token itself is not part of it.

use std::time::{SystemTime, UNIX_EPOCH};

use countersign_audit::Timestamp;
use countersign_client::NoAuthorization;
use countersign_config::OAuthGrant;
use serde_json::{Value, json};

use super::server_grant::ServerGrant;

/// What is known about a token.
pub(super) async fn status(grant: &ServerGrant) -> Result<Value, NoAuthorization> {
    let mut status = json!({
        "server": &*grant.server,
        "grant": grant.oauth.grant.as_str(),
        "credentials": grant.oauth.credentials.as_str(),
    });
    if grant.is_of_caller() {
        status["caller"] = json!(&*grant.caller);
    }
    let missing: Vec<_> = grant.wanted_scopes().into_iter().collect();
    if !missing.is_empty() {
        status["missing_scopes"] = json!(missing);
    }
    if grant.oauth.grant == OAuthGrant::ClientCredentials {
        let is_there = grant.held().is_some_and(|held| held.is_fresh());
        status["state"] = json!(if is_there { "authorized" } else { "no_token" });
        return Ok(status);
    }
    let loaded = grant.load().await?;
    let is_given_up = |generation| grant.is_given_up(generation);
    let usable = loaded.filter(|loaded| !is_given_up(loaded.generation));
    let tokens = usable.and_then(|loaded| Some((loaded.issuer, loaded.tokens?)));
    let Some((issuer, tokens)) = tokens else {
        status["state"] = json!("needs_login");
        return Ok(status);
    };
    let can_refresh = tokens.refresh_token.is_some();
    let is_over = tokens.is_expired(SystemTime::now()) && !can_refresh;
    status["state"] = json!(if is_over { "needs_login" } else { "authorized" });
    status["issuer"] = json!(issuer);
    status["can_refresh"] = json!(can_refresh);
    if let Some(scope) = &tokens.scope {
        status["scope"] = json!(scope);
    }
    if let Some(expires_at) = tokens.expires_at.and_then(timestamp) {
        status["expires_at"] = json!(expires_at);
    }
    Ok(status)
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    let millis = u64::try_from(since.as_millis()).ok()?;
    Some(Timestamp::from_millis(millis))
}
