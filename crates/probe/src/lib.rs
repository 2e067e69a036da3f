//! Contract and load testing of MCP servers, with the verdict the gateway gives.
//!
//! The crate is an MCP client of its own: it never sees the gateway, and holds what a server
//! answers to the schemas that server declared, by the same engine and the same inspection.

pub mod client;
pub mod contract;
pub mod judge;
pub mod load;
pub mod plan;
pub mod policy;
pub mod report;
