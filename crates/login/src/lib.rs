//! Who calls the gateway, and with which tokens, in both directions.
//!
//! Clients come in:
//!
//! - A [`Caller`] is the sender of a request, as far as it has proved who it is, with its rights.
//! - [`TokenRules`] say which tokens of OAuth issuers are accepted, and [`Issuers`] verify them.
//! - [`BrowserLogins`] are the logins of users at such an issuer, and [`SignedInBrowsers`] remembers them.
//! - [`AccessRules`] decide what a caller may see and use.
//!
//! Requests go out to servers: [`Grants`] gives them the tokens that the gateway or a caller has for a server. It does the
//! login, keeps the tokens sealed in the store, and renews them.
//!
//! The crate serves no HTTP and has no tasks that run all the time: the gateway hands in requests, rules and the store.
//!
//! ```
//! use countersign_config::{Environment, parse};
//! use countersign_login::{AccessDecision, AccessRules, Caller, Item, RulePath};
//!
//! let file = r#"{"access": {"default": "deny", "rules": [{"callers": ["anonymous"], "allow": ["crm:find_*"]}]},
//!     "mcpServers": {"crm": {"command": "crm-server"}}}"#;
//! let (config, _) = parse(file, &Environment::empty())?;
//! let rules = AccessRules::new(&config).expect("not every caller may use everything");
//! let caller = Caller::anonymous();
//! let decide = |item| rules.decide(caller.subject(), Item::parse(item).expect("an item"));
//! assert_eq!(decide("crm:find_user"), AccessDecision::Permit(RulePath::Rule(0)));
//! assert_eq!(decide("crm:remove_user"), AccessDecision::Denied(RulePath::Default));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod browser_login;
mod caller;
mod grants;
mod issuers;
mod secrets;
mod signed_in_browsers;
mod token_rules;

pub use access::{AccessDecision, AccessRules, Hints, Item, RulePath, Subject};
pub use browser_login::{
    BegunLogin, BrowserLoginError, BrowserLogins, LOGIN_CALLBACK, LOGIN_LIFETIME, SignedIn,
};
pub use caller::{ANONYMOUS, Caller, Right, Rights};
/// A token or another secret, which is never printed.
pub use countersign_oauth::Secret;
pub use grants::{
    CLIENT_DOCUMENT, CallerGrant, Grants, LoginError, LoginPreview, LoginRequest, Redirect,
    SealKey, client_document, client_document_url, connect_callback, server_document,
    server_document_name, server_document_url,
};
pub use issuers::{Issuers, TokenRefusal};
pub use secrets::{random_token, secret_digest};
pub use signed_in_browsers::{SignedInBrowser, SignedInBrowsers};
pub use token_rules::{IssuerRules, METADATA, TokenRules};
