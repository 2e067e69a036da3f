//! JSON Schema for schemas and data from untrusted servers.
//!
//! A gateway compiles schemas that the other side declared and runs them on data that the other side sent. So both
//! halves are bounded: compiling by [`Limits`], validating by deterministic [`Fuel`]. Nothing recurses natively on
//! input, nothing is ever fetched, and numbers are compared exactly.
//!
//! ```
//! use countersign_schema::{Fuel, Limits, Outcome, compile};
//! use countersign_tape::{self as tape, Tape};
//!
//! let schema = compile(br#"{"type":"object","properties":{"id":{"type":"integer"}}}"#, &Limits::default())?;
//! let instance = Tape::parse(br#"{"id":"seven"}"#, &tape::Limits::default())?;
//! let mut fuel = Fuel::for_instance(&instance, 1.0);
//! let Outcome::Invalid(violations) = schema.validate(&instance, &mut fuel) else { panic!("it is invalid") };
//! assert_eq!(violations.first().to_string(), "type at /id: expected integer, got string");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod canonical;
mod compile;
mod dialect;
mod format;
mod fuel;
mod keyword;
mod limits;
mod metaschema;
mod number;
mod outcome;
mod pattern;
mod program;
mod read;
mod rules;
mod schema;
mod types;
mod unenforceable;
mod uri;
mod validate;

pub use dialect::Dialect;
pub use fuel::Fuel;
pub use limits::Limits;
pub use outcome::{Outcome, Segment, Verdict, Violation, Violations};
pub use read::ConformingValue;
pub use schema::{Compiler, Schema, compile};
pub use unenforceable::Unenforceable;
