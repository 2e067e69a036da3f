//! Looks at the file, and at the env file beside it, once a second. Their content is compared, not their times: those are
//! too coarse on some disks, and reading a small file costs nothing.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::look;
use crate::drain::Phase;
use crate::shared::Shared;

const PERIOD: Duration = Duration::from_secs(1);

/// Makes the file hold whenever one of the two changes, until the gateway stops.
pub(crate) async fn watch(shared: Arc<Shared>) {
    if shared.reloads.source.is_none() {
        return;
    }
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = shared.drain.reached(Phase::Draining) => return,
        }
        // What is wrong has been said.
        drop(look(&shared, false).await);
    }
}
