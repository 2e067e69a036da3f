//! Ends client sessions that are idle for too long, with the connections that servers keep for them.

use std::time::Duration;

use tokio::time::sleep;

use crate::services::{Phase, Runtime};

/// The shortest and the longest pause between two looks.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(30));

/// Looks for idle sessions until the gateway stops.
pub(super) async fn end_idle_sessions(runtime: Runtime) {
    let services = &runtime.services;
    loop {
        let idle = runtime.state.load().settings.config.session_idle_timeout;
        let (shortest, longest) = PAUSES;
        tokio::select! {
            () = services.drain.wait_for_phase(Phase::Draining) => return,
            () = sleep((idle / 4).clamp(shortest, longest)) => services.sessions.end_idle(idle),
        }
    }
}
