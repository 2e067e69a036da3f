//! A pause of the writer that others can end.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// A pause of one thread.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    is_under_way: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Pause {
    /// Pauses this thread, which is always the same one, until the time is over or another thread ends the pause.
    pub(crate) fn begin(&self, length: Duration) {
        self.thread.get_or_init(thread::current);
        let until = Instant::now() + length;
        self.is_under_way.store(true, Ordering::SeqCst);
        while self.is_under_way.load(Ordering::SeqCst) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.is_under_way.store(false, Ordering::SeqCst);
                return;
            }
            thread::park_timeout(left);
        }
    }

    /// Ends the pause that is under way, if there is one.
    pub(crate) fn end(&self) {
        if self.is_under_way.load(Ordering::SeqCst)
            && self.is_under_way.swap(false, Ordering::SeqCst)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_when_another_thread_ends_it() {
        let pause = Pause::default();
        pause.end();
        thread::scope(|scope| {
            let pausing = scope.spawn(|| pause.begin(Duration::from_hours(1)));
            while !pausing.is_finished() {
                pause.end();
                thread::yield_now();
            }
        });
        pause.begin(Duration::from_millis(1));
    }
}
