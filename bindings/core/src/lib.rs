//! What the Python, Node and WebAssembly bindings share. They move bytes and call back; everything that decides is here or in
//! `countersign-inspect`, so all languages give the same verdicts.
#![forbid(unsafe_code)]

mod body;
mod clean;
mod config;
mod connection;
mod delivery;
mod engine;
mod events;
mod fidelity;
mod http_exchange;
mod lines;
mod randomness;
mod record;
mod schema;
mod tool;
mod verdict;

pub use clean::clean_text;
pub use config::ConfigError;
pub use connection::Connection;
pub use delivery::Delivery;
pub use engine::{ArgumentsVerdict, Engine, Reading};
pub use fidelity::Fidelity;
pub use http_exchange::HttpExchange;
pub use lines::LineFilter;
pub use schema::{CompiledSchema, SchemaError, SchemaOutcome};
pub use tool::Tool;
pub use verdict::Verdict;

/// JSON text of values that always have one: words, numbers and texts.
fn json_array(values: &[impl serde::Serialize]) -> String {
    serde_json::to_string(values).unwrap_or_else(|_| "[]".to_owned())
}
