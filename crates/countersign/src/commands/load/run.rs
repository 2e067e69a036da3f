//! `countersign load run`: one plan, one run, one verdict. One thread makes all calls: it is enough, and what a second
//! one costs would be measured as the server's.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use clap::Args;
use countersign_probe::load::{self, Progress, RunContext};
use countersign_probe::plan::Plan;
use countersign_probe::policy::Date;
use countersign_probe::report::Run;

use super::{EXAMPLES, Reports, exit, not_run, plan};
use crate::commands::serve::StopSignals;
use crate::report::Failure;
use crate::{Console, Exit};

/// How often a line is printed where stderr is not a terminal.
const EVERY: Duration = Duration::from_secs(5);

/// Run a plan
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The plan
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Say what would be done, and send nothing
    #[arg(long)]
    explain: bool,
    /// Let violations of the contract fail the run, whatever the plan says
    #[arg(long)]
    strict: bool,
    /// What every choice by chance depends on, instead of the plan's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    reports: Reports,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let mut plan = plan(&arguments.plan)?;
    plan.validation.strict |= arguments.strict;
    if let Some(seed) = arguments.seed {
        plan.load.seed = seed;
    }
    if arguments.explain {
        console.data(plan.explain())?;
        return Ok(Exit::Ok);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let run = runtime.block_on(watched(&plan, console))?;
    arguments.reports.write(&run, plan.output.iter(), console)?;
    Ok(exit(&run))
}

async fn watched(plan: &Plan, console: &mut Console<'_>) -> Result<Run, Failure> {
    // Before anything starts, so that no signal finds us unprepared.
    let mut stop = StopSignals::listen().context("cannot listen for signals")?;
    let mut stop = std::pin::pin!(stop.recv());
    let mut said = Duration::ZERO;
    let mut tell = |progress: &Progress| {
        let line = line(progress);
        if console.is_watched() {
            console.progress(&line);
        } else if progress.elapsed >= said + EVERY {
            said = progress.elapsed;
            console.message(format!("{line}\n"));
        }
    };
    let context = RunContext {
        progress: &mut tell,
        stop: stop.as_mut(),
        today: today(),
    };
    let run = load::run(plan, context).await;
    console.progress("");
    run.map_err(not_run)
}

fn line(progress: &Progress) -> String {
    let Progress {
        elapsed,
        total,
        completed,
        rate,
        in_flight,
        dropped,
        unexpected,
        violations,
        p50_ms,
        p99_ms,
    } = progress;
    format!(
        "{:.0} of {:.0} s: {completed} calls, {rate:.0}/s, {in_flight} in flight, p50 {p50_ms:.1} ms, p99 {p99_ms:.1} ms, {unexpected} unexpected, {violations} violations, {dropped} dropped",
        elapsed.as_secs_f64(),
        total.as_secs_f64()
    )
}

/// The day, in UTC.
fn today() -> Date {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Date::from_unix_seconds(since.map_or(0, |since| since.as_secs()))
}
