//! What is called: the calls of a scenario, each of which refers only to what is there by then.

use std::collections::BTreeSet;
use std::path::Path;

use super::setting;
use crate::plan::PlanError;
use crate::plan::feeder::Feeder;
use crate::plan::raw;
use crate::plan::scenario::{Call, Expect, Scenario};
use crate::plan::template::Template;

pub(super) fn scenario(
    number: usize,
    mut raw: raw::Scenario,
    folder: &Path,
) -> Result<Scenario, PlanError> {
    let key = format!("scenario[{number}]");
    let feeder = raw.feeder.take();
    let (name, weight) = (raw.name.take(), raw.weight.unwrap_or(1));
    let calls = calls(raw).map_err(|problem| setting(&key, problem))?;
    let feeder = feeder
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
        name: name.or(first).unwrap_or_default(),
        weight: match weight {
            0 => return Err(setting(format!("{key}.weight"), "must be at least 1")),
            weight => weight,
        },
        feeder,
        calls: resolved,
    })
}

/// The calls as they are written: a list, or one tool.
fn calls(raw: raw::Scenario) -> Result<Vec<raw::Call>, &'static str> {
    let mut calls = raw.call;
    if let Some(tool) = raw.tool {
        if !calls.is_empty() {
            return Err("give either a tool or a list of calls");
        }
        calls.push(raw::Call {
            tool,
            arguments: raw.arguments,
            arguments_json: raw.arguments_json,
            expect: raw.expect,
            take: raw.take,
        });
    } else if raw.arguments.is_some() || raw.arguments_json.is_some() || raw.expect.is_some() {
        return Err("arguments and expect belong to a tool");
    }
    if calls.is_empty() {
        return Err("there is nothing to call");
    }
    Ok(calls)
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
