//! The closed loop: each user makes its calls one after the other and pauses between scenarios, so
//! a slow server gets fewer of them. To learn how a server bears a given rate, use
//! the open loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::engine::Engine;
use super::rate::Ticks;
use super::{RunContext, ScheduleEnd};
use crate::random::Random;
use crate::report::RunEnd;

/// How long calls may go on when the run was stopped.
const STOPPED: Duration = Duration::from_secs(1);

/// No answer comes this quickly from anywhere else.
const AT_ONCE: Duration = Duration::from_micros(20);

/// Lets the users make their calls, and waits for them.
pub(super) async fn run(
    engine: &Arc<Engine>,
    vus: usize,
    think_time: Duration,
    context: &mut RunContext<'_>,
) -> ScheduleEnd {
    let duration = engine.plan.duration();
    let end = engine.begin(Instant::now()) + duration;
    let over = Arc::new(AtomicBool::new(false));
    let mut users = JoinSet::new();
    for number in 0..vus {
        users.spawn(user(
            Arc::clone(engine),
            number,
            think_time,
            end,
            Arc::clone(&over),
        ));
    }
    let mut ticks = Ticks::new();
    let mut patience = std::pin::pin!(tokio::time::sleep(duration + engine.plan.load.drain));
    let mut ended = RunEnd::Finished;
    while !users.is_empty() {
        let stopped = tokio::select! {
            _ = users.join_next() => None,
            () = &mut patience => {
                users.abort_all();
                break;
            }
            () = context.stop.as_mut(), if ended == RunEnd::Finished => Some(RunEnd::Interrupted),
            () = ticks.next() => {
                let holds = ticks.tick(engine, context);
                (!holds && ended == RunEnd::Finished).then_some(RunEnd::Aborted)
            }
        };
        if let Some(why) = stopped {
            ended = why;
            over.store(true, Ordering::Relaxed);
            patience
                .as_mut()
                .reset(tokio::time::Instant::now() + STOPPED);
        }
    }
    ScheduleEnd { ended, overrun: 0 }
}

async fn user(
    engine: Arc<Engine>,
    number: usize,
    think_time: Duration,
    end: Instant,
    over: Arc<AtomicBool>,
) {
    let mut random = Random::new(engine.plan.load.seed.wrapping_add(number as u64));
    let client = Arc::clone(engine.sessions.client(number));
    loop {
        let now = Instant::now();
        if now >= end || over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(slot) = engine.slots.acquire().await else {
            return;
        };
        let began = now.saturating_duration_since(engine.origin());
        let counted = u64::from(began >= engine.plan.load.warm_up);
        engine.tally.offered.fetch_add(counted, Ordering::Relaxed);
        engine.tally.started.fetch_add(counted, Ordering::Relaxed);
        let choice = engine.choose(&mut random);
        engine.walk(choice, &client, now).await;
        drop(slot);
        if !think_time.is_zero() {
            let left = end.saturating_duration_since(Instant::now());
            tokio::time::sleep(think_time.min(left)).await;
        } else if now.elapsed() < AT_ONCE {
            // A server that refuses at once must not keep the other users from running.
            tokio::task::yield_now().await;
        }
    }
}
