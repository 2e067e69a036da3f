//! The same calls to a server directly and through whatever stands before it: how much longer they
//! take, and whether a byte of the answers was changed on the way. Blocks of calls alternate
//! between the two, so that a machine that gets slower slows both. Works with any gateway.

mod body;
mod render;
mod tally;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::client::{Client, ConnectError, Exchange, ListError, Options, Reply, Target};
use crate::judge::Judge;
use crate::plan::{Call, Chance, Executor, Plan, Row, Taken};
use crate::report::{Figures, Served, Verdict};

pub use body::{Difference, compare};
pub use render::{markdown, terminal};

use tally::Tally;

/// Time to get going before the first start of a block.
const LEAD: Duration = Duration::from_millis(2);
/// Keeps the choice of scenarios apart from the moments of starts.
const CHOICES: u64 = 0x5eed;

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

/// What a comparison came to. Times are milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// The version of this form.
    pub version: u32,
    /// The server, directly.
    pub direct: Leg,
    /// The same server, through something.
    pub through: Leg,
    /// By how much a call through took longer than the same call directly.
    pub delta: Delta,
    /// Calls whose two answers could be compared, by how they differ.
    pub bodies: Bodies,
    /// The first differences of each kind.
    pub examples: Vec<Example>,
    /// Calls that did not come to the same both ways.
    pub verdicts_differ: u64,
    /// Answers that kept their contract directly and broke it on the way.
    pub gateway_changed: u64,
    /// What whoever reads this should know.
    pub notes: Vec<String>,
    /// What it comes to.
    pub verdict: Verdict,
}

/// One of the two ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Leg {
    /// The server as it showed itself.
    pub server: Served,
    /// How its calls ended.
    pub outcomes: std::collections::BTreeMap<String, u64>,
    /// How long they took.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Differences of paired service times, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Delta {
    /// How many pairs.
    pub pairs: u64,
    /// The mean.
    pub mean_ms: f64,
    /// Half of the pairs differ by no more.
    pub p50_ms: f64,
    /// 90 % of the pairs differ by no more.
    pub p90_ms: f64,
    /// 99 % of the pairs differ by no more.
    pub p99_ms: f64,
}

/// Answers by how the two ways differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bodies {
    /// Byte for byte the same.
    pub same: u64,
    /// The same but for white space between tokens.
    pub spaced: u64,
    /// The same members in another order.
    pub reordered: u64,
    /// Numbers written otherwise, or rounded.
    pub renumbered: u64,
    /// Something else.
    pub changed: u64,
    /// Of tools that answer differently each time.
    pub varying: u64,
}

/// A difference between two answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The tool.
    pub tool: String,
    /// How the answers differ.
    pub difference: Difference,
    /// Which members of the result do.
    pub members: Vec<String>,
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

/// One call, as both ways make it.
#[derive(Clone, Debug)]
struct Step {
    tool: String,
    arguments: Bytes,
    /// When it is due, from the start of its block.
    due: Duration,
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
        // Who goes first changes, so that being second helps nobody.
        for turn in [number % 2, 1 - number % 2] {
            let prefix = if turn == 1 {
                comparison.prefix.as_str()
            } else {
                ""
            };
            let (Some(client), Some(place)) = (legs.get(turn), answers.get_mut(turn)) else {
                continue;
            };
            *place = play(client, prefix, block, lanes, timeout).await;
        }
        let [one, other] = answers;
        for ((step, one), other) in block.iter().zip(one).zip(other) {
            tally.add(&step.tool, &one, &other);
        }
        progress(((number + 1) * comparison.block.max(1)).min(total), total);
    }
    Ok(tally.report(comparison, legs))
}

/// An answer and how long it took from when it was due.
#[derive(Debug)]
struct Timed {
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
) -> Vec<Timed> {
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
            (position, Timed { exchange, response })
        });
    }
    let mut done = calls.join_all().await;
    done.sort_by_key(|(position, _)| *position);
    done.into_iter().map(|(_, timed)| timed).collect()
}

/// The calls, in the order and at the moments that the plan and its seed say. What would take
/// values from earlier results is left out: the two ways would not send the same.
fn steps(plan: &Plan, calls: usize) -> Vec<Step> {
    let seed = plan.load.seed;
    let mut chance = Chance::new(seed ^ CHOICES);
    let mut gaps = Chance::new(seed);
    let mut starts: Box<dyn Iterator<Item = Duration>> = match &plan.load.executor {
        Executor::Rate { shape } => Box::new(shape.starts(move || gaps.unit())),
        Executor::Vus { .. } => Box::new(std::iter::repeat(Duration::ZERO)),
    };
    let total: u64 = plan.scenarios.iter().map(|one| u64::from(one.weight)).sum();
    let mut steps = Vec::new();
    let mut due = Duration::ZERO;
    let mut turns: HashMap<usize, usize> = HashMap::new();
    while steps.len() < calls {
        // A schedule that is over goes on at its end.
        due = starts.next().unwrap_or(due);
        let mut left = chance.below(total);
        let chosen = plan.scenarios.iter().enumerate().find(|(_, one)| {
            let weight = u64::from(one.weight);
            let found = left < weight;
            left = left.saturating_sub(weight);
            found
        });
        let Some((number, scenario)) = chosen else {
            break;
        };
        let turn = turns.entry(number).or_default();
        let rows = scenario.feeder.as_ref().map(|feeder| &feeder.rows);
        let row = rows.and_then(|rows| rows.get(*turn % rows.len().max(1)));
        *turn += 1;
        let before = steps.len();
        steps.extend(
            scenario
                .calls
                .iter()
                .filter_map(|call| step(call, row, due)),
        );
        if steps.len() == before && *turn > calls {
            break;
        }
    }
    steps
}

fn step(call: &Call, row: Option<&Row>, due: Duration) -> Option<Step> {
    let arguments = call.arguments.render(row, &Taken::new()).ok()?;
    Some(Step {
        tool: call.tool.clone(),
        arguments,
        due,
    })
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
