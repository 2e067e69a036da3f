//! The rules for claims. They are the same for a signed token and for the answer of an introspection endpoint.

use std::collections::BTreeSet;

use crate::caller::Caller;
use crate::issuer::Issuer;
use crate::json::{Object, Value};
use crate::refusal::Refusal;

/// The longest subject: OpenID Connect allows 255.
const MAX_SUBJECT: usize = 256;
/// Claims that only an ID token has.
const ID_TOKEN_CLAIMS: [&str; 2] = ["at_hash", "c_hash"];

/// Checks the claims for one resource at one time; `now` is in seconds since 1970.
pub(crate) fn check(
    claims: &Object<'_>,
    issuer: &Issuer,
    resource: &str,
    now: u64,
) -> Result<Caller, Refusal> {
    if claims.get("cnf").is_some() {
        return Err(Refusal::Bound);
    }
    let expires = check_times(claims, issuer.clock_skew, now)?;
    check_audience(claims, issuer, resource)?;
    Ok(Caller {
        issuer: issuer.name.clone(),
        subject: read_subject(claims)?,
        groups: read_groups(claims, issuer.groups_claim.as_deref())?,
        scopes: read_scopes(claims)?,
        expires,
    })
}

/// Refuses ID tokens, which are made for the client and prove no permission. Issuers that give both kinds the same
/// audience exist, so the audience alone does not tell them apart.
pub(crate) fn refuse_id_token(claims: &Object<'_>, is_typed: bool) -> Result<(), Refusal> {
    let kind = claims.get("typ").and_then(Value::as_str);
    // Keycloak's own claim, which tells its access tokens (`Bearer`) from its other tokens.
    let is_bearer = kind.as_deref() == Some("Bearer");
    let has = |name: &&str| claims.get(name).is_some();
    let is_other_kind = !is_typed && kind.is_some() && !is_bearer;
    let has_nonce = !is_typed && !is_bearer && claims.get("nonce").is_some();
    if is_other_kind || has_nonce || ID_TOKEN_CLAIMS.iter().any(has) {
        return Err(Refusal::TokenType);
    }
    Ok(())
}

/// Gives the expiry.
fn check_times(claims: &Object<'_>, skew: u64, now: u64) -> Result<u64, Refusal> {
    let expires = claims.get("exp").and_then(Value::as_seconds);
    let expires = expires.ok_or(Refusal::NoExpiry)?;
    if expires.saturating_add(skew) <= now {
        return Err(Refusal::Expired);
    }
    if let Some(start) = claims.get("nbf") {
        let start = start.as_seconds().ok_or(Refusal::NotYetValid)?;
        if start > now.saturating_add(skew) {
            return Err(Refusal::NotYetValid);
        }
    }
    Ok(expires)
}

/// One of the token's audiences is the resource, or one that the operator listed.
fn check_audience(claims: &Object<'_>, issuer: &Issuer, resource: &str) -> Result<(), Refusal> {
    let audiences = claims.get("aud").and_then(Value::strings);
    let is_for_us = |audience: &str| {
        !audience.is_empty()
            && (audience == resource || issuer.audiences.iter().any(|own| own == audience))
    };
    match audiences {
        Some(audiences) if audiences.iter().any(|audience| is_for_us(audience)) => Ok(()),
        _ => Err(Refusal::Audience),
    }
}

/// `sub`, or `client_id` if there is no `sub`.
fn read_subject(claims: &Object<'_>) -> Result<String, Refusal> {
    let claim = claims.get("sub").or_else(|| claims.get("client_id"));
    let subject = claim.and_then(Value::as_str).ok_or(Refusal::Subject)?;
    let is_usable = !subject.is_empty()
        && subject.len() <= MAX_SUBJECT
        && subject.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    if !is_usable {
        return Err(Refusal::Subject);
    }
    Ok(subject.into_owned())
}

/// A token without the claim has no groups.
fn read_groups(claims: &Object<'_>, pointer: Option<&str>) -> Result<BTreeSet<String>, Refusal> {
    let claim = pointer.and_then(|pointer| claims.root().at_pointer(pointer));
    let Some(claim) = claim else {
        return Ok(BTreeSet::new());
    };
    let names = claim.strings().ok_or(Refusal::Claim)?;
    Ok(names
        .into_iter()
        .map(std::borrow::Cow::into_owned)
        .collect())
}

/// `scope` (RFC 9068, RFC 7662) and `scp` (Entra, Okta): words in a string, or an array of strings.
fn read_scopes(claims: &Object<'_>) -> Result<BTreeSet<String>, Refusal> {
    let mut scopes = BTreeSet::new();
    for name in ["scope", "scp"] {
        let Some(claim) = claims.get(name) else {
            continue;
        };
        for text in claim.strings().ok_or(Refusal::Claim)? {
            let words = text.split(' ').filter(|word| !word.is_empty());
            scopes.extend(words.map(str::to_owned));
        }
    }
    Ok(scopes)
}
