//! When calls start. Open loop: at moments fixed beforehand, whatever the server does, so that its
//! pauses are measured and not waited out. Closed loop: each user starts when its last call ended.
//! The moments depend on the plan and its seed only.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::random::Random;
use crate::report::number;

/// When calls start, and what bounds them.
#[derive(Clone, Debug)]
pub struct Load {
    /// How starts are decided.
    pub executor: Executor,
    /// What is left out of the figures at the start.
    pub warm_up: Duration,
    /// How long a call may take.
    pub timeout: Duration,
    /// How long calls may go on after the last start.
    pub drain: Duration,
    /// The most calls in flight; an open-loop start beyond it is dropped.
    pub max_in_flight: usize,
    /// How many calls are on their way at once; further ones wait, and their response time says so.
    pub concurrency: Option<usize>,
    /// Connections opened before the start.
    pub connections: usize,
    /// What a child process is shared by.
    pub stdio: Processes,
    /// Sessions or processes made before the start; what suits the executor unless given.
    pub sessions: Option<usize>,
    /// The seed of every random choice.
    pub seed: u64,
}

/// How starts are decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Executor {
    /// Open loop.
    Rate {
        /// The curve of starts.
        shape: Shape,
    },
    /// Closed loop.
    Vus {
        /// How many users.
        vus: usize,
        /// How long each pauses between scenarios.
        think_time: Duration,
        /// How long they go on.
        duration: Duration,
    },
}

/// The curve of starts of an open loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Evenly spaced.
    Constant {
        /// Starts a second.
        rate: f64,
        /// How long.
        duration: Duration,
    },
    /// Independent of each other, at this rate on average.
    Poisson {
        /// Starts a second.
        rate: f64,
        /// How long.
        duration: Duration,
    },
    /// A rate that changes linearly from stage to stage, from nothing.
    Stages(Vec<Stage>),
    /// Many at once, then none for a while.
    Burst {
        /// How many at once.
        size: u32,
        /// How far apart.
        every: Duration,
        /// How long.
        duration: Duration,
    },
}

/// A stage of a changing rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// How long it takes.
    pub duration: Duration,
    /// The rate at its end.
    pub rate: f64,
}

/// What a child process is shared by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Processes {
    /// One process, many ids in flight.
    #[default]
    Inflight,
    /// A process for every user, or as many as there are sessions.
    Processes,
}

impl Load {
    /// How long starts go on.
    pub fn duration(&self) -> Duration {
        match &self.executor {
            Executor::Rate { shape } => shape.duration(),
            Executor::Vus { duration, .. } => *duration,
        }
    }
}

impl Shape {
    /// How long starts go on.
    pub fn duration(&self) -> Duration {
        match self {
            Self::Constant { duration, .. }
            | Self::Poisson { duration, .. }
            | Self::Burst { duration, .. } => *duration,
            Self::Stages(stages) => stages.iter().map(|stage| stage.duration).sum(),
        }
    }

    /// The moments of all starts, in order.
    pub(crate) fn starts(
        &self,
        mut random: Random,
    ) -> Box<dyn Iterator<Item = Duration> + Send + '_> {
        let end = self.duration();
        let within = move |at: &Duration| *at < end;
        match self {
            Self::Constant { rate, .. } => {
                let gap = 1.0 / rate;
                let all = (0_u64..).map(move |start| seconds(number(start) * gap));
                Box::new(all.take_while(within))
            }
            Self::Poisson { rate, .. } => {
                let mut at = 0.0;
                let all = std::iter::repeat_with(move || {
                    at -= (1.0 - random.unit()).ln() / rate;
                    seconds(at)
                });
                Box::new(all.take_while(within))
            }
            Self::Stages(stages) => Box::new(ramp(stages).take_while(within)),
            Self::Burst { size, every, .. } => {
                let (size, every) = (*size, every.as_secs_f64());
                let all = (0_u64..).flat_map(move |burst| {
                    std::iter::repeat_n(seconds(number(burst) * every), size as usize)
                });
                Box::new(all.take_while(within))
            }
        }
    }
}

/// Starts under a rate that changes linearly: the k-th start is where the area below the rate
/// reaches k.
fn ramp(stages: &[Stage]) -> impl Iterator<Item = Duration> + Send + '_ {
    let mut stage = 0;
    let (mut began, mut area, mut from) = (0.0, 0.0, 0.0);
    (0_u64..).map_while(move |start| {
        let wanted = number(start) + 0.5;
        loop {
            let Stage { duration, rate } = *stages.get(stage)?;
            let length = duration.as_secs_f64();
            let whole = area + f64::midpoint(from, rate) * length;
            if wanted < whole {
                let within = solve(from, (rate - from) / length, wanted - area);
                return Some(seconds(began + within));
            }
            began += length;
            area = whole;
            from = rate;
            stage += 1;
        }
    })
}

/// The time after which a rate of `from` growing by `slope` has given `area`.
fn solve(from: f64, slope: f64, area: f64) -> f64 {
    if slope.abs() < 1e-9 {
        return area / from;
    }
    let root = (from * from + 2.0 * slope * area).max(0.0).sqrt();
    (root - from) / slope
}

fn seconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(shape: &Shape) -> Vec<u128> {
        let starts = shape.starts(Random::new(1));
        starts.map(|at| at.as_millis()).collect()
    }

    #[test]
    fn a_constant_rate_is_evenly_spaced() {
        let shape = Shape::Constant {
            rate: 4.0,
            duration: Duration::from_secs(1),
        };
        assert_eq!(millis(&shape), [0, 250, 500, 750]);
    }

    #[test]
    fn bursts_come_together() {
        let shape = Shape::Burst {
            size: 3,
            every: Duration::from_millis(500),
            duration: Duration::from_secs(1),
        };
        assert_eq!(millis(&shape), [0, 0, 0, 500, 500, 500]);
    }

    #[test]
    fn stages_change_the_rate_linearly() {
        let stage = |seconds, rate| Stage {
            duration: Duration::from_secs(seconds),
            rate,
        };
        let shape = Shape::Stages(vec![stage(10, 10.0), stage(10, 10.0), stage(10, 0.0)]);
        let starts = millis(&shape);
        let between =
            |from: u128, to: u128| starts.iter().filter(|at| (from..to).contains(at)).count();
        assert_eq!(starts.len(), 200, "fifty, a hundred, fifty");
        assert_eq!(between(0, 10_000), 50);
        assert_eq!(between(10_000, 20_000), 100);
        assert!(between(0, 5_000) < 15 && between(25_000, 30_000) < 15);
        assert!(starts.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn random_starts_have_the_rate_on_average() {
        let shape = Shape::Poisson {
            rate: 100.0,
            duration: Duration::from_secs(20),
        };
        let starts = millis(&shape);
        assert!((1_900..2_100).contains(&starts.len()), "{}", starts.len());
        assert!(starts.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
