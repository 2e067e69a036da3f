//! What the Python and the Node package share. They move bytes and call back; everything that decides is here or in
//! `countersign-inspect`, so both languages give the same verdicts.
#![forbid(unsafe_code)]

mod body;
mod clean;
mod config;
mod delivery;
mod engine;
mod events;
mod fidelity;
mod lines;
mod randomness;
mod record;
mod schema;

pub use body::{BodyFilter, BodyFormat};
pub use clean::clean_text;
pub use config::ConfigError;
pub use countersign_inspect::{
    Boundary, Contract, Decision, Exchange, Finding, InputVerdict, Inspected,
};
pub use delivery::Delivery;
pub use engine::{Engine, Reading};
pub use fidelity::Fidelity;
pub use lines::LineFilter;
pub use schema::{CompiledSchema, SchemaError, SchemaOutcome};
