//! What clients are told about tokens: the challenge of a refused request, and the metadata of the gateway's endpoints.

use std::collections::BTreeSet;

use bytes::Bytes;
use hyper::header::{HeaderValue, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};

use super::response::{json, plain};
use crate::path::reply::Body;
use crate::state::guard::AccessRefusal;
use crate::state::{METADATA, TokenRules};

/// Adds the challenge to the response to a request that was refused for want of a token or of its scopes.
pub(crate) fn challenge(
    response: &mut Response<Body>,
    rules: &TokenRules,
    path: &str,
    refused: AccessRefusal,
) {
    let error = match refused {
        AccessRefusal::Key => None,
        AccessRefusal::Token(_) => Some("invalid_token"),
        AccessRefusal::Scope => Some("insufficient_scope"),
        _ => return,
    };
    set_challenge(response, &rules.challenge(path, error, &BTreeSet::new()));
}

/// Adds the challenge to the response to a call for which the caller's token lacks scopes: all of them at once.
pub(crate) fn challenge_scopes(
    response: &mut Response<Body>,
    rules: Option<&TokenRules>,
    path: &str,
    scopes: Vec<String>,
) {
    if let Some(rules) = rules.filter(|_| !scopes.is_empty()) {
        let scopes = scopes.into_iter().collect();
        let challenge = rules.challenge(path, Some("insufficient_scope"), &scopes);
        set_challenge(response, &challenge);
    }
}

fn set_challenge(response: &mut Response<Body>, challenge: &str) {
    // A challenge consists of printable ASCII.
    if let Ok(value) = HeaderValue::from_str(challenge) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
}

/// The metadata of the endpoint that an address below the well-known one names. The bare address is that of `/mcp`. Anyone
/// may read it, and it is the same whether a server exists or not.
pub(crate) fn resource_metadata(rules: Option<&TokenRules>, path: &str) -> Response<Body> {
    let endpoint = path.strip_prefix(METADATA).unwrap_or_default();
    let endpoint = if endpoint.is_empty() {
        "/mcp"
    } else {
        endpoint
    };
    match rules.and_then(|rules| rules.metadata(endpoint)) {
        Some(metadata) => json(StatusCode::OK, Bytes::from(metadata)),
        None => plain(StatusCode::NOT_FOUND, "not found\n"),
    }
}
