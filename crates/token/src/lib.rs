//! Which bearer tokens are accepted: signed JWTs (RFC 7519, RFC 9068) of issuers that the operator configured, for the
//! resource that is asked for. Everything in a token is chosen by its sender until its signature is verified, so the rules
//! are strict and few, and a refusal never quotes the token.
//!
//! - At most 16 KiB. No duplicate member at any depth, no `crit`, no second spelling of the base64.
//! - RSA (PKCS #1 and PSS), ECDSA over P-256 and P-384, Ed25519. No symmetric algorithm exists in this crate.
//! - `iss` is compared byte for byte with the configured issuer. The key is found by `kid`, which is only compared; its type
//!   must fit `alg`. `jku`, `x5u` and `jwk` are not read: a token cannot bring its key.
//! - `exp` and `aud` are required, `nbf` is honoured. A token that is bound to a key (`cnf`) is refused as a bearer token,
//!   and so is an ID token.
//!
//! The crate does no I/O and reads no clock: the keys and the time are arguments.
//!
//! ```
//! use countersign_token::{Issuer, KeySet, Token};
//!
//! // RFC 8037, appendix A.2: the issuer's only key.
//! let keys = KeySet::parse(
//!     br#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#,
//! )?;
//! let corp = Issuer::new("corp", "https://id.example.com");
//! let text = concat!(
//!     "eyJhbGciOiJFZERTQSJ9.",
//!     "eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUuY29tIiwic3ViIjoiMjQ4Mjg5NyIsImF1ZCI6Imh0dHBzOi8v",
//!     "dG9vbHMuZXhhbXBsZS5jb20vbWNwIiwiZXhwIjoyMDAwMDAwMDAwLCJzY29wZSI6Im1jcDp1c2UifQ.",
//!     "YewfFrQGrUHBVV6qmHxje7QMkrxjTNG24eK_gsi1tgGU_BBfsRb3cTHnxrF7oWFf4qkvEVchhNp8S6MJ2Ik3Aw",
//! );
//! let resource = "https://tools.example.com/mcp";
//! let token = Token::parse(text)?;
//! let caller = corp.verify(&token, &keys, resource, 1_900_000_000)?;
//! assert_eq!(caller.to_string(), "corp:2482897");
//! assert!(caller.scopes.contains("mcp:use"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why the verification is not left to `jsonwebtoken`
//!
//! Its cryptography can be replaced, but only by a provider for the whole process, which a library must not install behind
//! a program's back. Its validation reads the system's clock. And it needs `signature` 2, of which the workspace has
//! version 3. What would be left to it, splitting a text at two dots and one call, is here; the signatures are `ring`'s,
//! as those of TLS. `jsonwebtoken` with `RustCrypto` is the oracle of the tests: it has to agree on every token that the
//! tests make.

mod algorithm;
mod caller;
mod claims;
mod issuer;
mod json;
mod key_set;
mod public_key;
mod refusal;
mod token;
mod verification;
mod verified_tokens;

pub use caller::Caller;
pub use issuer::Issuer;
pub use key_set::{KeySet, KeySetError};
pub use refusal::Refusal;
pub use token::Token;
pub use verified_tokens::VerifiedTokens;
