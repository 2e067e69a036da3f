//! `Reader`: where questions go, and the catalogue. Cheap to clone; every method blocks its thread.
//!
//! The only thing it ever writes is the catalogue; it starts no chain.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign_inspect::Overrides;

use super::sqlite::{self, Database, catalogue, read, show, summarise, verify};
use super::{
    CapturedTool, Declared, Generation, Options, Page, StoreError, Stored, Tail, Verification,
};
use crate::chain::TrustedKeys;
use crate::id::Ulid;
use crate::preview::{Preview, PreviewTally};
use crate::query::{Filter, Query};
use crate::summary::{GroupBy, Summary};
use crate::time::Timestamp;

/// Records read at a time while all of them are read.
const EXPORT_STEP: usize = 500;

/// The reading side of a store, and its catalogue. Cheap to clone. Every method blocks.
#[derive(Debug, Clone)]
pub struct Reader {
    pub(super) database: Arc<Database>,
}

impl Reader {
    /// Opens an existing store to read it: no chain is started. Another process may be writing it.
    pub fn open(options: &Options) -> Result<Self, StoreError> {
        Ok(Self {
            database: Arc::new(sqlite::open_reader(options)?),
        })
    }

    /// A page of matching records, newest first. Stable while records arrive.
    pub fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.database
            .read(|connection| read::list(connection, query))
    }

    /// One record by its id.
    pub fn show(&self, id: Ulid) -> Result<Option<Stored>, StoreError> {
        self.database.read(|connection| show::show(connection, id))
    }

    /// Matching records after the place `seq`, oldest first, up to `limit`. Ask again from [`Tail::next`]. A follower resumes with
    /// the place of the last record it saw.
    pub fn after(&self, seq: u64, filter: &Filter, limit: usize) -> Result<Tail, StoreError> {
        self.database
            .read(|connection| read::after(connection, seq, filter, limit))
    }

    /// Counts over the hours that `period` before `now` touches.
    pub fn summary(
        &self,
        by: GroupBy,
        period: Duration,
        now: Timestamp,
    ) -> Result<Summary, StoreError> {
        self.database
            .read(|connection| summarise::summary(connection, by, period, now))
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

    /// Every matching record there is now, oldest first.
    pub(crate) fn for_each(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(&Stored) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let bounds = |connection: &_| read::bounds(connection, filter);
        let (mut place, last) = self.database.read(bounds)?;
        while place < last {
            let tail = self.after(place, filter, EXPORT_STEP)?;
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
        let files = &self.database.files;
        self.database
            .with(|connection| verify::verify(connection, files, trusted, anchors))
    }

    /// Remembers tools of a server, and lets go of what exceeds its share of the catalogue. Gives their generations, in order.
    pub fn put_tools(
        &self,
        server: &str,
        tools: &[Declared<'_>],
    ) -> Result<Vec<Generation>, StoreError> {
        let share = self.database.catalogue_share;
        self.database
            .with(|connection| catalogue::put(connection, server, tools, share))
    }

    /// A remembered tool: its newest generation, or the one asked for.
    pub fn tool(
        &self,
        server: &str,
        tool: &str,
        generation: Option<u64>,
    ) -> Result<Option<CapturedTool>, StoreError> {
        self.database
            .read(|connection| catalogue::get(connection, server, tool, generation))
    }

    /// The newest generation of every tool of a server.
    pub fn tools(&self, server: &str) -> Result<Vec<CapturedTool>, StoreError> {
        self.database
            .read(|connection| catalogue::list(connection, server))
    }

    /// Forgets a server's tools; says how many rows went.
    pub fn remove_tools(&self, server: &str) -> Result<u64, StoreError> {
        self.database
            .with(|connection| catalogue::remove(connection, server))
    }
}
