//! A durable, queryable, tamper-evident record of every decision.

#![expect(
    dead_code,
    reason = "the index that uses these comes with the next commit"
)]

mod chain;
mod digest;
mod id;
mod record;
mod store;
mod time;

pub use chain::{Checkpoint, CheckpointKind, KeyError, PublicKey, Signer, TrustedKeys};
pub use digest::Digest;
pub use id::{Generator, Ids, NotAUlid, Ulid};
pub use record::{
    Decision, Finding, Head, Kind, MAX_FINDINGS, Millis, Mode, Opening, Outcome, Payload,
    PayloadPolicy, Payloads, Record, Redactor, Severity, Source, Stage, Status, Undecodable,
    UnknownValue, parse_decision, parse_rule, parse_stage,
};
pub use store::{
    Break, BreakKind, CapturedTool, Durability, Evidence, Generation, OnStoreError, Options,
    Reader, Recorded, Retention, Stats, Store, StoreError, Verification,
};
pub use time::{NotATime, Timestamp, parse_period};
