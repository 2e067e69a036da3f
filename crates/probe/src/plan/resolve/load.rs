//! How much is called, and when: the executor and its bounds, with defaults for what is not given.

use std::time::Duration;

use super::setting;
use crate::plan::PlanError;
use crate::plan::raw::{self, ExecutorName, ShapeName};
use crate::plan::schedule::{Executor, Load, Shape, Stage};
use crate::plan::units::PlanDuration;

const DURATION: Duration = Duration::from_secs(30);
const TIMEOUT: Duration = Duration::from_secs(30);
const DRAIN: Duration = Duration::from_secs(10);
const RATE: f64 = 10.0;
/// No client starts more calls a second than this, so more is a mistake.
const MOST_RATE: f64 = 1_000_000.0;
const IN_FLIGHT: u32 = 1_000;
const CONNECTIONS: u32 = 8;
const MOST: u32 = 100_000;

pub(super) fn load(raw: &raw::Load) -> Result<Load, PlanError> {
    let executor = match raw.executor {
        ExecutorName::Rate => rate(raw)?,
        ExecutorName::Vus => vus(raw)?,
    };
    let time =
        |span: Option<PlanDuration>, default| span.map_or(default, |PlanDuration(time)| time);
    let number = |key: &str, value: u32| match value {
        0 => Err(setting(format!("load.{key}"), "must be at least 1")),
        value if value > MOST => Err(setting(format!("load.{key}"), "is too many")),
        value => Ok(value as usize),
    };
    let optional = |key, value: Option<u32>| value.map(|one| number(key, one)).transpose();
    let many = match &executor {
        Executor::Vus { vus, .. } => u32::try_from(*vus).unwrap_or(MOST),
        Executor::Rate { .. } => CONNECTIONS,
    };
    let load = Load {
        executor,
        warm_up: time(raw.warm_up, Duration::ZERO),
        timeout: time(raw.timeout, TIMEOUT),
        drain: time(raw.drain, DRAIN),
        max_in_flight: number("max_in_flight", raw.max_in_flight.unwrap_or(IN_FLIGHT))?,
        concurrency: optional("concurrency", raw.concurrency)?,
        connections: number("connections", raw.connections.unwrap_or(many))?,
        stdio: raw.stdio.unwrap_or_default(),
        sessions: optional("sessions", raw.sessions)?,
        seed: raw.seed.unwrap_or(0),
    };
    if load.warm_up >= load.duration() {
        return Err(setting("load.warm_up", "leaves nothing of the run"));
    }
    Ok(load)
}

fn rate(raw: &raw::Load) -> Result<Executor, PlanError> {
    if raw.vus.is_some() || raw.think_time.is_some() {
        return Err(setting(
            "load",
            "vus and think_time belong to executor = \"vus\"",
        ));
    }
    let usual = if raw.stages.is_empty() {
        ShapeName::Constant
    } else {
        ShapeName::Stages
    };
    let name = raw.shape.unwrap_or(usual);
    if (name == ShapeName::Stages) == raw.stages.is_empty() {
        return Err(setting(
            "load.stages",
            "go with shape = \"stages\", and only with it",
        ));
    }
    let shape = shape(raw, name)?;
    if shape.duration().is_zero() {
        return Err(setting("load.duration", "must be above 0"));
    }
    Ok(Executor::Rate { shape })
}

/// How the starts of an open loop are spread.
fn shape(raw: &raw::Load, name: ShapeName) -> Result<Shape, PlanError> {
    let duration = raw.duration.map_or(DURATION, |PlanDuration(time)| time);
    Ok(match name {
        ShapeName::Constant => Shape::Constant {
            rate: per_second(raw.rate.unwrap_or(RATE), "load.rate")?,
            duration,
        },
        ShapeName::Poisson => Shape::Poisson {
            rate: per_second(raw.rate.unwrap_or(RATE), "load.rate")?,
            duration,
        },
        ShapeName::Burst => Shape::Burst {
            size: raw
                .burst
                .filter(|size| (1..=MOST).contains(size))
                .ok_or_else(|| setting("load.burst", "how many start at once?"))?,
            every: raw
                .every
                .map(|PlanDuration(every)| every)
                .filter(|every| !every.is_zero())
                .ok_or_else(|| setting("load.every", "how far apart are the bursts?"))?,
            duration,
        },
        ShapeName::Stages => Shape::Stages(stages(raw)?),
    })
}

fn stages(raw: &raw::Load) -> Result<Vec<Stage>, PlanError> {
    let stage = |stage: &raw::RawStage| {
        if stage.rate != 0.0 {
            per_second(stage.rate, "load.stages.rate")?;
        }
        if stage.duration.0.is_zero() {
            return Err(setting("load.stages.duration", "must be above 0"));
        }
        Ok(Stage {
            duration: stage.duration.0,
            rate: stage.rate,
        })
    };
    raw.stages.iter().map(stage).collect()
}

fn per_second(value: f64, key: &str) -> Result<f64, PlanError> {
    if value > 0.0 && value <= MOST_RATE {
        return Ok(value);
    }
    let problem = format!("must be above 0 and at most {MOST_RATE}");
    Err(setting(key, problem))
}

fn vus(raw: &raw::Load) -> Result<Executor, PlanError> {
    let foreign = raw.rate.is_some()
        || raw.shape.is_some()
        || raw.burst.is_some()
        || raw.every.is_some()
        || !raw.stages.is_empty();
    if foreign {
        let problem = "rate, shape, stages, burst and every belong to executor = \"rate\"";
        return Err(setting("load", problem));
    }
    let vus = raw.vus.unwrap_or(1);
    if !(1..=MOST).contains(&vus) {
        return Err(setting("load.vus", "must be at least 1, and not too many"));
    }
    Ok(Executor::Vus {
        vus: vus as usize,
        think_time: raw
            .think_time
            .map_or(Duration::ZERO, |PlanDuration(time)| time),
        duration: raw.duration.map_or(DURATION, |PlanDuration(time)| time),
    })
}
