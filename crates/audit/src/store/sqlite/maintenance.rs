//! The maintenance thread: indexes, checkpoints the write-ahead logs, applies retention, notices other processes' records.
//!
//! It works beside the writer and never in its way: short transactions, its own connections. When something fails it says so once
//! and tries again at the next turn.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::indexer::{self, BATCH, Indexer};
use super::retain::RetentionTask;
use super::tree::TreeTask;
use super::{Files, Upkeep};
use crate::store::StoreError;
use crate::store::stats::Counters;
use crate::store::writer::Job;

const TURN: Duration = Duration::from_millis(200);
const CHECKPOINT_TURN: Duration = Duration::from_secs(1);
const RETENTION_TURN: Duration = Duration::from_mins(1);
/// A write-ahead log beyond this is copied into its database.
const WAL_TO_COPY: u64 = 4 << 20;
/// Beyond this the writer itself must pause, or a busy log would grow for ever.
const WAL_TOO_LARGE: u64 = 64 << 20;
/// Batches indexed on the way out, so that the next reader finds little left to do.
const LAST_BATCHES: usize = 16;

/// What the thread does, each on connections of its own.
pub(super) struct Tasks {
    pub(super) indexer: Indexer,
    pub(super) tree: TreeTask,
    pub(super) retain: RetentionTask,
}

pub(super) struct Maintenance {
    indexer: Indexer,
    tree: TreeTask,
    retain: RetentionTask,
    files: Files,
    upkeep: Arc<Upkeep>,
    /// Weak: the writer must see the end of its queue although this thread goes on for a moment.
    queue: mpsc::WeakSender<Job>,
    failing: bool,
}

impl Maintenance {
    pub(super) fn new(
        tasks: Tasks,
        files: Files,
        upkeep: Arc<Upkeep>,
        queue: mpsc::WeakSender<Job>,
    ) -> Self {
        Self {
            indexer: tasks.indexer,
            tree: tasks.tree,
            retain: tasks.retain,
            files,
            upkeep,
            queue,
            failing: false,
        }
    }

    pub(super) fn run(mut self) {
        let mut checkpoint_at = Instant::now();
        let mut retention_at: Option<Instant> = None;
        while !self.upkeep.shared.stop.load(Ordering::Relaxed) {
            let result = self.index(usize::MAX);
            self.note("index", result);
            if checkpoint_at.elapsed() >= CHECKPOINT_TURN {
                checkpoint_at = Instant::now();
                self.tick();
                let result = self.shorten_wals();
                self.note("checkpoint", result);
            }
            if self.tree.is_due() || self.upkeep.shared.wants_final_log() {
                self.grow_tree();
            }
            let due = retention_at.is_none_or(|at| at.elapsed() >= RETENTION_TURN);
            let since = retention_at.map_or(CHECKPOINT_TURN, |at| at.elapsed());
            if due || since >= CHECKPOINT_TURN && self.retain.is_pressing(&self.indexer) {
                retention_at = Some(Instant::now());
                let result = self.retain.run(&self.indexer, &self.upkeep.shared);
                self.note("retention", result);
            }
            thread::park_timeout(TURN);
        }
        let result = self.index(LAST_BATCHES);
        self.note("index", result);
        self.upkeep.shared.await_writer();
        self.grow_tree();
    }

    fn grow_tree(&mut self) {
        let is_last = self.upkeep.shared.wants_final_log();
        let result = self.tree.run(&self.upkeep.shared);
        self.note("tree", result);
        if is_last {
            self.upkeep.shared.is_log_final.send_replace(true);
        }
    }

    /// Indexes what there is, and tells followers how far the store reaches, by which process it was written.
    fn index(&mut self, batches: usize) -> Result<(), StoreError> {
        let last = indexer::last(self.indexer.main()).map_err(StoreError::Read)?;
        self.upkeep.shared.publish(last);
        for _ in 0..batches {
            let (count, reached) = self.indexer.batch()?;
            Counters::add(&self.upkeep.shared.counters.indexed, count as u64);
            self.upkeep.indexed.store(reached, Ordering::Relaxed);
            if count < BATCH
                || self.upkeep.shared.stop.load(Ordering::Relaxed) && batches == usize::MAX
            {
                break;
            }
        }
        Ok(())
    }

    /// Asks the writer whether a checkpoint is due. A full queue means it is busy and will sign one by count.
    fn tick(&self) {
        if let Some(queue) = self.queue.upgrade() {
            queue.try_send(Job::Tick).ok();
        }
    }

    fn shorten_wals(&self) -> Result<(), StoreError> {
        for (connection, path) in [
            (self.indexer.main(), &self.files.main),
            (self.indexer.index(), &self.files.index),
        ] {
            if wal_length(path) > WAL_TO_COPY {
                connection
                    .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
                    .map_err(StoreError::Write)?;
            }
        }
        if wal_length(&self.files.main) > WAL_TOO_LARGE {
            self.upkeep.wal_is_large.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn note(&mut self, what: &str, result: Result<(), StoreError>) {
        match result {
            Ok(()) => self.failing = false,
            Err(error) => {
                if !self.failing {
                    let cause = std::error::Error::source(&error)
                        .map(ToString::to_string)
                        .unwrap_or_default();
                    tracing::warn!(what, %error, cause, "maintenance of the activity store failed; it will be tried again");
                }
                self.failing = true;
            }
        }
    }
}

fn wal_length(database: &std::path::Path) -> u64 {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}
