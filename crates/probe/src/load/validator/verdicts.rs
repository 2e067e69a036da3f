//! What is known about outcomes and violations so far, and the counting.

use std::collections::HashMap;

use super::rules::ValidationRules;
use crate::load::figures::Timeline;
use crate::load::outcome;
use crate::load::sample::Sample;
use crate::policy::CallOutcome;
use crate::report::Violations;

/// What is known about outcomes and violations so far.
#[derive(Debug, Default)]
pub(in crate::load) struct Verdicts {
    pub(in crate::load) tools: Vec<Outcomes>,
    pub(in crate::load) violations: Violations,
    /// By stretch of the timeline.
    pub(in crate::load) unexpected: Vec<u64>,
    pub(in crate::load) unvalidated: u64,
}

/// How the calls of one tool ended.
#[derive(Clone, Debug, Default)]
pub(in crate::load) struct Outcomes {
    pub(in crate::load) counts: HashMap<CallOutcome, u64>,
    pub(in crate::load) unexpected: u64,
}

impl Outcomes {
    /// How many calls ended in this way.
    pub(in crate::load) fn count(&self, outcome: CallOutcome) -> u64 {
        self.counts.get(&outcome).copied().unwrap_or_default()
    }

    /// The outcomes of several tools together.
    pub(in crate::load) fn sum(tools: &[Self]) -> Self {
        let mut sum = Self::default();
        for tool in tools {
            sum.unexpected += tool.unexpected;
            for (outcome, count) in &tool.counts {
                *sum.counts.entry(*outcome).or_default() += count;
            }
        }
        sum
    }
}

impl Verdicts {
    pub(super) fn count(&mut self, rules: &ValidationRules, sample: &Sample, outcome: CallOutcome) {
        let expected = outcome::is_expected(outcome, sample.expect);
        if !expected {
            let stretch = Timeline::stretch(rules.stretch, sample.times.ended);
            // A stretch far beyond the run has no place in the timeline.
            if stretch < 1 << 20 {
                if self.unexpected.len() <= stretch {
                    self.unexpected.resize(stretch + 1, 0);
                }
                self.unexpected[stretch] += 1;
            }
        }
        if sample.times.intended < rules.warm_up {
            return;
        }
        if let Some(tool) = self.tools.get_mut(sample.tool) {
            *tool.counts.entry(outcome).or_default() += 1;
            tool.unexpected += u64::from(!expected);
        }
    }
}
