//! The verification of a token, or of what an introspection endpoint says about one.

use crate::caller::Caller;
use crate::claims;
use crate::issuer::Issuer;
use crate::json::{Object, Value};
use crate::key_set::KeySet;
use crate::refusal::Refusal;
use crate::token::Token;

impl Issuer {
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
        if !key.verify(token.algorithm, message, &token.signature) {
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
