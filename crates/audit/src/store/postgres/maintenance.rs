//! The maintenance thread: tells followers of new records, asks the writer for checkpoints, and, in one gateway at a
//! time, counts records, makes days ahead and applies retention.
//!
//! It has a connection of its own. When something fails it says so once, connects again and goes on.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::address::Address;
use super::connection::Connection;
use super::error::PostgresError;
use super::retain::RetentionTask;
use super::tree::TreeTask;
use super::{clock, days, read, rollup};
use crate::store::shared::Shared;
use crate::store::stats::Counters;
use crate::store::writer::Job;

/// How often followers are told, while there are any.
const TURN: Duration = Duration::from_millis(250);
const TICK_TURN: Duration = Duration::from_secs(1);
/// How often records are counted, by the gateway that does it.
const WORK_TURN: Duration = Duration::from_millis(500);
const UPKEEP_TURN: Duration = Duration::from_mins(1);
/// How long to wait after a failure.
const PAUSE: Duration = Duration::from_secs(1);
/// Held by the one gateway that maintains the store, for as long as it is connected.
const ELECTION: &str = "SELECT pg_try_advisory_lock(4842107250913202)";

pub(super) struct Maintenance {
    address: Address,
    deadline: Duration,
    retention: RetentionTask,
    tree: TreeTask,
    shared: Arc<Shared>,
    /// Weak: the writer must see the end of its queue although this thread goes on for a moment.
    queue: mpsc::WeakSender<Job>,
    is_failing: bool,
}

/// What is done on one connection.
struct Turns {
    connection: Connection,
    is_maintainer: bool,
    worked_at: Option<Instant>,
    clock_at: Option<Instant>,
    upkeep_at: Option<Instant>,
}

impl Maintenance {
    pub(super) fn new(
        address: Address,
        deadline: Duration,
        (retention, tree): (RetentionTask, TreeTask),
        shared: Arc<Shared>,
        queue: mpsc::WeakSender<Job>,
    ) -> Self {
        Self {
            address,
            deadline,
            retention,
            tree,
            shared,
            queue,
            is_failing: false,
        }
    }

    pub(super) fn run(mut self) {
        let mut turns = None;
        let mut tick_at = Instant::now();
        while !self.shared.stop.load(Ordering::Relaxed) {
            // The writer connects again by itself, so it is asked whether or not this thread has a connection.
            if tick_at.elapsed() >= TICK_TURN {
                tick_at = Instant::now();
                self.tick();
            }
            let result = self.turn(&mut turns);
            if result.is_err() {
                turns = None;
            }
            let pause = if result.is_ok() { TURN } else { PAUSE };
            self.note(result);
            thread::park_timeout(pause);
        }
        // What is left to count is counted on the way out, so that the next reader finds little.
        if let Some(mut turns) = turns.filter(|turns| turns.is_maintainer) {
            let result = rollup::count(&mut turns.connection).map(drop);
            self.note(result);
            self.shared.await_writer();
            let result = self.grow_tree(&mut turns);
            self.note(result);
        }
    }

    fn turn(&mut self, turns: &mut Option<Turns>) -> Result<(), PostgresError> {
        let turns = match turns {
            Some(turns) => turns,
            None => turns.insert(self.connect()?),
        };
        if self.shared.latest.receiver_count() > 0 {
            let last = read::newest(&mut turns.connection)?;
            self.shared.publish(last);
        }
        self.grow_tree(turns)?;
        if turns.worked_at.is_some_and(|at| at.elapsed() < WORK_TURN) {
            return Ok(());
        }
        turns.worked_at = Some(Instant::now());
        if turns.clock_at.is_none_or(|at| at.elapsed() >= clock::TURN) {
            turns.clock_at = Some(Instant::now());
            clock::compare(&mut turns.connection, &self.shared)?;
        }
        if !turns.is_maintainer {
            let row = turns.connection.first(ELECTION, &[])?;
            turns.is_maintainer = row.is_some_and(|row| row.get(0));
        }
        if turns.is_maintainer {
            self.maintain(turns)?;
        }
        Ok(())
    }

    /// Lets the log grow when it is due, and once more when the writer is done.
    fn grow_tree(&mut self, turns: &mut Turns) -> Result<(), PostgresError> {
        let is_last = self.shared.wants_final_log();
        if is_last || self.tree.is_due() {
            let connection = &mut turns.connection;
            self.tree
                .run(connection, turns.is_maintainer, &self.shared)?;
        }
        if is_last {
            self.shared.is_log_final.send_replace(true);
        }
        Ok(())
    }

    fn connect(&self) -> Result<Turns, PostgresError> {
        let connection = Connection::open(&self.address, super::READER_SETTINGS, self.deadline)?;
        Ok(Turns {
            connection,
            is_maintainer: false,
            worked_at: None,
            clock_at: None,
            upkeep_at: None,
        })
    }

    fn maintain(&self, turns: &mut Turns) -> Result<(), PostgresError> {
        loop {
            let counted = rollup::count(&mut turns.connection)?;
            Counters::add(&self.shared.counters.indexed, counted);
            if counted < rollup::BATCH.unsigned_abs() || self.shared.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        if turns.upkeep_at.is_none_or(|at| at.elapsed() >= UPKEEP_TURN) {
            turns.upkeep_at = Some(Instant::now());
            days::make_ahead(&mut turns.connection)?;
            self.retention.run(&mut turns.connection, &self.shared)?;
        }
        Ok(())
    }

    /// Asks the writer whether a checkpoint is due. A full queue means it is busy and will sign one by count.
    fn tick(&self) {
        if let Some(queue) = self.queue.upgrade() {
            queue.try_send(Job::Tick).ok();
        }
    }

    fn note(&mut self, result: Result<(), PostgresError>) {
        let is_failing = result.is_err();
        if let Err(error) = result
            && !self.is_failing
        {
            tracing::warn!(%error, "maintenance of the activity store failed; it will be tried again");
        }
        self.is_failing = is_failing;
    }
}
