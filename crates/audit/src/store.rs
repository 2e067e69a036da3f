//! `Store`: where records go before a reply leaves, and `Reader`: where questions go.
//!
//! Callers see one handle, whatever threads and files are behind it. Commits are awaited without blocking a runtime; every
//! question blocks its thread and belongs on a blocking one. Serves the record stage.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout_at;

use crate::id::{Ids, NewId};
use crate::record::Record;
use crate::record::body::Body;

mod anchor;
mod backend;
mod catalogue;
mod copied;
mod copy;
mod data_dir;
mod error;
mod grants;
mod journal;
mod matches;
mod open;
mod options;
mod page;
mod pause;
mod postgres;
mod rates;
mod reader;
mod recorded;
mod revocations;
mod shared;
mod signed_statements;
mod sqlite;
mod stats;
mod tree;
mod verification;
mod walk;
mod writer;

pub use catalogue::{CapturedTool, Generation, ToolDeclaration};
pub use copy::{CopyProgress, CopySummary, copy_to_postgres};
pub use error::{NoReceipt, StoreError};
pub use grants::{GrantLease, GrantOwner, StoredGrant};
pub use options::{Durability, Options, Retention};
pub use page::{Page, StoredRecord, Tail};
pub use postgres::{PostgresError, check_postgres_url, migrate_postgres};
pub use reader::Reader;
pub use recorded::{Evidence, OnStoreError, Recorded};
pub use revocations::{KeyDigest, Revocation};
pub use shared::PendingCall;
pub use stats::Stats;
pub use verification::{Break, BreakKind, Verification};

pub use shared::SignedHead;

use shared::Shared;
use stats::Counters;
use writer::{Completions, Job, SIBLINGS};

/// How long a store that is being closed waits for the last head of its log.
const LAST_HEAD: Duration = Duration::from_secs(5);
/// How often a thread looks whether its records are committed, where it may not wait for ever.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// A store that is open for writing. Cheap to clone; the last handle to go ends the chain in good order.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Taken when the store closes, so that the writer sees the end of its queue.
    queue: Option<mpsc::Sender<Job>>,
    shared: Arc<Shared>,
    reader: Reader,
    durability: Durability,
    /// How long a caller waits for its records.
    patience: Option<Duration>,
    ids: Ids,
    threads: Vec<JoinHandle<()>>,
}

impl Store {
    /// Opens or creates the store, writes `system_start`, and starts its threads.
    pub fn open(options: &Options) -> Result<Self, StoreError> {
        let opened = open::open(options)?;
        let inner = Inner {
            queue: Some(opened.queue),
            shared: opened.shared,
            reader: Reader {
                backend: opened.backend,
            },
            durability: options.durability,
            patience: opened.patience,
            ids: Ids::new(),
            threads: opened.threads,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// A new record id, greater than every one before it, and the clock's time.
    pub fn next_id(&self) -> NewId {
        self.inner.ids.next()
    }

    /// Says that a call has begun whose records will come. The store uses the number of calls under way, and nothing else.
    pub fn begin_call(&self) -> PendingCall {
        self.inner.shared.calls.begin()
    }

    /// Writes the records of a call and gives the value back as evidence of it.
    ///
    /// Under `commit` and `sync` it resolves when they are committed. Once polled to the point of waiting for the writer,
    /// dropping the future does not take the records back. Without records there is nothing to wait for.
    pub async fn commit<T>(
        &self,
        value: T,
        records: impl IntoIterator<Item = Record>,
    ) -> Recorded<T> {
        let evidence = match encode(records) {
            Ok(bodies) if bodies.is_empty() => self.evidence_of_nothing(),
            Ok(bodies) => self.enqueue(bodies).await,
            Err(count) => self.failed(count),
        };
        Recorded::new(value, evidence)
    }

    /// As [`Store::commit`], for threads outside a runtime.
    ///
    /// # Panics
    /// Inside an asynchronous runtime, whose thread it would block.
    pub fn commit_blocking<T>(
        &self,
        value: T,
        records: impl IntoIterator<Item = Record>,
    ) -> Recorded<T> {
        let evidence = match encode(records) {
            Ok(bodies) if bodies.is_empty() => self.evidence_of_nothing(),
            Ok(bodies) => self.enqueue_blocking(bodies),
            Err(count) => self.failed(count),
        };
        Recorded::new(value, evidence)
    }

    /// Tells waiting callers from inside the runtime, one wake-up per group of commits. Spawn it once; without it the writer
    /// thread wakes each caller itself. Ends when the store is dropped.
    pub fn deliver(&self) -> impl Future<Output = ()> + Send + 'static {
        Completions::deliver(Arc::downgrade(&self.inner.shared))
    }

    /// Writes what is queued, `system_stop` and a last checkpoint. Later commits find the store down.
    pub async fn close(&self) {
        self.inner.shared.is_closing.store(true, Ordering::Relaxed);
        let (done, closed) = oneshot::channel();
        if let Some(queue) = &self.inner.queue
            && queue.send(Job::Stop(done)).await.is_ok()
        {
            drop(closed.await);
        }
        let mut is_final = self.inner.shared.is_log_final.subscribe();
        // What is left for the log, if it takes longer, is taken in by the next start.
        drop(
            timeout_at(
                (Instant::now() + LAST_HEAD).into(),
                is_final.wait_for(|done| *done),
            )
            .await,
        );
    }

    /// The place of the newest record committed, here or by another process; a follower waits for it to change.
    pub fn latest(&self) -> watch::Receiver<u64> {
        self.inner.shared.latest.subscribe()
    }

    /// The newest signed head of the store's log, as a note to be published; none before the first. It changes every few
    /// seconds while there are records, and once more when the store is closed.
    pub fn log_head(&self) -> watch::Receiver<Option<Arc<SignedHead>>> {
        self.inner.shared.log_head.subscribe()
    }

    /// Counters of this process.
    pub fn stats(&self) -> Stats {
        self.inner.shared.counters.read()
    }

    /// Where to ask.
    pub fn reader(&self) -> &Reader {
        &self.inner.reader
    }

    async fn enqueue(&self, bodies: Vec<Body>) -> Evidence {
        let count = bodies.len() as u64;
        let Some(queue) = &self.inner.queue else {
            return self.failed(count);
        };
        if self.inner.durability == Durability::Async {
            return self.try_enqueue(queue, bodies);
        }
        if self.is_known_down() {
            return self.enqueue_unawaited(queue, bodies);
        }
        if self.commit_to_journal(queue, &bodies) {
            return Evidence::Committed;
        }
        let (done, committed) = oneshot::channel();
        let is_sent = queue.send(Job::Write(bodies, Some(done)));
        // The writer answers every job it took; a dropped sender means it died with this one.
        let Some(patience) = self.inner.patience else {
            if is_sent.await.is_err() {
                return self.failed(count);
            }
            self.inner.shared.pause.end();
            return committed.await.unwrap_or_else(|_| self.failed(count));
        };
        let deadline = Instant::now() + patience;
        match timeout_at(deadline.into(), is_sent).await {
            Ok(Ok(())) => {}
            // What is not in the queue is lost.
            Ok(Err(_)) | Err(_) => return self.failed(count),
        }
        match timeout_at(deadline.into(), committed).await {
            Ok(answer) => answer.unwrap_or_else(|_| self.failed(count)),
            Err(_) => Evidence::StoreDown,
        }
    }

    fn enqueue_blocking(&self, bodies: Vec<Body>) -> Evidence {
        let count = bodies.len() as u64;
        let Some(queue) = &self.inner.queue else {
            return self.failed(count);
        };
        if self.inner.durability == Durability::Async {
            return self.try_enqueue(queue, bodies);
        }
        if self.is_known_down() {
            return self.enqueue_unawaited(queue, bodies);
        }
        if self.commit_to_journal(queue, &bodies) {
            return Evidence::Committed;
        }
        let (done, committed) = oneshot::channel();
        let job = Job::Write(bodies, Some(done));
        if let Some(patience) = self.inner.patience {
            return self.await_blocking(queue, job, committed, (count, patience));
        }
        if queue.blocking_send(job).is_err() {
            return self.failed(count);
        }
        self.inner.shared.pause.end();
        committed
            .blocking_recv()
            .unwrap_or_else(|_| self.failed(count))
    }

    /// Commits records here and now, by the journal, while many calls are under way or the journal is in use. False where
    /// the writer has to commit them.
    fn commit_to_journal(&self, queue: &mpsc::Sender<Job>, bodies: &[Body]) -> bool {
        let shared = &self.inner.shared;
        let is_down = || shared.counters.down.load(Ordering::Relaxed);
        let announce = || queue.try_send(Job::Journal).is_ok();
        let many = shared.calls.count() > SIBLINGS;
        let journal = shared.journal.get();
        let journal = journal.filter(|journal| many || journal.is_in_use());
        journal
            .filter(|_| !shared.is_over_limit() && !is_down())
            .is_some_and(|journal| journal.append(bodies, announce))
    }

    /// A channel of the runtime has no time-out for threads, so it is looked at again and again.
    fn await_blocking(
        &self,
        queue: &mpsc::Sender<Job>,
        mut job: Job,
        mut committed: oneshot::Receiver<Evidence>,
        (count, patience): (u64, Duration),
    ) -> Evidence {
        let deadline = Instant::now() + patience;
        while let Err(error) = queue.try_send(job) {
            match error {
                mpsc::error::TrySendError::Full(back) if Instant::now() < deadline => job = back,
                _ => return self.failed(count),
            }
            thread::sleep(LOOK_AGAIN);
        }
        loop {
            match committed.try_recv() {
                Ok(evidence) => return evidence,
                Err(oneshot::error::TryRecvError::Closed) => return self.failed(count),
                Err(oneshot::error::TryRecvError::Empty) if Instant::now() >= deadline => {
                    return Evidence::StoreDown;
                }
                Err(oneshot::error::TryRecvError::Empty) => thread::sleep(LOOK_AGAIN),
            }
        }
    }

    /// A caller need not wait for a database that is known to be away. Its records wait in the queue instead.
    fn is_known_down(&self) -> bool {
        self.inner.patience.is_some() && !self.stats().healthy
    }

    fn enqueue_unawaited(&self, queue: &mpsc::Sender<Job>, bodies: Vec<Body>) -> Evidence {
        let count = bodies.len() as u64;
        match queue.try_send(Job::Write(bodies, None)) {
            Ok(()) => Evidence::StoreDown,
            Err(_) => self.failed(count),
        }
    }

    fn try_enqueue(&self, queue: &mpsc::Sender<Job>, bodies: Vec<Body>) -> Evidence {
        let count = bodies.len() as u64;
        match queue.try_send(Job::Write(bodies, None)) {
            Ok(()) => Evidence::Queued,
            Err(mpsc::error::TrySendError::Full(_)) => {
                Counters::add(&self.inner.shared.counters.dropped, count);
                Evidence::Queued
            }
            Err(mpsc::error::TrySendError::Closed(_)) => self.failed(count),
        }
    }

    fn failed(&self, count: u64) -> Evidence {
        Counters::add(&self.inner.shared.counters.failed, count);
        Evidence::StoreDown
    }

    fn evidence_of_nothing(&self) -> Evidence {
        if self.inner.durability == Durability::Async {
            Evidence::Queued
        } else {
            Evidence::Committed
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queue = None;
        self.shared.stop();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the activity store panicked");
            }
        }
    }
}

/// The canonical bytes of each record; or how many there were, if one cannot be written.
fn encode(records: impl IntoIterator<Item = Record>) -> Result<Vec<Body>, u64> {
    let mut bodies = Vec::new();
    let mut failed = 0;
    for mut record in records {
        match Body::encode(&mut record) {
            Ok(body) => bodies.push(body),
            Err(error) => {
                tracing::error!(%error, "a record cannot be encoded");
                failed += 1;
            }
        }
    }
    if failed == 0 {
        Ok(bodies)
    } else {
        Err(failed + bodies.len() as u64)
    }
}
