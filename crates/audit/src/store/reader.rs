//! `Reader`: where questions go, and the catalogue. Cheap to clone; every method blocks its thread.
//!
//! The only things it ever writes are the catalogue, the tokens for servers and revocations; it starts no chain.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign_inspect::Overrides;

use super::backend::Backend;
use super::open::open_reader;
use super::{
    CapturedTool, Generation, GrantLease, GrantOwner, KeyDigest, Options, Page, Revocation,
    StoreError, StoredGrant, StoredRecord, Tail, ToolDeclaration, Verification,
};
use crate::chain::TrustedKeys;
use crate::digest::Digest;
use crate::hours::HourCounts;
use crate::id::Ulid;
use crate::preview::{MAX_LAST_CALLS, NewestCalls, Preview, PreviewTally};
use crate::proof::{Receipt, SignatureLine};
use crate::query::{Cursor, Filter, MAX_LIMIT, Query};
use crate::summary::{GroupBy, Summary};
use crate::time::Timestamp;

/// Records read at a time while all of them are read.
const EXPORT_STEP: usize = 500;

/// The reading side of a store, and its catalogue. Cheap to clone. Every method blocks.
#[derive(Debug, Clone)]
pub struct Reader {
    pub(super) backend: Arc<dyn Backend>,
}

impl Reader {
    /// Opens an existing store to read it: no chain is started. Another process may be writing it.
    pub fn open(options: &Options) -> Result<Self, StoreError> {
        Ok(Self {
            backend: open_reader(options)?,
        })
    }

    /// A page of matching records, newest first. Stable while records arrive.
    pub fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.backend.list(query)
    }

    /// One record by its id.
    pub fn show(&self, id: Ulid) -> Result<Option<StoredRecord>, StoreError> {
        self.backend.show(id)
    }

    /// A receipt for one record: the proof, for a reader without this store, that the log holds it.
    pub fn receipt(&self, id: Ulid) -> Result<Receipt, StoreError> {
        Ok(self.backend.receipt(id)??)
    }

    /// The RFC 6962 proof that the log with `old` leaves is a prefix of the one with `size`, for a witness. Empty if either
    /// is empty, or if they are the same.
    pub fn consistency_proof(&self, old: u64, size: u64) -> Result<Vec<Digest>, StoreError> {
        self.backend.consistency_proof(old, size)
    }

    /// Keeps a witness's signature with the head that it is for, so that receipts carry it. The caller has checked it.
    pub fn add_cosignature(&self, size: u64, line: &SignatureLine) -> Result<(), StoreError> {
        self.backend.add_cosignature(size, &format!("{line}\n"))
    }

    /// Matching records after the place `seq`, oldest first, up to `limit`. Ask again from [`Tail::next`]. A follower resumes with
    /// the place of the last record it saw.
    pub fn records_after(
        &self,
        seq: u64,
        filter: &Filter,
        limit: usize,
    ) -> Result<Tail, StoreError> {
        self.backend.after(seq, filter, limit)
    }

    /// The place that a follower begins at to see only what comes from now on; 0 in an empty store.
    pub fn newest(&self) -> Result<u64, StoreError> {
        self.backend.newest()
    }

    /// Counts over the hours that `period` before `now` touches.
    pub fn summary(
        &self,
        by: GroupBy,
        period: Duration,
        now: Timestamp,
    ) -> Result<Summary, StoreError> {
        self.backend.summary(by, period, now)
    }

    /// The records of each hour that `period` before `now` touches, the oldest hour first. Added up they are those of
    /// [`Reader::summary`].
    pub fn hours(&self, period: Duration, now: Timestamp) -> Result<Vec<HourCounts>, StoreError> {
        self.backend.hours(period, now)
    }

    /// What strict mode would block of the matching calls, from what their records say was found. `overrides` is what the
    /// configuration says beside the mode, by server and tool. Memory does not depend on how many calls there are.
    pub fn preview(
        &self,
        filter: &Filter,
        overrides: &dyn Fn(&str, &str) -> Overrides,
    ) -> Result<Preview, StoreError> {
        let mut tally = PreviewTally::new(overrides);
        self.for_each(&PreviewTally::filter(filter), |record| {
            tally.add(&record.record);
            Ok(())
        })?;
        Ok(tally.finish(filter))
    }

    /// As [`Reader::preview`], of no more than the newest `calls` calls that match, and at most [`MAX_LAST_CALLS`]: what it
    /// costs does not depend on how many records there are.
    pub fn preview_last(
        &self,
        filter: &Filter,
        calls: usize,
        overrides: &dyn Fn(&str, &str) -> Overrides,
    ) -> Result<Preview, StoreError> {
        let calls = calls.min(MAX_LAST_CALLS);
        let mut newest = NewestCalls::new(calls);
        let mut query = Query {
            filter: PreviewTally::filter(filter),
            limit: MAX_LIMIT,
            ..Query::default()
        };
        while !newest.is_full() {
            // Twice as many records as calls are missing: most calls have one record, none has many.
            query.limit = newest.missing().saturating_mul(2).clamp(1, MAX_LIMIT);
            let page = self.list(&query)?;
            let has_more = page.next_cursor.is_some();
            for stored in page.activities {
                query.cursor = Some(Cursor { before: stored.seq });
                newest.push(stored.record);
            }
            if !has_more {
                break;
            }
        }
        let mut tally = PreviewTally::new(overrides);
        for record in newest.into_records() {
            tally.add(&record);
        }
        Ok(Preview {
            last: Some(calls),
            ..tally.finish(filter)
        })
    }

    /// Every matching record there is now, oldest first.
    pub(crate) fn for_each(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(&StoredRecord) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let (mut place, last) = self.backend.bounds(filter)?;
        while place < last {
            let tail = self.records_after(place, filter, EXPORT_STEP)?;
            for record in tail.records.iter().take_while(|record| record.seq <= last) {
                visit(record)?;
            }
            place = if tail.more { tail.next } else { last };
        }
        Ok(())
    }

    /// Walks every chain, link and checkpoint, and names the first break.
    pub fn verify(&self, trusted: &TrustedKeys) -> Result<Verification, StoreError> {
        self.verify_with_anchors(trusted, &[])
    }

    /// As [`Reader::verify`], and compares with copies of `checkpoints.log` that were kept elsewhere: what they were signed for
    /// has to be there, or to have been removed by retention.
    pub fn verify_with_anchors(
        &self,
        trusted: &TrustedKeys,
        anchors: &[PathBuf],
    ) -> Result<Verification, StoreError> {
        self.backend.verify(trusted, anchors)
    }

    /// Remembers tools of a server, and lets go of what exceeds its share of the catalogue. Gives their generations, in order.
    pub fn put_tools(
        &self,
        server: &str,
        tools: &[ToolDeclaration<'_>],
    ) -> Result<Vec<Generation>, StoreError> {
        self.backend.put_tools(server, tools)
    }

    /// A remembered tool: its newest generation, or the one asked for.
    pub fn tool(
        &self,
        server: &str,
        tool: &str,
        generation: Option<u64>,
    ) -> Result<Option<CapturedTool>, StoreError> {
        self.backend.tool(server, tool, generation)
    }

    /// The newest generation of every tool of a server.
    pub fn tools(&self, server: &str) -> Result<Vec<CapturedTool>, StoreError> {
        self.backend.tools(server)
    }

    /// The token of an owner.
    pub fn grant(&self, owner: GrantOwner<'_>) -> Result<Option<StoredGrant>, StoreError> {
        self.backend.grant(owner)
    }

    /// Stores a token in place of the one before, and gives its generation.
    pub fn put_grant(
        &self,
        owner: GrantOwner<'_>,
        issuer: &str,
        sealed: &[u8],
    ) -> Result<u64, StoreError> {
        self.backend.put_grant(owner, issuer, sealed)
    }

    /// The generations of these owners' tokens, in the order of the owners; nothing for an owner without a token.
    pub fn grant_generations(
        &self,
        owners: &[GrantOwner<'_>],
    ) -> Result<Vec<Option<u64>>, StoreError> {
        if owners.is_empty() {
            return Ok(Vec::new());
        }
        self.backend.grant_generations(owners)
    }

    /// Takes the lease of a generation; false if another holder has it, or the generation is gone.
    pub fn lease_grant(
        &self,
        owner: GrantOwner<'_>,
        lease: GrantLease<'_>,
    ) -> Result<bool, StoreError> {
        self.backend.lease_grant(owner, lease)
    }

    /// Gives a lease back.
    pub fn release_grant(
        &self,
        owner: GrantOwner<'_>,
        lease: GrantLease<'_>,
    ) -> Result<bool, StoreError> {
        self.backend.release_grant(owner, lease)
    }

    /// Stores the token after this generation; false if that generation is gone.
    pub fn swap_grant(
        &self,
        owner: GrantOwner<'_>,
        generation: u64,
        sealed: &[u8],
    ) -> Result<bool, StoreError> {
        self.backend.swap_grant(owner, generation, sealed)
    }

    /// Removes a token; false if there is none.
    pub fn remove_grant(&self, owner: GrantOwner<'_>) -> Result<bool, StoreError> {
        self.backend.remove_grant(owner)
    }

    /// Revokes a key or certificate, for every gateway that shares the store; false if it was revoked before. Revocations are never removed.
    pub fn revoke(&self, revocation: Revocation<'_>) -> Result<bool, StoreError> {
        self.backend.revoke(revocation)
    }

    /// Which of these keys have been revoked.
    pub fn revoked(&self, keys: &[KeyDigest]) -> Result<Vec<KeyDigest>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        self.backend.revoked(keys)
    }

    /// Forgets a server's tools; says how many rows went.
    pub fn remove_tools(&self, server: &str) -> Result<u64, StoreError> {
        self.backend.remove_tools(server)
    }
}
