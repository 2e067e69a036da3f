//! The same calls to a server directly and through whatever stands before it: how much longer they
//! take, and whether a byte of the answers was changed on the way. Blocks of calls alternate
//! between the two, so that a machine that gets slower slows both. Works with any gateway.

mod body;
mod render;
mod report;
mod steps;
mod tally;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::client::{Client, ConnectError, Exchange, ListError, Options, Reply, Target};
use crate::judge::Judge;
use crate::plan::{Executor, Plan};

pub use body::{Difference, compare};
pub use render::{markdown, terminal};
pub use report::{Bodies, Delta, Example, Leg, Overhead};

use steps::{Step, steps};
use tally::Tally;

/// Time to get going before the first start of a block.
const LEAD: Duration = Duration::from_millis(2);
/// What is compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The calls, and where they go directly.
    pub plan: Plan,
    /// Where the same calls go through something.
    pub through: Target,
    /// What is printed as that: never a secret.
    pub shown: String,
    /// What the tools' names begin with there.
    pub prefix: String,
    /// How many scenarios each way.
    pub calls: usize,
    /// How many at a time before the other way has its turn.
    pub block: usize,
}

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum OverheadError {
    /// One of the two cannot be reached.
    #[error("the server cannot be reached {0}")]
    Connect(&'static str, #[source] ConnectError),
    /// The tools cannot be listed.
    #[error("the tools cannot be listed {0}")]
    List(&'static str, #[source] ListError),
}

/// Compares the two ways. `progress` is told how many of the calls are done.
pub async fn run(
    comparison: &Comparison,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Overhead, OverheadError> {
    let plan = &comparison.plan;
    let direct = connect(&plan.target, &plan.options, "directly").await?;
    // The same words both ways, or the answers could not be the same.
    let options = Options {
        era: Some(direct.era()),
        ..plan.options.clone()
    };
    let through = match connect(&comparison.through, &options, "through the gateway").await {
        Ok(through) => through,
        Err(error) => {
            direct.close().await;
            return Err(error);
        }
    };
    let legs = [Arc::new(direct), Arc::new(through)];
    let compared = blocks(comparison, &legs, progress).await;
    for leg in &legs {
        leg.close().await;
    }
    compared
}

async fn connect(
    target: &Target,
    options: &Options,
    way: &'static str,
) -> Result<Client, OverheadError> {
    let connected = Client::connect(target, options).await;
    connected.map_err(|error| OverheadError::Connect(way, error))
}

async fn blocks(
    comparison: &Comparison,
    legs: &[Arc<Client>; 2],
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Overhead, OverheadError> {
    let [direct, through] = legs;
    let list = direct.list_tools().await;
    let list = list.map_err(|error| OverheadError::List("directly", error))?;
    // Listed for the headers that modern servers want repeated.
    let other = through.list_tools().await;
    other.map_err(|error| OverheadError::List("through the gateway", error))?;
    let mut judge = Judge::new(direct.era());
    for tool in &list.tools {
        // A tool that cannot be read is judged as one that declares nothing.
        drop(judge.declare(&tool.raw));
    }
    let steps = steps(&comparison.plan, comparison.calls);
    let varying = varying(&comparison.plan, direct, &steps).await;
    let mut tally = Tally::new(judge, varying);
    let lanes = match comparison.plan.load.executor {
        Executor::Vus { vus, .. } => vus,
        Executor::Rate { .. } => comparison.plan.load.concurrency.unwrap_or(usize::MAX >> 8),
    };
    let total = steps.len();
    let timeout = comparison.plan.load.timeout;
    for (number, block) in steps.chunks(comparison.block.max(1)).enumerate() {
        let mut answers = [Vec::new(), Vec::new()];
        // The two ways take turns in going first, so that neither gains by being second.
        for turn in [number % 2, 1 - number % 2] {
            let prefix = ["", comparison.prefix.as_str()][turn];
            answers[turn] = play(&legs[turn], prefix, block, lanes, timeout).await;
        }
        let [one, other] = answers;
        for ((step, one), other) in block.iter().zip(one).zip(other) {
            tally.add(&step.tool, &one, &other);
        }
        progress(((number + 1) * comparison.block.max(1)).min(total), total);
    }
    Ok(tally.report(comparison, legs))
}

/// An exchange, and the time from when its call was due until its answer came.
#[derive(Debug)]
struct TimedExchange {
    exchange: Exchange,
    response: Duration,
}

/// Makes the calls of a block one way.
async fn play(
    client: &Arc<Client>,
    prefix: &str,
    block: &[Step],
    lanes: usize,
    timeout: Duration,
) -> Vec<TimedExchange> {
    let lanes = Arc::new(Semaphore::new(lanes.min(Semaphore::MAX_PERMITS)));
    let origin = Instant::now() + LEAD;
    let first = block.first().map_or(Duration::ZERO, |step| step.due);
    let mut calls = JoinSet::new();
    for (position, step) in block.iter().enumerate() {
        let due = origin + step.due.saturating_sub(first);
        let (client, lanes) = (Arc::clone(client), Arc::clone(&lanes));
        let tool = format!("{prefix}{}", step.tool);
        let arguments = step.arguments.clone();
        calls.spawn(async move {
            tokio::time::sleep_until(due.into()).await;
            let _lane = lanes.acquire().await;
            let exchange = client.call(&tool, &arguments, timeout).await;
            let response = exchange.done.saturating_duration_since(due);
            (position, TimedExchange { exchange, response })
        });
    }
    let mut done = calls.join_all().await;
    done.sort_by_key(|(position, _)| *position);
    done.into_iter().map(|(_, timed)| timed).collect()
}

/// The tools that do not answer the same twice: what they say cannot be compared.
async fn varying(plan: &Plan, direct: &Client, steps: &[Step]) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    let mut varying = Vec::new();
    for step in steps {
        if seen.contains(&step.tool.as_str()) {
            continue;
        }
        seen.push(&step.tool);
        let mut results = Vec::new();
        for _ in 0..2 {
            let call = direct.call(&step.tool, &step.arguments, plan.load.timeout);
            results.push(match call.await.reply {
                Ok(Reply::Result(result)) => Some(result),
                _ => None,
            });
        }
        if results.first() != results.get(1) {
            varying.push(step.tool.clone());
        }
    }
    varying
}
