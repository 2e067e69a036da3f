//! A server over HTTP that is greeted once: the caller is told how it ended.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::timeout;

use super::{FAREWELL, HttpSupervisor};
use crate::state::State;
use crate::supervisor::End;

impl HttpSupervisor {
    /// Keeps in touch until the server is gone or we are told to stop; then there is nothing to tell.
    pub(crate) async fn run_once(self, mut stop: watch::Receiver<bool>) -> Option<End> {
        let link = Arc::new(self.link());
        let lived = tokio::select! {
            failed = self.live(&link) => Some(failed),
            _ = stop.wait_for(|stop| *stop) => None,
        };
        self.supervision.state.send_replace(State::Stopped);
        let Some(failed) = lived else {
            drop(timeout(FAREWELL, link.end()).await);
            return None;
        };
        Some(End {
            served: failed.is_none(),
            code: None,
            stderr: String::new(),
            error: failed,
        })
    }
}
