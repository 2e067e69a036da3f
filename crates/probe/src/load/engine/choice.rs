//! Which scenario a start takes, and which row of its feeder.

use std::sync::atomic::Ordering;

use super::Engine;
use crate::plan::Order;
use crate::random::Random;

/// Which scenario a start takes, and which row of its feeder.
#[derive(Clone, Copy, Debug)]
pub(in crate::load) struct Choice {
    pub(super) scenario: usize,
    pub(super) row: Option<usize>,
}

impl Engine {
    /// Chooses what a start does. Depends on the seed alone, and for rows on the order of starts.
    pub(in crate::load) fn choose(&self, random: &mut Random) -> Choice {
        let scenario = self.plan.choose_scenario(random);
        let feeder = self.plan.scenarios.get(scenario);
        let feeder = feeder.and_then(|scenario| scenario.feeder.as_ref());
        let row = feeder.map(|feeder| match feeder.order {
            Order::Random => usize::try_from(random.below(feeder.rows.len() as u64)).unwrap_or(0),
            Order::Sequential => {
                let turn = self.rows.get(scenario);
                let turn = turn.map_or(0, |turn| turn.fetch_add(1, Ordering::Relaxed));
                turn % feeder.rows.len()
            }
        });
        Choice { scenario, row }
    }
}
