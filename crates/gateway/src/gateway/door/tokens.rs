//! Callers with a token of an authorization server.

use std::sync::Arc;

use hyper::Uri;

use crate::services::{Services, TokenRefusal};
use crate::state::guard::AccessRefusal;
use crate::state::{Caller, Right, TokenRules};

/// The parameter that RFC 6750 has for tokens in addresses.
const PARAMETER: &str = "access_token";

/// Refuses a token in the address, which proxies and browsers keep.
pub(super) fn refuse_in_query(uri: &Uri) -> Result<(), AccessRefusal> {
    let query = uri.query().unwrap_or_default();
    let mut names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
    if names.any(|name| name == PARAMETER) {
        return Err(AccessRefusal::TokenInQuery);
    }
    Ok(())
}

/// The caller of a token that is for the endpoint at this path.
pub(super) async fn verify(
    services: &Services,
    rules: &TokenRules,
    path: &str,
    token: &[u8],
) -> Result<Arc<Caller>, AccessRefusal> {
    // Every token is ASCII; what is not is one that no issuer made.
    let malformed = AccessRefusal::Token(countersign_token::Refusal::Malformed);
    let token = std::str::from_utf8(token).map_err(|_| malformed)?;
    let resource = rules.resource(path);
    let verified = services.issuers.verify(rules, token, &resource).await;
    let caller = verified.map_err(|refused| match refused {
        TokenRefusal::Invalid(refusal) => AccessRefusal::Token(refusal),
        TokenRefusal::Unreachable => AccessRefusal::IssuerUnreachable,
    })?;
    Ok(Arc::new(rules.caller(&caller)))
}

/// Why a caller without a right is refused: one with a token can ask its issuer for the scopes that MCP needs.
pub(super) fn without_right(caller: &Caller, need: Right) -> AccessRefusal {
    match need {
        Right::Call if caller.scopes.is_some() => AccessRefusal::Scope,
        _ => AccessRefusal::Right(need),
    }
}
