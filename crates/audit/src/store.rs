//! `Store`: where records go before a reply leaves, and `Reader`: where questions go.
//!
//! Callers see one handle, whatever threads and files are behind it. Commits are awaited without blocking a runtime; every
//! question blocks its thread and belongs on a blocking one. Serves the record stage.

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot, watch};

use crate::id::{Ids, NewId};
use crate::record::Record;
use crate::record::body::Body;

mod catalogue;
mod error;
mod options;
mod page;
mod reader;
mod recorded;
mod shared;
mod sqlite;
mod stats;
mod verification;
mod writer;

pub use catalogue::{CapturedTool, Declared, Generation};
pub use error::StoreError;
pub use options::{Durability, Options, Retention};
pub use page::{Page, Stored, Tail};
pub use reader::Reader;
pub use recorded::{Evidence, OnStoreError, Recorded};
pub use shared::CallUnderWay;
pub use stats::Stats;
pub use verification::{Break, BreakKind, Verification};

use shared::Shared;
use stats::Counters;
use writer::{Completions, Job};

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
    ids: Ids,
    threads: Vec<JoinHandle<()>>,
}

impl Store {
    /// Opens or creates the store, writes `system_start`, and starts its threads.
    pub fn open(options: &Options) -> Result<Self, StoreError> {
        let opened = sqlite::open(options)?;
        let inner = Inner {
            queue: Some(opened.queue),
            shared: opened.shared,
            reader: Reader {
                database: opened.database,
            },
            durability: options.durability,
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
    pub fn begin_call(&self) -> CallUnderWay {
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
        let (done, closed) = oneshot::channel();
        if let Some(queue) = &self.inner.queue
            && queue.send(Job::Stop(done)).await.is_ok()
        {
            drop(closed.await);
        }
    }

    /// The place of the newest record committed, here or by another process; a follower waits for it to change.
    pub fn latest(&self) -> watch::Receiver<u64> {
        self.inner.shared.latest.subscribe()
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
        let (done, committed) = oneshot::channel();
        if queue.send(Job::Write(bodies, Some(done))).await.is_err() {
            return self.failed(count);
        }
        // The writer answers every job it took; a dropped sender means it died with this one.
        committed.await.unwrap_or_else(|_| self.failed(count))
    }

    fn enqueue_blocking(&self, bodies: Vec<Body>) -> Evidence {
        let count = bodies.len() as u64;
        let Some(queue) = &self.inner.queue else {
            return self.failed(count);
        };
        if self.inner.durability == Durability::Async {
            return self.try_enqueue(queue, bodies);
        }
        let (done, committed) = oneshot::channel();
        if queue.blocking_send(Job::Write(bodies, Some(done))).is_err() {
            return self.failed(count);
        }
        committed
            .blocking_recv()
            .unwrap_or_else(|_| self.failed(count))
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
