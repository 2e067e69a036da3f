//! Tokens that are signed with real keys, as issuers and as attackers would sign them.

mod accepted;
mod attacks;
mod introspection;
mod issuer;
mod key_sets;
mod oracle;
mod remembered;
