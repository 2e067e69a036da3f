//! Pairs of answers, counted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::body::{Difference, compare, members_that_differ};
use super::{Bodies, Comparison, Delta, Example, Leg, Overhead, TimedExchange};
use crate::client::{Client, Exchange, Reply};
use crate::judge::Judge;
use crate::load::{answer, label, unvalidated_outcome};
use crate::plan::Expect;
use crate::policy::{CallOutcome, SchemaPolicy, classify_schema_violation};
use crate::report::{Figures, Histograms, TestedServer, Verdict, number, rounded};

/// Examples of each kind of difference.
const EXAMPLES: usize = 3;

/// What is known so far.
#[derive(Debug)]
pub(super) struct Tally {
    judge: Judge,
    varying: Vec<String>,
    legs: [LegTally; 2],
    deltas: Vec<f64>,
    bodies: Bodies,
    examples: Vec<Example>,
    verdicts_differ: u64,
    gateway_changed: u64,
}

/// Times and outcomes of one leg: direct, or through the gateway.
#[derive(Debug, Default)]
struct LegTally {
    histograms: Histograms,
    outcomes: BTreeMap<String, u64>,
}

impl LegTally {
    fn add(&mut self, timed: &TimedExchange, outcome: CallOutcome) {
        let exchange = &timed.exchange;
        let since = |at: Instant| at.saturating_duration_since(exchange.sent);
        let first_event = exchange.first_event.map(since);
        self.histograms
            .add(timed.response, since(exchange.done), first_event);
        *self.outcomes.entry(label(outcome)).or_default() += 1;
    }
}

impl Tally {
    pub(super) fn new(judge: Judge, varying: Vec<String>) -> Self {
        Self {
            judge,
            varying,
            legs: Default::default(),
            deltas: Vec::new(),
            bodies: Bodies::default(),
            examples: Vec::new(),
            verdicts_differ: 0,
            gateway_changed: 0,
        }
    }

    /// Counts the two answers to one call.
    pub(super) fn add(&mut self, tool: &str, direct: &TimedExchange, through: &TimedExchange) {
        let (one, other) = (outcome(direct), outcome(through));
        let [leg, other_leg] = &mut self.legs;
        leg.add(direct, one);
        other_leg.add(through, other);
        self.deltas.push(service_ms(through) - service_ms(direct));
        let (one_holds, other_holds) = (
            self.keeps_contract(tool, &direct.exchange),
            self.keeps_contract(tool, &through.exchange),
        );
        if one != other || one_holds != other_holds {
            self.verdicts_differ += 1;
        }
        if one_holds && one == CallOutcome::Success && other == CallOutcome::Success && !other_holds
        {
            self.gateway_changed += 1;
        }
        self.compare(tool, &direct.exchange, &through.exchange);
    }

    /// Whether an answer keeps its contract under the strict policy.
    fn keeps_contract(&self, tool: &str, exchange: &Exchange) -> bool {
        let Some(message) = &exchange.message else {
            return true;
        };
        let judgement = self.judge.reply(tool, message.clone());
        let fails =
            |site, findings: &[_]| classify_schema_violation(site, findings) == SchemaPolicy::Fail;
        judgement.malformed.is_empty()
            && !judgement
                .violations
                .iter()
                .any(|one| fails(one.site, &one.findings))
    }

    fn compare(&mut self, tool: &str, direct: &Exchange, through: &Exchange) {
        let (Ok(Reply::Result(one)), Ok(Reply::Result(other))) = (&direct.reply, &through.reply)
        else {
            return;
        };
        if self.varying.iter().any(|varying| varying == tool) {
            self.bodies.varying += 1;
            return;
        }
        let difference = compare(one, other);
        let counter = match difference {
            Difference::Same => &mut self.bodies.same,
            Difference::Spaced => &mut self.bodies.spaced,
            Difference::Reordered => &mut self.bodies.reordered,
            Difference::Renumbered => &mut self.bodies.renumbered,
            Difference::Changed => &mut self.bodies.changed,
        };
        *counter += 1;
        let known = self.examples.iter();
        let known = known.filter(|one| one.difference == difference && one.tool == tool);
        if difference != Difference::Same && known.count() < 1 && self.examples.len() < 5 * EXAMPLES
        {
            self.examples.push(Example {
                tool: tool.to_owned(),
                difference,
                members: members_that_differ(one, other),
            });
        }
    }

    pub(super) fn report(
        mut self,
        comparison: &Comparison,
        clients: &[Arc<Client>; 2],
    ) -> Overhead {
        let delta = delta(&mut self.deltas);
        let [direct, through] = self.legs;
        let [direct_client, through_client] = clients;
        let leg = |way: LegTally, client: &Client, target: &str| Leg {
            server: TestedServer::new(target, client),
            outcomes: way.outcomes,
            figures: Figures::from(&way.histograms),
        };
        let notes = self.varying.iter();
        let notes = notes.map(|tool| {
            format!("{tool:?} does not answer the same twice, so its answers are not compared")
        });
        Overhead {
            version: 1,
            direct: leg(direct, direct_client, &comparison.plan.shown),
            through: leg(through, through_client, &comparison.shown),
            delta,
            bodies: self.bodies,
            examples: self.examples,
            verdicts_differ: self.verdicts_differ,
            gateway_changed: self.gateway_changed,
            notes: notes.collect(),
            verdict: verdict(self.bodies, self.verdicts_differ, self.gateway_changed),
        }
    }
}

/// From sending to the last byte: when a start was made is the generator's doing.
fn service_ms(timed: &TimedExchange) -> f64 {
    let Exchange { sent, done, .. } = timed.exchange;
    done.saturating_duration_since(sent).as_secs_f64() * 1e3
}

fn outcome(timed: &TimedExchange) -> CallOutcome {
    unvalidated_outcome(&answer(&timed.exchange), Expect::Ok)
}

fn delta(deltas: &mut [f64]) -> Delta {
    deltas.sort_by(f64::total_cmp);
    let count = deltas.len();
    if count == 0 {
        return Delta::default();
    }
    let at = |percent: usize| {
        let position = (count * percent).div_ceil(100).max(1) - 1;
        rounded(deltas.get(position).copied().unwrap_or_default())
    };
    let mean = deltas.iter().sum::<f64>() / number(count as u64);
    Delta {
        pairs: count as u64,
        mean_ms: rounded(mean),
        p50_ms: at(50),
        p90_ms: at(90),
        p99_ms: at(99),
    }
}

fn verdict(bodies: Bodies, verdicts_differ: u64, gateway_changed: u64) -> Verdict {
    let reasons: Vec<String> = [
        (
            gateway_changed,
            "answers kept their contract directly and broke it on the way",
        ),
        (bodies.changed, "answers were changed on the way"),
        (
            bodies.renumbered,
            "answers had numbers rewritten on the way",
        ),
        (bodies.reordered, "answers had members reordered on the way"),
        (verdicts_differ, "calls did not come to the same both ways"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    Verdict {
        exit: u8::from(!reasons.is_empty()),
        reasons,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_pairs_have_percentiles() {
        let mut deltas: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let found = delta(&mut deltas);
        assert_eq!(
            (found.p50_ms, found.p90_ms, found.p99_ms),
            (50.0, 90.0, 99.0)
        );
        assert!((found.mean_ms - 50.5).abs() < 1e-9);
        assert_eq!(delta(&mut []), Delta::default());
    }
}
