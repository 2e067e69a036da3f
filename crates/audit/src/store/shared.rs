//! What the threads of one store share, whatever database it has.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use tokio::sync::watch;

use super::StoreError;
use super::journal::Journal;
use super::pause::Pause;
use super::stats::Counters;
use super::writer::Completions;

/// How long a reader waits for records that are committed and not in the database yet. They are there within milliseconds,
/// unless the database is locked or full.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// What the threads of one store share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) counters: Counters,
    pub(crate) latest: watch::Sender<u64>,
    pub(crate) completions: Completions,
    pub(crate) calls: CallCount,
    /// Where calls commit their records themselves, if the store has one.
    pub(crate) journal: OnceLock<Journal>,
    /// The pause of the writer while only records wait that are in the journal.
    pub(crate) pause: Pause,
    /// The size limit is reached and everything there is too young to be removed: nothing more is written.
    pub(crate) is_over_limit: AtomicBool,
    pub(crate) stop: AtomicBool,
    /// The store is being closed: the writer does not wait long for its database any more.
    pub(crate) is_closing: AtomicBool,
    /// The thread that maintains the store.
    pub(crate) maintenance: OnceLock<Thread>,
    /// The newest signed head of the log.
    pub(crate) log_head: watch::Sender<Option<Arc<SignedHead>>>,
    /// The writer has written everything it will.
    pub(crate) is_writer_done: AtomicBool,
    /// The log has taken in everything that the writer has written, or could not.
    pub(crate) is_log_final: watch::Sender<bool>,
}

/// A signed head of a store's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedHead {
    /// How many leaves it covers.
    pub size: u64,
    /// The signed note.
    pub note: String,
}

impl Shared {
    pub(crate) fn new() -> Self {
        Self {
            counters: Counters::default(),
            latest: watch::Sender::new(0),
            completions: Completions::default(),
            calls: CallCount::default(),
            journal: OnceLock::new(),
            pause: Pause::default(),
            is_over_limit: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            maintenance: OnceLock::new(),
            log_head: watch::Sender::new(None),
            is_writer_done: AtomicBool::new(false),
            is_log_final: watch::Sender::new(false),
        }
    }

    /// Waits until what was committed before can be read in the database.
    pub(crate) fn await_journal(&self) {
        if let Some(journal) = self.journal.get() {
            journal.await_written(|| self.pause.end(), LONGEST_WAIT);
        }
    }

    /// The store reaches to `seq` now.
    pub(crate) fn publish(&self, seq: u64) {
        self.latest.send_if_modified(|latest| {
            let newer = seq > *latest;
            *latest = seq.max(*latest);
            newer
        });
    }

    /// The newest head of the log is this one now.
    pub(crate) fn publish_head(&self, head: Option<(u64, String)>) {
        let head = head.map(|(size, note)| Arc::new(SignedHead { size, note }));
        self.log_head.send_if_modified(|known| {
            let is_newer =
                head.as_ref().map(|head| head.size) > known.as_ref().map(|head| head.size);
            if is_newer {
                *known = head;
            }
            is_newer
        });
    }

    /// Whether the log is to be finished now: the writer is done, and the log has not taken in its end yet.
    pub(crate) fn wants_final_log(&self) -> bool {
        self.is_writer_done.load(Ordering::Acquire) && !*self.is_log_final.borrow()
    }

    /// Waits until the writer has written everything it will. It always ends, at the latest when its database does not
    /// answer for some seconds.
    pub(crate) fn await_writer(&self) {
        while !self.is_writer_done.load(Ordering::Acquire) {
            std::thread::park_timeout(Duration::from_millis(100));
        }
    }

    /// Notes that the store does not take records, and says so once.
    pub(crate) fn report_down(&self, error: &StoreError) {
        if !self.counters.down.swap(true, Ordering::Relaxed) {
            let cause = std::error::Error::source(error)
                .map(ToString::to_string)
                .unwrap_or_default();
            tracing::error!(%error, cause, "the activity store is down; records are not being written");
        }
    }

    /// The size limit is reached, and nothing may be removed.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.is_over_limit.load(Ordering::Relaxed)
    }

    pub(crate) fn wake_maintenance(&self) {
        if let Some(thread) = self.maintenance.get() {
            thread.unpark();
        }
    }

    pub(crate) fn stop(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
        self.stop.store(true, Ordering::Relaxed);
        self.wake_maintenance();
    }
}

/// How many calls are under way that will have records.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallCount(Arc<AtomicUsize>);

impl CallCount {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn begin(&self) -> PendingCall {
        self.0.fetch_add(1, Ordering::Relaxed);
        PendingCall(self.clone())
    }
}

/// A call that will have records. While many are under way, the store commits the records of several at once.
#[derive(Debug)]
pub struct PendingCall(CallCount);

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
