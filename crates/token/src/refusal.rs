//! Why a token is refused. The messages name the rule, never a word of the token: tokens are secrets, and their text is
//! chosen by the client that sends them.

use thiserror::Error;

/// Why a token is not accepted.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// It has more bytes than a token may have.
    #[error("the token is larger than 16 KiB")]
    TooLarge,
    /// It is not three base64url parts with JSON objects in the first two.
    #[error("the token is not a signed JWT")]
    Malformed,
    /// A JSON object in it has two members of one name, so two readers could see two tokens.
    #[error("the token has a duplicate member")]
    DuplicateMember,
    /// Its `alg` is missing, `none`, symmetric, or unknown.
    #[error("the token's algorithm is not accepted")]
    Algorithm,
    /// Its header has `crit`: extensions that have to be understood, of which there are none.
    #[error("the token demands an extension")]
    Critical,
    /// Its `typ` names something other than an access token.
    #[error("the token is not an access token")]
    TokenType,
    /// Its `iss` is missing, or is not exactly that of a configured issuer.
    #[error("the token is from another issuer")]
    Issuer,
    /// It is bound to a key (`cnf`) whose possession cannot be checked.
    #[error("the token is bound to a key that cannot be checked")]
    Bound,
    /// It has no `exp`, or one that is no time.
    #[error("the token has no usable expiry")]
    NoExpiry,
    /// Its `exp` has passed.
    #[error("the token has expired")]
    Expired,
    /// Its `nbf` is still ahead, or is no time.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// Its `aud` is missing, or names other services only.
    #[error("the token is for another audience")]
    Audience,
    /// It has neither `sub` nor `client_id`, or one that cannot stand in a record.
    #[error("the token names no usable subject")]
    Subject,
    /// The claim with the groups, or one with the scopes, has an unexpected type.
    #[error("the token's groups or scopes have an unexpected type")]
    Claim,
    /// The key set has no key of its `kid`; a newer key set may have it.
    #[error("the token is signed with an unknown key")]
    UnknownKey,
    /// The key of its `kid` is of another type than its `alg` needs, or is meant for another algorithm.
    #[error("the token's key does not fit its algorithm")]
    KeyType,
    /// The signature is not one of the key.
    #[error("the token's signature is wrong")]
    Signature,
    /// The authorization server says that the token is not, or no longer, valid.
    #[error("the token is not active")]
    Inactive,
}

impl Refusal {
    /// Every reason.
    pub const ALL: [Self; 18] = [
        Self::TooLarge,
        Self::Malformed,
        Self::DuplicateMember,
        Self::Algorithm,
        Self::Critical,
        Self::TokenType,
        Self::Issuer,
        Self::Bound,
        Self::NoExpiry,
        Self::Expired,
        Self::NotYetValid,
        Self::Audience,
        Self::Subject,
        Self::Claim,
        Self::UnknownKey,
        Self::KeyType,
        Self::Signature,
        Self::Inactive,
    ];

    /// The reason as a word, for labels of metrics.
    pub fn word(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::Malformed => "malformed",
            Self::DuplicateMember => "duplicate_member",
            Self::Algorithm => "algorithm",
            Self::Critical => "critical",
            Self::TokenType => "token_type",
            Self::Issuer => "issuer",
            Self::Bound => "bound",
            Self::NoExpiry => "no_expiry",
            Self::Expired => "expired",
            Self::NotYetValid => "not_yet_valid",
            Self::Audience => "audience",
            Self::Subject => "subject",
            Self::Claim => "claim",
            Self::UnknownKey => "unknown_key",
            Self::KeyType => "key_type",
            Self::Signature => "signature",
            Self::Inactive => "inactive",
        }
    }
}
