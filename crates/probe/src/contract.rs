//! Contract testing: labelled cases made from the declared schemas, oracles, shrinking, baseline.
//!
//! A server's tool list is its promise. Here cases are made from that promise, each with a label
//! that says whether the server must take it, the label is confirmed by the engine the gateway
//! uses, and what the server answers is held to a table of oracles. Nothing is sent to a tool
//! that may destroy something unless it is allowed by name.

pub mod baseline;
pub mod case;
mod corpus;
pub mod diff;
mod examine;
pub mod generate;
mod leak;
pub mod oracle;
pub mod record;
pub mod render;
pub mod run;
pub mod safety;
mod session;
mod shrink;

pub use baseline::Baseline;
pub use case::{Case, Intent};
pub use record::{Pass, Record};
pub use run::{Run, RunError, Settings, ToolRun, run};
