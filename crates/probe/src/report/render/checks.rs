//! A run for CI systems: as suites of checks, and as results of code scanning. The forms are
//! shared with contract runs; here is only what a load run says in them.

use std::collections::BTreeSet;

use crate::policy::{SchemaPolicy, Site};
use crate::report::junit::{self, Check, Status, Suite};
use crate::report::sarif::{self, SarifResult, SarifRule};
use crate::report::{Run, ToolRun, ViolationRecord};

/// What a violation says in one line.
fn line(one: &ViolationRecord) -> String {
    let place = one.instance_pointer.as_deref().unwrap_or_default();
    let types = match (&one.expected, &one.actual) {
        (Some(expected), Some(actual)) => format!(": expected {expected}, was {actual}"),
        _ => String::new(),
    };
    let at = if place.is_empty() {
        String::new()
    } else {
        format!(" at {place}")
    };
    format!("{}{at}{types}, {} times", one.rule, one.count)
}

/// A suite for each tool, one for the thresholds, one for the load itself.
pub(super) fn junit(run: &Run) -> String {
    let mut suites: Vec<Suite> = run
        .tools
        .iter()
        .map(|tool| Suite {
            name: tool.tool.clone(),
            checks: [contract(run, &tool.tool), exercised(tool)].concat(),
        })
        .collect();
    let thresholds = run.thresholds.iter().map(|kept| {
        let problem = (!kept.holds).then(|| format!("is {}", kept.measured));
        Check::from_problem(format!("{} {}", kept.name, kept.bound), problem)
    });
    suites.push(Suite {
        name: "thresholds".to_owned(),
        checks: thresholds.collect(),
    });
    let unanswered =
        (run.all.calls == 0).then(|| "no call was answered, so nothing was tested".to_owned());
    suites.push(Suite {
        name: "load".to_owned(),
        checks: vec![
            Check::from_problem("the offered load was made", run.saturated.clone()),
            Check::from_problem("calls were answered", unanswered),
        ],
    });
    junit::render("countersign load", &suites)
}

/// A failed check for a tool that was called and never answered as expected.
fn exercised(tool: &ToolRun) -> Vec<Check> {
    let failed = (!tool.is_exercised())
        .then(|| Check::new("is exercised", Status::failed(tool.why_unexercised())));
    failed.into_iter().collect()
}

fn contract(run: &Run, tool: &str) -> Vec<Check> {
    let of_tool = run.violations.iter().filter(|one| one.tool == tool);
    let mut checks: Vec<Check> = of_tool
        .filter_map(|one| {
            let status = match one.policy {
                SchemaPolicy::Ignore => return None,
                SchemaPolicy::Warn => Status::Warned(line(one)),
                SchemaPolicy::Fail => Status::failed(line(one)),
            };
            let name = format!("{} {}", one.rule, one.fingerprint);
            Some(Check::new(name, status))
        })
        .collect();
    if checks.is_empty() {
        checks.push(Check::new("keeps its contract", Status::Passed));
    }
    checks
}

/// Each violation that is not ignored as a result.
pub(super) fn sarif(run: &Run) -> String {
    let shown: Vec<&ViolationRecord> = run.reported().collect();
    let ids: BTreeSet<&str> = shown.iter().map(|one| one.rule.as_str()).collect();
    let rule = |id| {
        let site = Site::ALL.iter().find(|site| site.rule() == id);
        let text = site.map_or("the contract is not kept", |site| site.description());
        (id, text)
    };
    let rules: Vec<SarifRule<'_>> = ids.into_iter().map(rule).collect();
    let results = shown.iter().map(|one| SarifResult {
        rule: one.rule.clone(),
        policy: one.policy,
        text: line(one),
        server: run.server.name.clone(),
        tool: one.tool.clone(),
        fingerprint: one.fingerprint.clone(),
        is_known: false,
        accepted: None,
        reproducer: one.repro.clone(),
    });
    let results: Vec<SarifResult> = results.collect();
    sarif::render(&run.server.name, &rules, &results)
}
