//! An issuer whose tokens are accepted, and the verification of one of them.

use crate::caller::Caller;
use crate::claims;
use crate::json::{Object, Value};
use crate::key_set::KeySet;
use crate::refusal::Refusal;
use crate::token::Token;

/// What the operator configured about one issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer {
    /// The name in identities: `corp` in `corp:2482897`.
    pub name: String,
    /// The `iss` of its tokens, compared byte for byte.
    pub url: String,
    /// Audiences that are accepted beside the resource itself.
    pub audiences: Vec<String>,
    /// Where its tokens list groups: a JSON pointer into the claims, such as `/groups`.
    pub groups_claim: Option<String>,
    /// By how many seconds its clock may differ from ours.
    pub clock_skew: u64,
}

impl Issuer {
    /// The difference of clocks that is allowed unless the operator says otherwise.
    pub const DEFAULT_CLOCK_SKEW: u64 = 60;
    /// The most bytes of an introspection response.
    pub const MAX_INTROSPECTION: usize = 64 * 1024;

    /// An issuer without further settings.
    pub fn new(name: &str, url: &str) -> Self {
        Self {
            name: name.to_owned(),
            url: url.to_owned(),
            audiences: Vec::new(),
            groups_claim: None,
            clock_skew: Self::DEFAULT_CLOCK_SKEW,
        }
    }

    /// Verifies a token for one resource. `now` is in seconds since 1970.
    ///
    /// The claims are checked before the key is looked for: [`Refusal::UnknownKey`], which makes callers fetch the key
    /// set again, is only given for tokens that a newer key could make valid.
    pub fn verify(
        &self,
        token: &Token<'_>,
        keys: &KeySet,
        resource: &str,
        now: u64,
    ) -> Result<Caller, Refusal> {
        if token.issuer() != self.url {
            return Err(Refusal::Issuer);
        }
        let claims = Object::parse(&token.claims, Token::MAX_BYTES)?;
        claims::refuse_id_token(&claims, token.has_access_type)?;
        let caller = claims::check(&claims, self, resource, now)?;
        let key = keys.find(token.key_id.as_deref(), token.algorithm)?;
        let message = token.message.as_bytes();
        if !token.algorithm.verify(key, message, &token.signature) {
            return Err(Refusal::Signature);
        }
        Ok(caller)
    }

    /// Applies the same rules to the response of the issuer's introspection endpoint (RFC 7662). `iss` may be missing
    /// there, because the operator chose the endpoint; `exp` and `aud` may not.
    pub fn check_introspection(
        &self,
        response: &[u8],
        resource: &str,
        now: u64,
    ) -> Result<Caller, Refusal> {
        let claims = Object::parse(response, Self::MAX_INTROSPECTION)?;
        if !claims.get("active").is_some_and(Value::is_true) {
            return Err(Refusal::Inactive);
        }
        let is_other = |issuer: Value<'_>| issuer.as_str().as_deref() != Some(&self.url);
        if claims.get("iss").is_some_and(is_other) {
            return Err(Refusal::Issuer);
        }
        claims::check(&claims, self, resource, now)
    }
}
