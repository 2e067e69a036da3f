//! What a plan will do, in words, before anything is sent.

use std::fmt::Write as _;

use super::Plan;
use super::scenario::{Expect, Scenario};
use super::schedule::{Executor, Load, Processes, Shape};
use super::units::format_duration;
use crate::client::Target;

/// Longer arguments are cut.
const ARGUMENTS: usize = 120;

/// Writes the whole explanation.
pub(super) fn write(plan: &Plan, out: &mut String) -> std::fmt::Result {
    let how = match plan.target {
        Target::Stdio(_) => "stdio",
        Target::Http(_) => "http",
    };
    let era = plan.options.era;
    let era = era.map_or("whichever era it speaks", |era| era.as_str());
    writeln!(out, "Server      {} ({how}, {era})", plan.shown)?;
    writeln!(out, "Load        {}", executor(&plan.load))?;
    writeln!(out, "            {}", bounds(&plan.load))?;
    if matches!(plan.target, Target::Stdio(_)) {
        let shared = match plan.load.stdio {
            Processes::Inflight => "one process, many calls in flight on it",
            Processes::Processes => "a process for each session, one session for each user",
        };
        writeln!(out, "            {shared}")?;
    }
    for scenario in &plan.scenarios {
        scenario_lines(scenario, plan.total_weight(), out)?;
    }
    validation(plan, out)?;
    for (number, threshold) in plan.thresholds.iter().enumerate() {
        let label = if number == 0 { "Thresholds" } else { "" };
        writeln!(out, "{label:<11} {threshold}")?;
    }
    for (number, (format, path)) in plan.output.iter().enumerate() {
        let label = if number == 0 { "Output" } else { "" };
        writeln!(out, "{label:<11} {} to {}", format.as_str(), path.display())?;
    }
    writeln!(out, "Nothing was sent.")
}

pub(super) fn executor(load: &Load) -> String {
    match &load.executor {
        Executor::Rate { shape } => match shape {
            Shape::Constant { rate, duration } => {
                format!(
                    "open loop, {rate} starts a second for {}",
                    format_duration(*duration)
                )
            }
            Shape::Poisson { rate, duration } => format!(
                "open loop, {rate} starts a second on average at random for {}",
                format_duration(*duration)
            ),
            Shape::Burst {
                size,
                every,
                duration,
            } => format!(
                "open loop, {size} starts at once every {} for {}",
                format_duration(*every),
                format_duration(*duration)
            ),
            Shape::Stages(stages) => {
                let all = stages.iter().map(|stage| {
                    format!("to {}/s in {}", stage.rate, format_duration(stage.duration))
                });
                let all: Vec<String> = all.collect();
                format!("open loop, {}", all.join(", "))
            }
        },
        Executor::Vus {
            vus,
            think_time,
            duration,
        } => format!(
            "closed loop, {vus} users for {}, {} between scenarios",
            format_duration(*duration),
            format_duration(*think_time)
        ),
    }
}

fn bounds(load: &Load) -> String {
    let at_once = load
        .concurrency
        .map_or_else(String::new, |most| format!(", {most} of them sent at once"));
    format!(
        "the first {} are not counted; a call may take {}; at most {} in flight{at_once}; seed {}",
        format_duration(load.warm_up),
        format_duration(load.timeout),
        load.max_in_flight,
        load.seed
    )
}

fn scenario_lines(scenario: &Scenario, total: u64, out: &mut String) -> std::fmt::Result {
    let (name, weight) = (&scenario.name, scenario.weight);
    writeln!(out, "Scenario    {name}: {weight} of {total}")?;
    if let Some(feeder) = &scenario.feeder {
        let (rows, file) = (feeder.rows.len(), feeder.file.display());
        writeln!(out, "            {rows} rows from {file}")?;
    }
    for call in &scenario.calls {
        let arguments = match call.arguments.fixed() {
            Some(fixed) => cut(&String::from_utf8_lossy(fixed)),
            None => format!("arguments from {}", call.arguments.references().join(", ")),
        };
        let expect = match call.expect {
            Expect::Ok => String::new(),
            other => format!(" (expects {})", other.as_str()),
        };
        writeln!(out, "            call {} {arguments}{expect}", call.tool)?;
        for (name, pointer) in &call.take {
            writeln!(
                out,
                "            take {name} from {pointer:?} of its result"
            )?;
        }
    }
    Ok(())
}

fn cut(text: &str) -> String {
    if text.chars().count() <= ARGUMENTS {
        return text.to_owned();
    }
    let start: String = text.chars().take(ARGUMENTS).collect();
    format!("{start}…")
}

fn validation(plan: &Plan, out: &mut String) -> std::fmt::Result {
    let validation = &plan.validation;
    let mode = if validation.strict {
        format!(
            "strict: more than {} violations fail the run",
            validation.max_violations
        )
    } else {
        "lenient: violations are counted and never fail the run".to_owned()
    };
    writeln!(out, "Validation  {mode}")?;
    for one in &validation.overrides {
        writeln!(
            out,
            "            {} at {} is {} until {}: {}",
            one.tool,
            one.site.join(", "),
            one.policy,
            one.until,
            one.reason
        )?;
    }
    Ok(())
}
