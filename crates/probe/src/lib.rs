//! Contract and load testing of MCP servers, with the verdict the gateway gives.
//!
//! The crate is an MCP client of its own: it never sees the gateway, and holds what a server
//! answers to the schemas that server declared, by the same engine and the same inspection.
//!
//! ```
//! use countersign_probe::client::{Client, Options, Reply, Target};
//! use std::time::Duration;
//!
//! # use countersign_fixture::{Script, Tool, http};
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! # let script = Script::new("sample").tool(Tool::named("big").result(r#"{"content":[],"structuredContent":{"n":1.0}}"#));
//! # let server = http::Server::start(script, http::Format::Json).await?;
//! # let url = server.url();
//! let client = Client::connect(&Target::url(&url)?, &Options::default()).await?;
//! let exchange = client.call("big", b"{}", Duration::from_secs(5)).await;
//! let Ok(Reply::Result(result)) = exchange.reply else { panic!("no result") };
//! assert!(result.ends_with(br#""structuredContent":{"n":1.0}}"#), "kept as it was written");
//! client.close().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod compare;
pub mod contract;
pub mod judge;
pub mod load;
pub mod overhead;
pub mod plan;
pub mod policy;
mod random;
pub mod report;

pub use countersign_client as client;
