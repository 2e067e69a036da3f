//! A durable, queryable, tamper-evident record of every decision.

mod chain;
mod digest;
mod export;
mod id;
mod query;
mod record;
mod store;
mod summary;
mod time;

pub use chain::{Checkpoint, CheckpointKind, KeyError, PublicKey, Signer, TrustedKeys};
pub use digest::Digest;
pub use export::{ExportFormat, Exporter};
pub use id::{Generator, Ids, NotAUlid, Ulid};
pub use query::{Cursor, Filter, MAX_LIMIT, Query, QueryError};
pub use record::{
    Decision, Finding, Head, Kind, MAX_FINDINGS, Millis, Mode, Opening, Outcome, Payload,
    PayloadPolicy, Payloads, Record, Redactor, Severity, Source, Stage, Status, Undecodable,
    UnknownValue, parse_decision, parse_rule, parse_stage,
};
pub use store::{
    Break, BreakKind, CapturedTool, Durability, Evidence, Generation, OnStoreError, Options, Page,
    Reader, Recorded, Retention, Stats, Store, StoreError, Stored, Tail, Verification,
};
pub use summary::{GroupBy, Rising, Summary, SummaryRow};
pub use time::{NotATime, Timestamp, parse_period};
