//! Keeps a server running for as long as it may be called. Every state of the gateway that has the server holds a lease on it, and so does every
//! call to it; when the last one is dropped, no call can reach it any more, and it is told to end.

use std::sync::Arc;

use tokio::sync::watch;

/// A share in a server that runs.
#[derive(Clone, Debug)]
pub struct Lease(Arc<StopOnDrop>);

/// Tells the server to end when the last lease is dropped.
#[derive(Debug)]
struct StopOnDrop(Arc<watch::Sender<bool>>);

impl Lease {
    pub(crate) fn new() -> Self {
        Self(Arc::new(StopOnDrop(Arc::new(watch::Sender::new(false)))))
    }

    /// What tells the server to end. Holding it is no lease.
    pub fn stop(&self) -> Arc<watch::Sender<bool>> {
        let StopOnDrop(stop) = &*self.0;
        Arc::clone(stop)
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lease_ends_the_server() {
        let lease = Lease::new();
        let stop = lease.stop();
        let other = lease.clone();
        drop(lease);
        assert!(!*stop.borrow());
        drop(other);
        assert!(*stop.borrow());
    }
}
