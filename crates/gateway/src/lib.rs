//! The MCP gateway: an agent's call goes in, a server answers, and what comes back has been
//! inspected and recorded before the agent reads it.
//!
//! The life of a call is one page: `path/call.rs`. [`Gateway::start`] takes a
//! [`Config`](countersign_config::Config) and serves until it is stopped; [`WrappedServer`] is the same for one client over
//! the standard streams.
//!
//! ```no_run
//! use countersign_config::{Environment, parse};
//! use countersign_gateway::Gateway;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let file = r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "some-server"]}}}"#;
//! let (config, warnings) = parse(file, &Environment::process())?;
//! assert!(warnings.is_empty());
//! let gateway = Gateway::start(config).await?;
//! # Ok(())
//! # }
//! ```

mod admin;
mod catalogue;
mod catch_panic;
mod config_change;
mod detach_on_drop;
mod downstream;
mod events;
mod gateway;
pub mod health;
mod http;
mod path;
mod random;
mod services;
mod state;
mod supervise;

pub use admin::preview::{PreviewQuery, preview};
pub use countersign_classify as classify;
pub use countersign_client::ServerExit;
pub use countersign_inspect as inspect;
pub use countersign_login::{AccessDecision, AccessRules, Hints, Item, RulePath, Subject};
pub use gateway::{
    Gateway, Key, KeyError, StartError, TlsError, WrappedServer, check_certificate, store_options,
    store_place, stored_admin_key, stored_api_key,
};
pub use random::ProcessRandomness;
