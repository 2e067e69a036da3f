//! The calls of a comparison, chosen before the first is made so that both ways make the same.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;

use crate::plan::{Call, Executor, Plan, Row, TakenValues};
use crate::random::Random;

/// Keeps the choice of scenarios apart from the moments of starts.
const CHOICES: u64 = 0x5eed;

/// One call, as both ways make it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) tool: String,
    pub(super) arguments: Bytes,
    /// When it is due, from the start of its block.
    pub(super) due: Duration,
}

/// The calls, in the order and at the moments that the plan and its seed say. What would take
/// values from earlier results is left out: the two ways would not send the same.
pub(super) fn steps(plan: &Plan, calls: usize) -> Vec<Step> {
    let seed = plan.load.seed;
    let mut random = Random::new(seed ^ CHOICES);
    let mut starts: Box<dyn Iterator<Item = Duration>> = match &plan.load.executor {
        Executor::Rate { shape } => shape.starts(Random::new(seed)),
        Executor::Vus { .. } => Box::new(std::iter::repeat(Duration::ZERO)),
    };
    let mut steps = Vec::new();
    let mut due = Duration::ZERO;
    let mut turns: HashMap<usize, usize> = HashMap::new();
    while steps.len() < calls {
        // A schedule that is over goes on at its end.
        due = starts.next().unwrap_or(due);
        let number = plan.choose_scenario(&mut random);
        let Some(scenario) = plan.scenarios.get(number) else {
            break;
        };
        let turn = turns.entry(number).or_default();
        let rows = scenario.feeder.as_ref().map(|feeder| &feeder.rows);
        let row = rows.and_then(|rows| rows.get(*turn % rows.len().max(1)));
        *turn += 1;
        let before = steps.len();
        let calls_made = scenario.calls.iter();
        steps.extend(calls_made.filter_map(|call| step(call, row, due)));
        if steps.len() == before && *turn > calls {
            break;
        }
    }
    steps
}

fn step(call: &Call, row: Option<&Row>, due: Duration) -> Option<Step> {
    let arguments = call.arguments.render(row, &TakenValues::new()).ok()?;
    Some(Step {
        tool: call.tool.clone(),
        arguments,
        due,
    })
}
