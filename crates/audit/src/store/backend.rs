//! `Backend`: what a database must be able to answer. `Reader` is its public face. Every method blocks its thread.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::mpsc;

use super::error::NoReceipt;
use super::shared::Shared;
use super::writer::Job;
use super::{
    CapturedTool, Generation, GrantLease, GrantOwner, KeyDigest, Page, Revocation, StoreError,
    StoredGrant, StoredRecord, Tail, ToolDeclaration, Verification,
};
use crate::chain::TrustedKeys;
use crate::digest::Digest;
use crate::hours::HourCounts;
use crate::id::Ulid;
use crate::proof::Receipt;
use crate::query::{Filter, Query};
use crate::summary::{GroupBy, Summary};
use crate::time::Timestamp;

/// Answers questions, and keeps the catalogue. `Reader` says what each method is for.
pub(super) trait Backend: std::fmt::Debug + Send + Sync {
    fn list(&self, query: &Query) -> Result<Page, StoreError>;
    fn show(&self, id: Ulid) -> Result<Option<StoredRecord>, StoreError>;
    fn receipt(&self, id: Ulid) -> Result<Result<Receipt, NoReceipt>, StoreError>;
    fn consistency_proof(&self, old: u64, size: u64) -> Result<Vec<Digest>, StoreError>;
    fn add_cosignature(&self, size: u64, line: &str) -> Result<(), StoreError>;
    fn after(&self, seq: u64, filter: &Filter, limit: usize) -> Result<Tail, StoreError>;
    fn newest(&self) -> Result<u64, StoreError>;
    /// The place before the first record worth looking at for this filter, and the last place there is.
    fn bounds(&self, filter: &Filter) -> Result<(u64, u64), StoreError>;
    fn summary(&self, by: GroupBy, period: Duration, now: Timestamp)
    -> Result<Summary, StoreError>;
    fn hours(&self, period: Duration, now: Timestamp) -> Result<Vec<HourCounts>, StoreError>;
    fn verify(
        &self,
        trusted: &TrustedKeys,
        anchors: &[PathBuf],
    ) -> Result<Verification, StoreError>;
    fn put_tools(
        &self,
        server: &str,
        tools: &[ToolDeclaration<'_>],
    ) -> Result<Vec<Generation>, StoreError>;
    fn tool(
        &self,
        server: &str,
        tool: &str,
        generation: Option<u64>,
    ) -> Result<Option<CapturedTool>, StoreError>;
    fn tools(&self, server: &str) -> Result<Vec<CapturedTool>, StoreError>;
    fn remove_tools(&self, server: &str) -> Result<u64, StoreError>;
    fn grant(&self, owner: GrantOwner<'_>) -> Result<Option<StoredGrant>, StoreError>;
    fn put_grant(
        &self,
        owner: GrantOwner<'_>,
        issuer: &str,
        sealed: &[u8],
    ) -> Result<u64, StoreError>;
    fn grant_generations(&self, owners: &[GrantOwner<'_>]) -> Result<Vec<Option<u64>>, StoreError>;
    fn lease_grant(&self, owner: GrantOwner<'_>, lease: GrantLease<'_>)
    -> Result<bool, StoreError>;
    fn release_grant(
        &self,
        owner: GrantOwner<'_>,
        lease: GrantLease<'_>,
    ) -> Result<bool, StoreError>;
    fn swap_grant(
        &self,
        owner: GrantOwner<'_>,
        generation: u64,
        sealed: &[u8],
    ) -> Result<bool, StoreError>;
    fn remove_grant(&self, owner: GrantOwner<'_>) -> Result<bool, StoreError>;
    fn revoke(&self, revocation: Revocation<'_>) -> Result<bool, StoreError>;
    fn revoked(&self, keys: &[KeyDigest]) -> Result<Vec<KeyDigest>, StoreError>;
}

/// An open store: the queue of its writer, what its threads share, and the threads.
pub(super) struct OpenStore {
    pub(super) queue: mpsc::Sender<Job>,
    pub(super) shared: Arc<Shared>,
    pub(super) backend: Arc<dyn Backend>,
    pub(super) threads: Vec<JoinHandle<()>>,
    /// How long a caller waits for its records. `None`: until the writer answers.
    pub(super) patience: Option<Duration>,
}

pub(super) fn start_thread(
    name: &str,
    body: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, StoreError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(StoreError::Thread)
}
