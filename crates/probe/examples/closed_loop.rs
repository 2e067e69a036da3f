//! Calls one tool of a server over and over on some connections, with protocol checks and validation on, and prints
//! how many calls ended well. For `bench/load-vs-wrk`, which measures what the process cost.
//!
//! `closed_loop URL TOOL CONNECTIONS SECONDS`

use std::io::Write as _;
use std::path::Path;

use countersign_probe::load::{self, RunContext};
use countersign_probe::plan::Plan;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut next = || {
        words
            .next()
            .ok_or("usage: closed_loop URL TOOL CONNECTIONS SECONDS")
    };
    let (url, tool, connections, seconds) = (next()?, next()?, next()?, next()?);
    let text = format!(
        "[server]\nurl = {url:?}\n[load]\nexecutor = \"vus\"\nvus = {connections}\nduration = \"{seconds}s\"\n[[scenario]]\ntool = {tool:?}\n"
    );
    let plan = Plan::parse(&text, Path::new("."), &|_| None)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut never = std::pin::pin!(std::future::pending());
    let context = RunContext {
        progress: &mut |_| {},
        stop: never.as_mut(),
        today: "2026-01-01".parse()?,
    };
    let run = runtime.block_on(load::run(&plan, context))?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", run.all.outcome("ok"))?;
    writeln!(
        std::io::stderr(),
        "{} calls, {} not validated, p50 {} ms, p99 {} ms",
        run.all.calls,
        run.counters.unvalidated,
        run.all.figures.response.p50_ms,
        run.all.figures.response.p99_ms
    )?;
    Ok(())
}
