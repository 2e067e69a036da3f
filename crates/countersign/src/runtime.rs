//! The runtime of a command. It ends when the command has its answer: work on a thread of its own, such as reading a
//! tool list, cannot be called back and must not keep the process.

use std::future::Future;
use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Runtime;

/// How long files that are being written may take at the end.
const GRACE: Duration = Duration::from_millis(500);

/// A runtime for a command.
#[derive(Debug)]
pub(crate) struct CommandRuntime(Runtime);

impl CommandRuntime {
    pub(crate) fn start() -> anyhow::Result<Self> {
        Runtime::new().context("cannot start the runtime").map(Self)
    }

    /// Runs to the end; leaves blocking work behind that takes longer than a moment.
    pub(crate) fn run<F: Future>(self, future: F) -> F::Output {
        let output = self.0.block_on(future);
        self.0.shutdown_timeout(GRACE);
        output
    }

    /// Runs to the end and waits for no blocking work at all: a read of stdin ends with the process only.
    pub(crate) fn run_beside_stdin<F: Future>(self, future: F) -> F::Output {
        let output = self.0.block_on(future);
        self.0.shutdown_background();
        output
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::CommandRuntime;

    #[test]
    fn the_end_does_not_wait_for_blocking_work() {
        let (release, released) = channel::<()>();
        let runtime = CommandRuntime::start().expect("a runtime");
        let answer = runtime.run(async {
            let (started, has_started) = tokio::sync::oneshot::channel();
            // It ends with the test, which would otherwise wait for it.
            drop(tokio::task::spawn_blocking(move || {
                let _waits = started.send(());
                let _closed = released.recv();
            }));
            has_started.await.is_ok()
        });
        assert!(answer);
        drop(release);
    }
}
