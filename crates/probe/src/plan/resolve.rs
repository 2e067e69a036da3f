//! From the plan as written to the plan as run: defaults filled in, contradictions refused, files
//! read, references to the environment and between calls checked.

mod load;
mod scenario;
mod server;

use std::path::Path;

use super::raw::{self, Limit};
use super::threshold::Threshold;
use super::{Plan, PlanError};

use load::load;
use scenario::scenario;
pub(super) use server::{options, target};
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
    let scenarios = raw.scenario.into_iter().enumerate();
    let scenarios = scenarios.map(|(number, raw)| scenario(number, raw, folder));
    let scenarios = scenarios.collect::<Result<_, _>>()?;
    let mut thresholds = Vec::new();
    for (name, limit) in raw.thresholds {
        let (limit, abort) = match limit {
            Limit::Plain(limit) => (limit, false),
            Limit::Full {
                limit,
                abort_on_fail,
            } => (limit, abort_on_fail),
        };
        thresholds.push(Threshold::read(&name, &limit, abort)?);
    }
    let output = raw.output.into_iter();
    let output = output.map(|(format, path)| (format, folder.join(path)));
    Ok(Plan {
        target,
        shown,
        options,
        validation: raw.validation,
        load: load(&raw.load)?,
        scenarios,
        thresholds,
        output: output.collect(),
    })
}
