//! Keeps the keys of issuers fresh, so that no caller waits for them.

use std::time::Duration;

use crate::services::{Phase, Runtime};

/// How often the age of the keys is looked at. They are fetched when they are old, or when there are none.
const PERIOD: Duration = Duration::from_secs(15);

/// Looks after the keys until the gateway stops. The first look is at once.
pub(super) async fn keep_fresh(runtime: Runtime) {
    let mut ticks = tokio::time::interval(PERIOD);
    let services = &runtime.services;
    loop {
        tokio::select! {
            () = services.drain.wait_for_phase(Phase::Draining) => return,
            _ = ticks.tick() => {}
        }
        let settings = std::sync::Arc::clone(&runtime.state.load().settings);
        if let Some(rules) = &settings.tokens {
            services.issuers.refresh(rules);
        }
    }
}
