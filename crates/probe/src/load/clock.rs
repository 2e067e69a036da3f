//! The thread that knows when starts are due. It sleeps more exactly than a runtime's timers, and
//! it is never held up by what the calls do. A start that cannot be handed over is counted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::plan::Shape;
use crate::random::Random;

/// Starts that may wait to be made.
const QUEUE: usize = 1 << 16;
/// How long it may take to notice that the receiver is gone.
const NOTICE: Duration = Duration::from_millis(100);

/// Starts, as they become due.
#[derive(Debug)]
pub(super) struct Starts {
    pub(super) due: mpsc::Receiver<Duration>,
    overrun: Arc<AtomicU64>,
}

impl Starts {
    /// How many could not be handed over.
    pub(super) fn overrun(&self) -> u64 {
        self.overrun.load(Ordering::Relaxed)
    }
}

/// Begins to tell when starts are due, counted from `origin`.
pub(super) fn start(shape: Shape, seed: u64, origin: Instant) -> io::Result<Starts> {
    let (sender, due) = mpsc::channel(QUEUE);
    let overrun = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&overrun);
    std::thread::Builder::new()
        .name("starts".to_owned())
        .spawn(move || {
            for at in shape.starts(Random::new(seed)) {
                if !wait(origin + at, &sender) {
                    return;
                }
                match sender.try_send(at) {
                    Ok(()) => {}
                    Err(TrySendError::Full(_)) => {
                        counter.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(TrySendError::Closed(_)) => return,
                }
            }
        })?;
    Ok(Starts { due, overrun })
}

/// Sleeps until a moment; false if the receiver is gone.
fn wait(until: Instant, sender: &mpsc::Sender<Duration>) -> bool {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(NOTICE));
        if sender.is_closed() {
            return false;
        }
    }
}
