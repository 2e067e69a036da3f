//! The writer thread: takes whatever waits, up to 512 calls, appends it as one group, tells the callers.
//!
//! A lone caller's record is appended at once. While many calls are under way, the writer waits a moment, so that their
//! records share a transaction; where no caller waits, under `async` or because the records are in the journal, it may wait
//! longer. A group that cannot be appended is lost as a whole and every caller is told so, but for what is in the journal,
//! which is appended with the next group; the chain goes on from where it was.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use super::journal::Waiting;
use super::shared::Shared;
use super::stats::Counters;
use super::{Durability, Evidence, StoreError};
use crate::record::body::Body;

/// Calls taken into one group.
const GROUP: usize = 512;
/// How long a group gathers when no caller waits for it.
const GATHER_UNAWAITED: Duration = Duration::from_millis(5);
/// How long entries of the journal gather. They are committed already: only readers wait for them, and those end the pause.
const GATHER_JOURNAL: Duration = Duration::from_millis(20);
/// How long a group gathers when callers wait for it and [`SIBLINGS`] other calls are under way.
const GATHER_AWAITED: Duration = Duration::from_micros(400);
/// As many other calls must be under way that a group is worth waiting for, or the journal worth using.
pub(super) const SIBLINGS: usize = 5;
/// Groups that may wait to be told; beyond that the writer tells them itself.
const GROUPS: usize = 16;

/// The end of one chain in one kind of database. The writer thread owns it.
pub(super) trait Append: Send {
    /// Appends the records in one transaction, with a checkpoint if one is due. `lost` is what the checkpoint confesses.
    fn append(&mut self, bodies: &[Body], lost: u64) -> Result<CommitSummary, StoreError>;
    /// Signs the head if a checkpoint is due, or in any case if the store `is_down`, to find out whether it takes anything.
    /// Says whether something was written.
    fn tick(&mut self, lost: u64, is_down: bool) -> Result<bool, StoreError>;
    /// Ends the chain: `system_stop` and a last checkpoint.
    fn stop(&mut self, lost: u64) -> Result<CommitSummary, StoreError>;
}

/// What a committed transaction did.
#[derive(Debug)]
pub(super) struct CommitSummary {
    /// The place of the last record.
    pub(super) last_seq: u64,
    pub(super) checkpoint: bool,
}

/// What the writer is asked.
#[derive(Debug)]
pub(crate) enum Job {
    /// Append these records, then tell the caller, if one waits.
    Write(Vec<Body>, Option<oneshot::Sender<Evidence>>),
    /// Append what waits in the journal.
    Journal,
    /// Look whether a checkpoint is due.
    Tick,
    /// Finish: everything before this is written, nothing after it.
    Stop(oneshot::Sender<()>),
}

/// A caller to be told, and what.
pub(crate) type Completion = (oneshot::Sender<Evidence>, Evidence);

/// Who tells the callers: one task of the runtime if there is one, so that a group wakes the runtime once; else the writer.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    task: std::sync::OnceLock<mpsc::Sender<Vec<Completion>>>,
}

impl Completions {
    fn hand_over(&self, group: Vec<Completion>) {
        let left = match self.task.get() {
            Some(task) => task.try_send(group).err().map(TrySendError::into_inner),
            None => Some(group),
        };
        left.into_iter().flatten().for_each(tell);
    }

    /// Runs in the runtime until the store is dropped. Only the first one works; another returns at once.
    pub(crate) async fn deliver(shared: std::sync::Weak<Shared>) {
        let (sender, mut receiver) = mpsc::channel(GROUPS);
        match shared.upgrade() {
            Some(shared) if shared.completions.task.set(sender).is_ok() => {}
            _ => return,
        }
        drop(shared);
        while let Some(group) = receiver.recv().await {
            group.into_iter().for_each(tell);
        }
    }
}

fn tell((caller, evidence): Completion) {
    // A caller that went away needs no answer; its records are written all the same.
    caller.send(evidence).ok();
}

/// The thread's own state.
pub(super) struct Writer<A> {
    pub(super) appender: A,
    pub(super) queue: mpsc::Receiver<Job>,
    pub(super) shared: Arc<Shared>,
    pub(super) durability: Durability,
    /// Entries of the journal that are to be appended next.
    pub(super) unwritten: Vec<Body>,
    /// Memory for what will wait in the journal.
    pub(super) spare: Waiting,
}

/// However the thread ends, the log is finished after it.
impl<A> Drop for Writer<A> {
    fn drop(&mut self) {
        self.shared.is_writer_done.store(true, Ordering::Release);
        self.shared.wake_maintenance();
    }
}

impl<A: Append> Writer<A> {
    /// Until told to stop, or every handle is gone.
    pub(super) fn run(mut self) {
        let mut jobs = Vec::with_capacity(GROUP);
        let mut stop = None;
        while stop.is_none() && self.gather(&mut jobs) {
            stop = self.group(&mut jobs);
        }
        self.queue.close();
        if let Some(journal) = self.shared.journal.get() {
            journal.close();
            journal.take(&mut self.unwritten, &mut self.spare);
        }
        self.commit(Vec::new(), Vec::new());
        // A chain that has ended takes no more records: with some left in the journal, it is left as if the process were killed.
        if self.unwritten.is_empty() {
            let result = self.appender.stop(self.shared.counters.lost());
            self.note(result.map(|done| (done.last_seq, 1, 1)), 1);
        }
        if let Some(journal) = self.shared.journal.get() {
            journal.remove();
        }
        stop.and_then(|done| done.send(()).ok());
    }

    /// Waits for jobs; false once there will be none.
    fn gather(&mut self, jobs: &mut Vec<Job>) -> bool {
        let taken = self.queue.blocking_recv_many(jobs, GROUP);
        let ends = jobs.iter().any(|job| matches!(job, Job::Stop(_)));
        if (1..GROUP).contains(&taken) && !ends {
            // Callers that come meanwhile need not wake this thread.
            self.pause(jobs);
            let more = std::iter::from_fn(|| self.queue.try_recv().ok());
            jobs.extend(more.take(GROUP - taken));
        }
        taken > 0
    }

    /// Waits for more than the jobs `taken`, if that is worth it.
    fn pause(&self, taken: &[Job]) {
        if self.durability == Durability::Async {
            return thread::sleep(GATHER_UNAWAITED);
        }
        let is_awaited = |job: &Job| matches!(job, Job::Write(..));
        let is_journal = |job: &Job| matches!(job, Job::Journal);
        if taken.iter().any(is_journal) && !taken.iter().any(is_awaited) {
            return self.shared.pause.begin(GATHER_JOURNAL);
        }
        let others = self.shared.calls.count().saturating_sub(taken.len());
        if others >= SIBLINGS {
            thread::sleep(GATHER_AWAITED);
        }
    }

    /// One transaction for everything taken. Jobs behind a `Stop` are answered, not written.
    fn group(&mut self, jobs: &mut Vec<Job>) -> Option<oneshot::Sender<()>> {
        let (mut bodies, mut callers) = (
            Vec::with_capacity(jobs.len()),
            Vec::with_capacity(jobs.len()),
        );
        let (mut stop, mut tick) = (None, false);
        for job in jobs.drain(..) {
            match job {
                Job::Write(_, caller) if stop.is_some() => caller
                    .into_iter()
                    .for_each(|c| tell((c, Evidence::StoreDown))),
                Job::Write(more, caller) => {
                    bodies.extend(more);
                    callers.extend(caller);
                }
                Job::Journal => {
                    if let Some(journal) = self.shared.journal.get() {
                        journal.take(&mut self.unwritten, &mut self.spare);
                    }
                }
                Job::Tick => tick = true,
                Job::Stop(done) => stop = Some(done),
            }
        }
        self.commit(bodies, callers);
        if tick {
            self.tick();
        }
        stop
    }

    /// A store that is down is tried here, so that it is known to work again before a call depends on it.
    fn tick(&mut self) {
        self.commit(Vec::new(), Vec::new());
        if let Some(journal) = self.shared.journal.get() {
            journal.tidy();
        }
        let counters = &self.shared.counters;
        // A store over its limit is not tried: it works again when retention has made room.
        let down = counters.down.load(Ordering::Relaxed) && !self.shared.is_over_limit();
        match self.appender.tick(counters.lost(), down) {
            // Nothing was due, so nothing is known about the store.
            Ok(false) => {}
            result => self.note(result.map(|signed| (0, 0, u64::from(signed))), 0),
        }
    }

    /// One transaction for these records and for what the journal has.
    fn commit(&mut self, bodies: Vec<Body>, callers: Vec<oneshot::Sender<Evidence>>) {
        let at_stake = bodies.len() as u64;
        let mut all = std::mem::take(&mut self.unwritten);
        let entries = all.len();
        all.extend(bodies);
        if all.is_empty() {
            return;
        }
        let result = if self.shared.is_over_limit() {
            Err(StoreError::OverLimit)
        } else {
            self.appender.append(&all, self.shared.counters.lost())
        };
        let count = all.len() as u64;
        let evidence = if let Ok(done) = &result {
            if let Some(journal) = self.shared.journal.get().filter(|_| entries > 0) {
                journal.note_written(entries, done.last_seq);
            }
            Evidence::Committed
        } else {
            all.truncate(entries);
            self.unwritten = all;
            Evidence::StoreDown
        };
        self.note(
            result.map(|done| (done.last_seq, count, u64::from(done.checkpoint))),
            at_stake,
        );
        self.shared.completions.hand_over(
            callers
                .into_iter()
                .map(|caller| (caller, evidence))
                .collect(),
        );
    }

    /// Counts, publishes the new end of the store, and is loud when the store goes down or comes back.
    fn note(&self, result: Result<(u64, u64, u64), StoreError>, at_stake: u64) {
        let counters = &self.shared.counters;
        match result {
            Ok((last_seq, records, checkpoints)) => {
                Counters::add(&counters.committed, records);
                Counters::add(&counters.transactions, u64::from(records > 0));
                Counters::add(&counters.checkpoints, checkpoints);
                if !self.shared.is_over_limit() && counters.down.swap(false, Ordering::Relaxed) {
                    tracing::warn!(lost = counters.lost(), "the activity store works again");
                }
                self.shared.publish(last_seq);
            }
            Err(error) => {
                Counters::add(&counters.failed, at_stake);
                self.shared.report_down(&error);
            }
        }
    }
}
