//! The MCP gateway: an agent's call goes in, a server answers, and what comes back has been
//! inspected and recorded before anyone reads it.
//!
//! ```
//! use countersign_gateway::config::{self, Environment};
//!
//! let file = r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "some-server"]}}}"#;
//! let (config, warnings) = config::parse(file, &Environment::empty())?;
//! assert_eq!(config.servers[0].name, "files");
//! assert!(warnings.is_empty());
//! # Ok::<(), config::ConfigError>(())
//! ```

pub mod config;
