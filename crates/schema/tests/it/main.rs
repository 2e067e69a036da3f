//! The engine's promises, through its public face only.
//!
//! Suites that need data read the directory that `COUNTERSIGN_TEST_DATA` names, and are ignored unless asked for.

mod allocations;
mod attacks;
mod dialects;
mod differential;
mod early_drafts;
mod explanations;
mod fuel;
mod keywords;
mod peers;
mod read;
mod suite;
mod support;
mod tool_schemas;

#[path = "../support/conform.rs"]
mod conform;
#[path = "../support/engines.rs"]
mod engines;
#[path = "../support/entropy.rs"]
mod entropy;
#[path = "../support/generate/schema.rs"]
mod generate;
#[path = "../support/reading.rs"]
mod reading;
