//! OAuth as MCP uses it, in both directions: what a resource serves and needs (its metadata, the keys of issuers, the meaning
//! of opaque tokens), and what a client does to get a token (discovery, registration, login, tokens).
//!
//! Authorization servers are named by servers, and both are hostile until shown otherwise:
//!
//! - Requests go where [`Reach`] allows: public addresses over https; loopback and private ones only if the operator's own
//!   URL names such an address, or by a setting; link-local ones never. What is checked are the addresses that a name
//!   resolves to, and those are connected to.
//! - An exchange takes at most 5 s, a response has at most 64 KiB (a key set 256 KiB), redirects are not followed.
//! - The issuer in metadata and in responses is compared as a string, without normalising it.
//! - Errors name the rule, never a word that the server sent. Tokens, codes and secrets do not show in `Debug`.
//!
//! The crate stores nothing. Time limits of exchanges are those of the `tokio` runtime, and signed assertions name the time of
//! the system's clock; everything else that depends on time takes it as an argument.
//!
//! ```
//! use std::time::Instant;
//!
//! use countersign_oauth::{
//!     AuthorizationRequest, Challenge, Client, Grant, HttpClient, OAuthError, Reach,
//!     ResourceMetadata, ServerMetadata,
//! };
//!
//! let header = r#"Bearer resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp""#;
//! let challenge = Challenge::parse(header).expect("a bearer challenge");
//! let address = ResourceMetadata::address("https://tools.example.com/mcp");
//! assert_eq!(challenge.resource_metadata, address);
//!
//! # async fn login(server: &str, challenge: Challenge) -> Result<(), OAuthError> {
//! let http = HttpClient::new(Reach::from_url(server, false));
//! let resource = ResourceMetadata::discover(http, server, Some(&challenge)).await?;
//! let issuer = ServerMetadata::discover(http, &resource.authorization_servers[0]).await?;
//! let login = AuthorizationRequest {
//!     client_id: "countersign",
//!     redirect_uri: "http://127.0.0.1:7000/callback",
//!     resource: Some(&resource.resource),
//!     scope: None,
//! };
//! let (url, pending) = login.start(&issuer, Instant::now())?;
//! println!("open {url}");
//! # let query = "";
//! let code = pending.complete(query, Instant::now())?;
//! let client = Client::public("countersign");
//! let grant = Grant::AuthorizationCode(&code);
//! let tokens = grant.request(http, &issuer, &client, login.resource, None).await?;
//! # drop(tokens);
//! # Ok(()) }
//! ```

mod address;
mod authorization;
mod challenge;
mod client_key;
mod error;
mod http;
mod introspection;
mod key_source;
mod registration;
mod resource_metadata;
mod secret;
mod server_metadata;
mod token_endpoint;

pub use authorization::{AuthorizationCode, AuthorizationRequest, PendingAuthorization};
pub use challenge::Challenge;
pub use client_key::{ClientKey, SigningAlgorithm};
pub use countersign_dial::Reach;
pub use error::{OAuthError, RefusalCode};
pub use http::HttpClient;
pub use introspection::Introspector;
pub use key_source::{CurrentKeys, KeySource, KeyStatus, NoKeys};
pub use registration::ClientMetadata;
pub use resource_metadata::ResourceMetadata;
pub use secret::Secret;
pub use server_metadata::ServerMetadata;
pub use token_endpoint::{Client, ClientAuthentication, Grant, GrantedTokens};
