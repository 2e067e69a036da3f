//! Looks at the file once a second. Its content is compared, not its times: those are too coarse on some disks, and
//! reading a small file costs nothing.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::look;
use crate::drain::Phase;
use crate::shared::Shared;

const PERIOD: Duration = Duration::from_secs(1);

/// Makes the file hold whenever it changes, until the gateway stops.
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
