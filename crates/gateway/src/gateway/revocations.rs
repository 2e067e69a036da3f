//! Revoked keys and certificates: rows in the store, which every gateway asks for twice a second. A key or certificate that is
//! found there is refused, the sessions of its caller end, and its streams are closed, whatever the configuration file says.
//! Logouts that were made at other gateways are found in the same way.

use std::sync::Arc;
use std::time::Duration;

use countersign_config::Config;
use tokio::time::{MissedTickBehavior, interval};

use crate::services::{Phase, Runtime, Services};
use crate::state::Guard;

/// How often the store is asked.
const PERIOD: Duration = Duration::from_millis(500);

/// Follows the revocations and logouts of the store until the gateway drains. While the store cannot be read, what is known holds.
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
            let reader = services.store.reader();
            services.revocations.refresh(reader, &config)?;
            services.grants.follow_store()
        });
        let failed = match asked.await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(error) = &failed
            && !is_failing
        {
            tracing::warn!(%error, "cannot ask the store for revoked keys, certificates and logouts; those that are known hold");
        }
        is_failing = failed.is_some();
        apply(&runtime);
    }
}

/// Refuses the revoked keys and certificates from now on, if the guard in force still accepts one.
pub(super) fn apply(runtime: &Runtime) {
    let (state, services) = (&runtime.state, &runtime.services);
    let revoked = services.revocations.known();
    let accepts = |guard: &Guard| guard.callers_of(&revoked).next().is_some();
    if !state.load().settings.guard.as_ref().is_some_and(accepts) {
        return;
    }
    state.change(|before| before.without_revoked(&revoked));
    let settings = &state.load().settings;
    let sessions = &services.sessions;
    sessions.end_revoked(|caller| settings.knows_caller(caller));
    tracing::warn!("a caller has been revoked; it is refused, and what it had open has ended");
}

/// The guard of a new configuration without the callers that have been revoked. Blocks. If the store cannot be asked, those
/// that are known to be revoked are left out, and the others are asked about again soon.
pub(super) fn check(services: &Services, config: &Config, guard: &Guard) -> Guard {
    let asked = services
        .revocations
        .refresh(services.store.reader(), config);
    if let Err(error) = asked {
        tracing::warn!(%error, "cannot ask the store for revoked keys and certificates");
    }
    let revoked = services.revocations.known();
    for caller in guard.callers_of(&revoked) {
        let caller = &*caller.name;
        tracing::warn!(
            caller,
            "the configuration has a caller that has been revoked; it is refused"
        );
    }
    guard.without_revoked(&revoked)
}
