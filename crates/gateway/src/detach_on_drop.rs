//! A future that runs to its end even if its caller stops waiting for it. Most callers wait, so most futures need no task
//! of their own, with its two ways through the scheduler.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// A future that is given a task of its own when it is dropped before its end.
pub(crate) struct DetachOnDrop<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    /// Nothing once it has ended.
    future: Option<Pin<Box<F>>>,
}

impl<F> DetachOnDrop<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    pub(crate) fn new(future: F) -> Self {
        Self {
            future: Some(Box::pin(future)),
        }
    }
}

impl<F> Future for DetachOnDrop<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(future) = &mut self.future else {
            // Polled after its end, which no caller does.
            return Poll::Pending;
        };
        let poll = future.as_mut().poll(context);
        if poll.is_ready() {
            self.future = None;
        }
        poll
    }
}

impl<F> Drop for DetachOnDrop<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    fn drop(&mut self) {
        // Without a runtime the process is ending, and so is the future.
        if let (Some(future), Ok(runtime)) = (self.future.take(), Handle::try_current()) {
            runtime.spawn(future);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_future_that_is_dropped_runs_on() {
        let (start, started) = oneshot::channel::<()>();
        let (end, ended) = oneshot::channel();
        let mut future = Box::pin(DetachOnDrop::new(async move {
            started.await.expect("started");
            end.send(5).expect("heard");
        }));
        let first = std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context)));
        assert!(first.await.is_pending());
        drop(future);
        start.send(()).expect("it still waits");
        assert_eq!(ended.await, Ok(5));
    }

    #[tokio::test]
    async fn a_future_that_is_awaited_gives_its_output() {
        assert_eq!(DetachOnDrop::new(async { 7 }).await, 7);
    }
}
