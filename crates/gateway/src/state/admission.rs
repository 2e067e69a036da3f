//! `Admission`: for how long a caller is let in. A stream outlives the request that opened it, and ends with this.

use std::sync::Arc;
use std::time::Duration;

use countersign_audit::Timestamp;
use tokio::time::sleep;

use super::{Caller, State};

/// The longest time that is slept at once: a clock may be set anew.
const LONGEST_SLEEP: Duration = Duration::from_mins(1);

/// A caller, and the state that says whether it is let in.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    state: Arc<State>,
    caller: Arc<Caller>,
}

impl Admission {
    pub(crate) fn new(state: &Arc<State>, caller: &Arc<Caller>) -> Self {
        Self {
            state: Arc::clone(state),
            caller: Arc::clone(caller),
        }
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Comes back when the caller is not let in any more: its key was revoked, its issuer is
    /// not configured any more, or its credential has ended.
    pub(crate) async fn ended(&self) {
        let mut changes = self.state.changes();
        while self.holds() {
            tokio::select! {
                changed = changes.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                () = self.next_look() => {}
            }
        }
    }

    fn holds(&self) -> bool {
        let snapshot = self.state.load();
        snapshot.settings.still_admits(&self.caller) && !self.caller.has_expired(Timestamp::now())
    }

    /// Waits until the credential may have ended.
    async fn next_look(&self) {
        let Some(expires) = self.caller.expires else {
            return std::future::pending().await;
        };
        let left = expires
            .as_millis()
            .saturating_sub(Timestamp::now().as_millis());
        sleep(Duration::from_millis(left).min(LONGEST_SLEEP)).await;
    }
}
