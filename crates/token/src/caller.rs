//! Who a token was issued to.

use std::collections::BTreeSet;
use std::fmt;

/// The identity that an accepted token proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The configured name of the issuer.
    pub issuer: String,
    /// The token's `sub`, or its `client_id`. Printable ASCII.
    pub subject: String,
    /// What the claim for groups lists. These are the issuer's words, of any characters.
    pub groups: BTreeSet<String>,
    /// The scopes that the token grants.
    pub scopes: BTreeSet<String>,
    /// When the token expires, in seconds since 1970.
    pub expires: u64,
}

/// The identity as it stands in rules and records: `corp:2482897`.
impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.issuer, self.subject)
    }
}
