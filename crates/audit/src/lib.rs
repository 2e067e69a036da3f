//! A durable, queryable, tamper-evident record of every decision.
//!
//! A reply leaves only after its records are committed: [`Store::commit`] is the only maker of [`Recorded`], and whatever
//! demands a `Recorded` cannot be reached around the log. Records are kept as exact bytes in a hash chain whose head is
//! signed now and then; [`Reader::verify`] names the first byte that does not hold.
//!
//! ```
//! use countersign_audit::{Decision, Evidence, Kind, Mode, Options, Outcome, Query, Record, Store, Timestamp, TrustedKeys};
//!
//! let dir = tempfile::tempdir()?;
//! let store = Store::open(&Options::new(dir.path()))?;
//!
//! let mut call = Record::new(store.next_id(), Kind::ToolCall, Outcome::Success);
//! call.server = Some("stub".into());
//! call.tool = Some("bad_output".into());
//! let mut decision = Record::decided(store.next_id(), Decision::Blocked);
//! decision.parent_id = Some(call.id());
//! decision.mode = Some(Mode::Strict);
//! decision.reason = Some("output schema validation failed: type at /id: expected integer, got string".into());
//!
//! // In a runtime: `store.commit(reply, records).await`.
//! let recorded = store.commit_blocking("the reply", [call, decision]);
//! assert_eq!(recorded.evidence(), Evidence::Committed);
//! assert_eq!(recorded.into_value(), "the reply");
//!
//! let query = Query::from_pairs([("status", "blocked"), ("since", "1h")], Timestamp::now())?;
//! let page = store.reader().list(&query)?;
//! assert_eq!(page.activities.len(), 1);
//!
//! let trusted = TrustedKeys::of_data_dir(dir.path())?;
//! assert!(store.reader().verify(&trusted)?.is_intact());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chain;
mod digest;
mod export;
mod hours;
mod id;
mod preview;
mod private;
mod proof;
mod query;
mod record;
mod store;
mod summary;
mod time;

pub use countersign_inspect::UnknownWord;

pub use chain::{Checkpoint, CheckpointKind, KeyError, PublicKey, Signer, TrustedKeys};
pub use countersign_sanitise::{escape_controls, steers_terminal};
pub use digest::Digest;
pub use export::{ExportFormat, Exporter};
pub use hours::HourCounts;
pub use id::{Generator, Ids, NewId, NotAUlid, Ulid};
pub use preview::{MAX_LAST_CALLS, Preview, PreviewRow};
pub use proof::{
    LogHead, LogHeadError, Note, NoteError, Receipt, ReceiptError, SignatureLine, VerifiedReceipt,
    VerifierKey, VerifierKeyError,
};
pub use query::{Cursor, Filter, MAX_LIMIT, Query, QueryError};
pub use record::{
    Decision, DecodeError, Finding, Head, Kind, MAX_FINDINGS, Millis, Mode, Opening, Outcome,
    Payload, PayloadPolicy, Payloads, Record, Redactor, Severity, Source, Stage, Status,
    parse_rule,
};
pub use store::{
    Break, BreakKind, CapturedTool, CopyProgress, CopySummary, Durability, Evidence, Generation,
    GrantLease, GrantOwner, KeyDigest, NoReceipt, OnStoreError, Options, Page, PendingCall,
    PostgresError, Reader, Recorded, Retention, Revocation, SignedHead, Stats, Store, StoreError,
    StoredGrant, StoredRecord, Tail, ToolDeclaration, Verification, check_postgres_url,
    copy_to_postgres, migrate_postgres,
};
pub use summary::{GroupBy, Rising, Summary, SummaryRow};
pub use time::{NotATime, Timestamp, parse_period};
