//! Load: open-loop and closed-loop executors, timings from the intended start, saturation.
//!
//! One thread makes calls and stamps the clock; another, fed by a queue that may overflow, holds
//! the answers to their contracts. Nothing between the two stamps of a call is ours. The figures
//! of a generator that could not keep its own schedule are not offered as the server's.

mod clock;
mod engine;
mod figures;
mod finish;
mod outcome;
mod pointer;
mod rate;
mod refusal;
mod sample;
mod sessions;
mod thresholds;
mod validator;
mod vus;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::client::{ConnectError, ListError};
use crate::plan::{Executor, Plan};
use crate::policy::Date;
use crate::report::{Run, RunEnd};

pub use outcome::label;
pub(crate) use outcome::{answer, unvalidated_outcome};

use engine::Engine;
use sessions::Sessions;

/// Why there was no run.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The server cannot be reached or greeted.
    #[error("the server cannot be reached")]
    Connect(#[from] ConnectError),
    /// Its tools cannot be listed.
    #[error("the server's tools cannot be listed")]
    List(#[from] ListError),
    /// A thread cannot be started.
    #[error("a thread cannot be started")]
    Thread(#[source] std::io::Error),
    /// The plan's arguments do not fit the tools, and the run is strict.
    #[error("the plan's own arguments break the contract: {0}")]
    Authored(String),
}

/// How far a run has got.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Since the first start.
    pub elapsed: Duration,
    /// Until the last start.
    pub total: Duration,
    /// Calls that ended, warm-up included.
    pub completed: u64,
    /// Calls that ended since the last time, per second.
    pub rate: f64,
    /// Calls under way.
    pub in_flight: usize,
    /// Starts dropped.
    pub dropped: u64,
    /// Calls that did not come to what was expected.
    pub unexpected: u64,
    /// Violations that gate or warn.
    pub violations: u64,
    /// Median response time so far, in milliseconds.
    pub p50_ms: f64,
    /// 99th percentile of it.
    pub p99_ms: f64,
}

/// What a run needs beside its plan: a progress callback, a stop signal, the current day.
pub struct RunContext<'a> {
    /// Told how far the run has got, about every second.
    pub progress: &'a mut dyn FnMut(&Progress),
    /// Ends when the run is to be stopped.
    pub stop: std::pin::Pin<&'a mut dyn Future<Output = ()>>,
    /// The day that overrides are held to.
    pub today: Date,
}

impl std::fmt::Debug for RunContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunContext").finish_non_exhaustive()
    }
}

/// Runs a plan.
pub async fn run(plan: &Plan, mut context: RunContext<'_>) -> Result<Run, LoadError> {
    let sessions = Sessions::open(plan).await?;
    let engine = Engine::new(plan, sessions, context.today);
    let engine = match engine {
        Ok(engine) => Arc::new(engine),
        Err((sessions, error)) => {
            sessions.close().await;
            return Err(error);
        }
    };
    let began = Instant::now();
    let ended = match &plan.load.executor {
        Executor::Rate { shape } => rate::run(&engine, shape, &mut context).await?,
        Executor::Vus {
            vus, think_time, ..
        } => vus::run(&engine, *vus, *think_time, &mut context).await,
    };
    let lasted = began.elapsed();
    let run = finish::finish(plan, &engine, ended, lasted).await;
    engine.sessions.close().await;
    Ok(run)
}

/// Locks what a thread that panicked may have held: counters stay usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the schedule of starts ended, and how far the generator was behind it.
#[derive(Clone, Copy, Debug)]
struct ScheduleEnd {
    ended: RunEnd,
    /// Starts that were due and could not even be handed over.
    overrun: u64,
}
