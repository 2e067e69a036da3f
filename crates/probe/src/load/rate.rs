//! The open loop: starts are made when they are due, whatever the server does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval};

use super::engine::Engine;
use super::{LoadError, RunContext, ScheduleEnd, clock, thresholds};
use crate::plan::Shape;
use crate::random::Random;
use crate::report::RunEnd;

/// How often waiting answers are handed over.
const TICK: Duration = Duration::from_millis(50);
/// Every so many ticks the progress is shown and the thresholds are checked.
const PROGRESS_EVERY: u32 = 20;
/// Time to get going before the first start.
const LEAD: Duration = Duration::from_millis(20);
/// How long calls may go on when the run was stopped.
const STOPPED: Duration = Duration::from_secs(1);
/// Keeps the choice of scenarios apart from the moments of starts.
const CHOICES: u64 = 0x5eed;

/// Makes all starts, and waits for what they started.
pub(super) async fn run(
    engine: &Arc<Engine>,
    shape: &Shape,
    context: &mut RunContext<'_>,
) -> Result<ScheduleEnd, LoadError> {
    let seed = engine.plan.load.seed;
    let origin = engine.begin(Instant::now() + LEAD);
    let starts = clock::start(shape.clone(), seed, origin).map_err(LoadError::Thread)?;
    let mut starts = starts;
    let mut random = Random::new(seed ^ CHOICES);
    let mut batch = Vec::with_capacity(256);
    let mut ticks = Ticks::new();
    let ended = loop {
        tokio::select! {
            biased;
            () = context.stop.as_mut() => break RunEnd::Interrupted,
            () = ticks.next() => if !ticks.tick(engine, context) { break RunEnd::Aborted },
            count = starts.due.recv_many(&mut batch, 256) => {
                if count == 0 {
                    break RunEnd::Finished;
                }
                for at in batch.drain(..) {
                    engine.start(at, &mut random);
                }
            }
        }
    };
    starts.due.close();
    let overrun = starts.overrun();
    let ended = drain(engine, &mut ticks, ended, context).await;
    Ok(ScheduleEnd { ended, overrun })
}

/// Waits for what is under way, but not for ever.
pub(super) async fn drain(
    engine: &Arc<Engine>,
    ticks: &mut Ticks,
    ended: RunEnd,
    context: &mut RunContext<'_>,
) -> RunEnd {
    let patience = match ended {
        RunEnd::Finished => engine.plan.load.drain,
        RunEnd::Interrupted | RunEnd::Aborted => STOPPED.min(engine.plan.load.drain),
    };
    let all = u32::try_from(engine.plan.load.max_in_flight).unwrap_or(u32::MAX);
    let slots = Arc::clone(&engine.slots);
    let mut idle = std::pin::pin!(slots.acquire_many(all));
    let mut patience = std::pin::pin!(tokio::time::sleep(patience));
    let mut ended = ended;
    loop {
        tokio::select! {
            slots = &mut idle => {
                // Given back, so that nothing looks as if it were under way.
                drop(slots);
                return ended;
            }
            () = &mut patience => return ended,
            () = ticks.next() => {
                ticks.tick(engine, context);
            }
            () = context.stop.as_mut(), if ended == RunEnd::Finished => {
                ended = RunEnd::Interrupted;
                patience.as_mut().reset(tokio::time::Instant::now() + STOPPED);
            }
        }
    }
}

/// What happens regularly beside the starts.
#[derive(Debug)]
pub(super) struct Ticks {
    interval: tokio::time::Interval,
    count: u32,
}

impl Ticks {
    pub(super) fn new() -> Self {
        let mut interval = interval(TICK);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { interval, count: 0 }
    }

    pub(super) async fn next(&mut self) {
        self.interval.tick().await;
    }

    /// Hands answers over, and now and then says how far it got; false if a threshold that ends
    /// the run does not hold.
    pub(super) fn tick(&mut self, engine: &Engine, context: &mut RunContext<'_>) -> bool {
        engine.flush();
        self.count += 1;
        if !self.count.is_multiple_of(PROGRESS_EVERY) {
            return true;
        }
        (context.progress)(&engine.progress());
        !thresholds::aborts(engine)
    }
}
