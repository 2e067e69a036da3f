//! A token as it came: taken apart and checked for shape. Nothing in it is believed yet.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::algorithm::Algorithm;
use crate::json::{JsonError, Object, Value};
use crate::refusal::Refusal;

/// `typ` of access tokens: RFC 9068, and the general one that most issuers write. A media type may go without
/// `application/`.
const ACCESS_TOKEN_TYPES: [&str; 2] = ["at+jwt", "jwt"];

/// A signed token that was not verified. `Debug` shows none of it.
pub struct Token<'a> {
    /// What is signed: header and claims, as they came.
    pub(crate) message: &'a str,
    pub(crate) signature: Vec<u8>,
    pub(crate) algorithm: Algorithm,
    pub(crate) key_id: Option<String>,
    /// The JSON of the claims: an object without duplicate members.
    pub(crate) claims: Vec<u8>,
    issuer: String,
    /// Whether the header says that it is an access token of RFC 9068.
    pub(crate) has_access_type: bool,
}

impl<'a> Token<'a> {
    /// The most bytes of a token.
    pub const MAX_BYTES: usize = 16 * 1024;

    /// Takes a token apart. `jku`, `x5u` and `jwk` are not looked at: a token cannot bring its own key.
    pub fn parse(text: &'a str) -> Result<Self, Refusal> {
        if text.len() > Self::MAX_BYTES {
            return Err(Refusal::TooLarge);
        }
        let (message, signature) = text.rsplit_once('.').ok_or(Refusal::Malformed)?;
        let (header, claims) = message.split_once('.').ok_or(Refusal::Malformed)?;
        let (header, claims) = (decode(header)?, decode(claims)?);
        let signature = decode(signature)?;
        let header = read_object(&header)?;
        if header.get("crit").is_some() {
            return Err(Refusal::Critical);
        }
        let has_access_type = check_type(&header)?;
        let algorithm = header.get("alg").and_then(Value::as_str);
        let algorithm = algorithm.and_then(|name| Algorithm::from_name(&name));
        let algorithm = algorithm.ok_or(Refusal::Algorithm)?;
        let key_id = match header.get("kid") {
            Some(id) => Some(id.as_str().ok_or(Refusal::Malformed)?.into_owned()),
            None => None,
        };
        let issuer = read_object(&claims)?
            .get("iss")
            .and_then(|issuer| issuer.as_str().map(std::borrow::Cow::into_owned))
            .ok_or(Refusal::Issuer)?;
        Ok(Self {
            message,
            signature,
            algorithm,
            key_id,
            claims,
            issuer,
            has_access_type,
        })
    }

    /// What the token says its issuer is: only good for finding the configured issuer with exactly this URL.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }
}

impl std::fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

/// Whether the type is exactly that of an access token. No type at all is allowed, as RFC 7519 does.
fn check_type(header: &Object<'_>) -> Result<bool, Refusal> {
    let Some(value) = header.get("typ") else {
        return Ok(false);
    };
    let name = value
        .as_str()
        .ok_or(Refusal::TokenType)?
        .to_ascii_lowercase();
    let name = name.strip_prefix("application/").unwrap_or(&name);
    if !ACCESS_TOKEN_TYPES.contains(&name) {
        return Err(Refusal::TokenType);
    }
    Ok(name == "at+jwt")
}

/// Base64url without padding, and with no second spelling of the same bytes.
fn decode(part: &str) -> Result<Vec<u8>, Refusal> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| Refusal::Malformed)
}

fn read_object(bytes: &[u8]) -> Result<Object<'_>, Refusal> {
    Object::parse(bytes, Token::MAX_BYTES).map_err(Refusal::from)
}

impl From<JsonError> for Refusal {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::Malformed => Self::Malformed,
            JsonError::DuplicateMember => Self::DuplicateMember,
        }
    }
}
