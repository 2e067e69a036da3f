//! From the plan as written to the plan as run: defaults filled in, contradictions refused, files
//! read, references to the environment and between calls checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use countersign_inspect::Era;

use super::feeder::Feeder;
use super::raw::{self, EraName, ExecutorName, Limit, ShapeName};
use super::scenario::{Call, Expect, Scenario};
use super::schedule::{Executor, Load, Shape, Stage};
use super::template::Template;
use super::threshold::Threshold;
use super::units::Span;
use super::{Plan, PlanError};
use crate::client::{Options, Program, Site, Target};

const DURATION: Duration = Duration::from_secs(30);
const TIMEOUT: Duration = Duration::from_secs(30);
const DRAIN: Duration = Duration::from_secs(10);
const RATE: f64 = 10.0;
/// No client starts more calls a second than this, so more is a mistake.
const MOST_RATE: f64 = 1_000_000.0;
const IN_FLIGHT: u32 = 1_000;
const CONNECTIONS: u32 = 8;
const MOST: u32 = 100_000;

type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

fn setting(key: impl Into<String>, problem: impl Into<String>) -> PlanError {
    PlanError::Setting {
        key: key.into(),
        problem: problem.into(),
    }
}

/// Resolves everything.
pub(super) fn resolve(
    raw: raw::Plan,
    folder: &Path,
    environment: Environment<'_>,
) -> Result<Plan, PlanError> {
    let options = options(&raw.server);
    let (target, shown) = target(raw.server, folder, environment)?;
    if raw.scenario.is_empty() {
        return Err(setting("scenario", "there is nothing to call"));
    }
    let scenarios: Result<Vec<_>, _> = raw
        .scenario
        .into_iter()
        .enumerate()
        .map(|(number, raw)| scenario(number, raw, folder))
        .collect();
    let scenarios = scenarios?;
    let mut thresholds = Vec::new();
    for (name, limit) in raw.thresholds {
        let (limit, abort) = match limit {
            Limit::Plain(limit) => (limit, false),
            Limit::Full(full) => (full.limit, full.abort_on_fail),
        };
        thresholds.push(Threshold::read(&name, &limit, abort)?);
    }
    let output = raw.output.into_iter();
    Ok(Plan {
        target,
        shown,
        options,
        validation: raw.validation,
        load: load(&raw.load)?,
        scenarios,
        thresholds,
        output: output
            .map(|(format, path)| (format, folder.join(path)))
            .collect(),
    })
}

pub(super) fn options(server: &raw::Server) -> Options {
    let mut options = Options::default();
    if let Some(bytes) = server.max_message_bytes {
        options = options.limited(bytes);
    }
    Options {
        era: server.era.map(|era| match era {
            EraName::Legacy => Era::Legacy,
            EraName::Modern => Era::Modern,
        }),
        ..options
    }
}

pub(super) fn target(
    server: raw::Server,
    folder: &Path,
    environment: Environment<'_>,
) -> Result<(Target, String), PlanError> {
    match (server.command, server.url) {
        (Some(command), None) if server.headers.is_empty() => {
            let env = looked_up("server.env", server.env, environment)?;
            let shown = std::iter::once(command.as_str())
                .chain(server.args.iter().map(String::as_str))
                .collect::<Vec<_>>()
                .join(" ");
            let program = Program {
                command,
                args: server.args,
                env,
                working_dir: server.working_dir.map(|dir| folder.join(dir)),
            };
            Ok((Target::Stdio(program), shown))
        }
        (None, Some(url)) if server.args.is_empty() && server.env.is_empty() => {
            let headers = looked_up("server.headers", server.headers, environment)?;
            let site = Site::new(&url, &headers)?;
            // What is asked for may hold a key; where it is asked for does not.
            let shown = url.split(['?', '#']).next().unwrap_or_default().to_owned();
            Ok((Target::Http(site), shown))
        }
        (Some(_), None) => Err(setting("server.headers", "a command has no headers")),
        (None, Some(_)) => Err(setting("server", "a url has no args and no env")),
        _ => Err(setting("server", "give either a command or a url")),
    }
}

/// Values with their `${env:NAME}` references resolved.
fn looked_up(
    key: &str,
    values: BTreeMap<String, String>,
    environment: Environment<'_>,
) -> Result<BTreeMap<String, String>, PlanError> {
    let mut resolved = BTreeMap::new();
    for (name, value) in values {
        let key = format!("{key}.{name}");
        let mut out = String::new();
        let mut rest = value.as_str();
        while let Some((before, after)) = rest.split_once("${env:") {
            let Some((variable, after)) = after.split_once('}') else {
                return Err(setting(key, "a reference is not closed"));
            };
            let found = environment(variable).ok_or_else(|| PlanError::Environment {
                key: key.clone(),
                name: variable.to_owned(),
            })?;
            out.push_str(before);
            out.push_str(&found);
            rest = after;
        }
        out.push_str(rest);
        resolved.insert(name, out);
    }
    Ok(resolved)
}

fn load(raw: &raw::Load) -> Result<Load, PlanError> {
    let executor = match raw.executor {
        ExecutorName::Rate => rate(raw)?,
        ExecutorName::Vus => vus(raw)?,
    };
    let time = |span: Option<Span>, default| span.map_or(default, |Span(time)| time);
    let number = |key: &str, value: Option<u32>, default: u32| match value.unwrap_or(default) {
        0 => Err(setting(format!("load.{key}"), "must be at least 1")),
        value if value > MOST => Err(setting(format!("load.{key}"), "is too many")),
        value => Ok(value as usize),
    };
    let many = match &executor {
        Executor::Vus { vus, .. } => u32::try_from(*vus).unwrap_or(MOST),
        Executor::Rate { .. } => CONNECTIONS,
    };
    let load = Load {
        executor,
        warm_up: time(raw.warm_up, Duration::ZERO),
        timeout: time(raw.timeout, TIMEOUT),
        drain: time(raw.drain, DRAIN),
        max_in_flight: number("max_in_flight", raw.max_in_flight, IN_FLIGHT)?,
        concurrency: match raw.concurrency {
            None => None,
            given => Some(number("concurrency", given, 1)?),
        },
        connections: number("connections", raw.connections, many)?,
        stdio: raw.stdio.unwrap_or_default(),
        sessions: match raw.sessions {
            None => None,
            given => Some(number("sessions", given, 1)?),
        },
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
    let duration = raw.duration.map_or(DURATION, |Span(time)| time);
    let per_second = |value: f64, key: &str| {
        if value > 0.0 && value <= MOST_RATE {
            Ok(value)
        } else {
            Err(setting(
                key,
                format!("must be above 0 and at most {MOST_RATE}"),
            ))
        }
    };
    let shape = match name {
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
                .map(|Span(every)| every)
                .filter(|every| !every.is_zero())
                .ok_or_else(|| setting("load.every", "how far apart are the bursts?"))?,
            duration,
        },
        ShapeName::Stages => {
            let mut stages = Vec::new();
            for stage in &raw.stages {
                if stage.rate != 0.0 {
                    per_second(stage.rate, "load.stages.rate")?;
                }
                if stage.duration.0.is_zero() {
                    return Err(setting("load.stages.duration", "must be above 0"));
                }
                stages.push(Stage {
                    duration: stage.duration.0,
                    rate: stage.rate,
                });
            }
            Shape::Stages(stages)
        }
    };
    if shape.duration().is_zero() {
        return Err(setting("load.duration", "must be above 0"));
    }
    Ok(Executor::Rate { shape })
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
        think_time: raw.think_time.map_or(Duration::ZERO, |Span(time)| time),
        duration: raw.duration.map_or(DURATION, |Span(time)| time),
    })
}

fn scenario(number: usize, raw: raw::Scenario, folder: &Path) -> Result<Scenario, PlanError> {
    let key = format!("scenario[{number}]");
    let mut calls = raw.call;
    if let Some(tool) = raw.tool {
        if !calls.is_empty() {
            return Err(setting(key, "give either a tool or a list of calls"));
        }
        calls.push(raw::Call {
            tool,
            arguments: raw.arguments,
            arguments_json: raw.arguments_json,
            expect: raw.expect,
            take: raw.take,
        });
    } else if raw.arguments.is_some() || raw.arguments_json.is_some() || raw.expect.is_some() {
        return Err(setting(key, "arguments and expect belong to a tool"));
    }
    if calls.is_empty() {
        return Err(setting(key, "there is nothing to call"));
    }
    let feeder = raw
        .feeder
        .map(|feeder| Feeder::load(folder, &feeder.file, feeder.order))
        .transpose()?;
    let mut known = BTreeSet::new();
    let mut resolved = Vec::new();
    for (position, raw) in calls.into_iter().enumerate() {
        let key = format!("{key}.call[{position}]");
        let call = call(&key, raw)?;
        check(&key, &call, feeder.as_ref(), &known)?;
        known.extend(call.take.keys().cloned());
        resolved.push(call);
    }
    let first = resolved.first().map(|call| call.tool.clone());
    Ok(Scenario {
        name: raw.name.or(first).unwrap_or_default(),
        weight: match raw.weight.unwrap_or(1) {
            0 => return Err(setting(format!("{key}.weight"), "must be at least 1")),
            weight => weight,
        },
        feeder,
        calls: resolved,
    })
}

fn call(key: &str, raw: raw::Call) -> Result<Call, PlanError> {
    let arguments = match (raw.arguments, raw.arguments_json) {
        (Some(value), None) => Template::from_toml(&value)?,
        (None, Some(text)) => Template::from_json(text.trim())?,
        (None, None) => Template::from_json("{}")?,
        (Some(_), Some(_)) => {
            return Err(setting(key, "give either arguments or arguments_json"));
        }
    };
    let wrong = raw
        .take
        .values()
        .find(|pointer| !pointer.is_empty() && !pointer.starts_with('/'));
    if let Some(pointer) = wrong {
        let problem =
            format!("{pointer:?} is not a JSON pointer such as \"/structuredContent/id\"");
        return Err(setting(format!("{key}.take"), problem));
    }
    Ok(Call {
        tool: raw.tool,
        arguments,
        expect: raw.expect.unwrap_or(Expect::Ok),
        take: raw.take,
    })
}

/// Whether everything that a call refers to is there by then.
fn check(
    key: &str,
    call: &Call,
    feeder: Option<&Feeder>,
    known: &BTreeSet<String>,
) -> Result<(), PlanError> {
    for reference in call.arguments.references() {
        let problem = match reference.split_once(':') {
            Some(("feed", column)) => match feeder {
                None => Some("the scenario has no feeder".to_owned()),
                Some(feeder) if !feeder.has(column) => {
                    Some(format!("not every row of {} has it", feeder.file.display()))
                }
                Some(_) => None,
            },
            Some(("take", name)) if !known.contains(name) => {
                Some("no earlier call of the scenario takes it".to_owned())
            }
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(setting(key, format!("${{{reference}}}: {problem}")));
        }
    }
    Ok(())
}
