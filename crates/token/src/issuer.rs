//! An issuer whose tokens are accepted.

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
}
