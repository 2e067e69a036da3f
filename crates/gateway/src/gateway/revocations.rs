//! Revoked keys: rows in the store, which every gateway asks for twice a second. A key that is found there is refused, the
//! sessions of its caller end, and its streams are closed, whatever the configuration file says.

use std::sync::Arc;
use std::time::Duration;

use countersign_config::Config;
use tokio::time::{MissedTickBehavior, interval};

use crate::services::{Phase, Runtime, Services};
use crate::state::Guard;

/// How often the store is asked.
const PERIOD: Duration = Duration::from_millis(500);

/// Follows the revocations of the store until the gateway drains. While the store cannot be read, what is known holds.
pub(super) async fn follow(runtime: Runtime) {
    let services = &runtime.services;
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_failing = false;
    loop {
        tokio::select! {
            () = services.drain.wait_for_phase(Phase::Draining) => return,
            _ = ticks.tick() => {}
        }
        let asking = runtime.clone();
        let asked = tokio::task::spawn_blocking(move || {
            // Not the whole snapshot, which would keep servers alive that are to end.
            let config = Arc::clone(&asking.state.load().settings.config);
            let services = &asking.services;
            services
                .revocations
                .refresh(services.store.reader(), &config)
        });
        let failed = match asked.await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(error) = &failed
            && !is_failing
        {
            tracing::warn!(%error, "cannot ask the store for revoked keys; those that are known stay refused");
        }
        is_failing = failed.is_some();
        apply(&runtime);
    }
}

/// Refuses the revoked keys from now on, if the guard in force still accepts one.
pub(super) fn apply(runtime: &Runtime) {
    let (state, services) = (&runtime.state, &runtime.services);
    let revoked = services.revocations.known();
    let accepts = |guard: &Guard| guard.callers_of(&revoked).next().is_some();
    if !state.load().settings.guard.as_ref().is_some_and(accepts) {
        return;
    }
    state.change(|before| before.without_keys(&revoked));
    let settings = &state.load().settings;
    let sessions = &services.sessions;
    sessions.end_revoked(|caller| settings.knows_caller(caller));
    tracing::warn!("a key has been revoked; it is refused, and what its caller had open has ended");
}

/// The guard of a new configuration without the keys that have been revoked. Blocks. If the store cannot be asked, the keys
/// that are known to be revoked are left out, and the others are asked about again soon.
pub(super) fn check(services: &Services, config: &Config, guard: &Guard) -> Guard {
    let asked = services
        .revocations
        .refresh(services.store.reader(), config);
    if let Err(error) = asked {
        tracing::warn!(%error, "cannot ask the store for revoked keys");
    }
    let revoked = services.revocations.known();
    for caller in guard.callers_of(&revoked) {
        let caller = &*caller.name;
        tracing::warn!(
            caller,
            "the configuration has a key that has been revoked; it is refused"
        );
    }
    guard.without_keys(&revoked)
}
