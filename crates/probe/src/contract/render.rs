//! A run in the forms people and CI systems read. All of them are made from the run, which is
//! itself the first form: JSON.

use std::fmt::Write as _;

use super::oracle::RULES;
use super::record::Record;
use super::run::{Run, ToolRun};
use crate::policy::{PolicySource, SchemaPolicy, Site};
use crate::report::junit::{self, Check, Status, Suite};
use crate::report::markdown::{cell, code, table};
use crate::report::sarif::{self, SarifResult, SarifRule};
use crate::report::{write_string, write_violations};

/// The checks of a tool, by the site their findings have.
const CHECKS: [(&str, &[&str]); 5] = [
    ("declared schemas", &["schema"]),
    ("arguments are checked", &["args"]),
    (
        "results fit their schema",
        &["result", "missing", "format", "extra", "error"],
    ),
    ("text says the same", &["mirror"]),
    ("calls are answered", &["call", "gateway", "list"]),
];

/// The run as JSON, indented.
pub fn json(run: &Run) -> String {
    serde_json::to_string_pretty(run).unwrap_or_default() + "\n"
}

/// One finding a line, as JSON.
pub fn json_lines(run: &Run) -> String {
    run.findings
        .iter()
        .filter_map(|record| serde_json::to_string(record).ok())
        .map(|line| line + "\n")
        .collect()
}

/// Counters in the text form that Prometheus reads.
pub fn prometheus(run: &Run) -> String {
    let findings = run.findings.iter();
    let findings = findings.map(|one| (&*one.tool, &*one.site, one.policy, one.count));
    write_string(|out| write_violations(findings, out))
}

/// Test suites, one per tool.
pub fn junit(run: &Run) -> String {
    let mut suites: Vec<Suite> = run.tools.iter().map(|tool| suite(run, tool)).collect();
    let unlisted = |record: &&Record| !run.tools.iter().any(|tool| tool.name == record.tool);
    let rest: Vec<&Record> = run.findings.iter().filter(unlisted).collect();
    let mut checks = vec![check("the server as a whole", &rest)];
    if run.is_unexercised {
        let problem = "no valid call of any tool had a result, so nothing was tested";
        let status = Status::failed(problem.to_owned());
        checks.push(Check::new("a valid call has a result", status));
    }
    suites.push(Suite {
        name: "(server)".to_owned(),
        checks,
    });
    junit::render(&run.server, &suites)
}

fn suite(run: &Run, tool: &ToolRun) -> Suite {
    let checks = CHECKS.iter().map(|(name, sites)| {
        let is_about = |one: &&Record| one.tool == tool.name && sites.contains(&one.site.as_str());
        let found: Vec<&Record> = run.findings.iter().filter(is_about).collect();
        match tool.refused {
            Some(why) if found.is_empty() => {
                let why = format!("not called: {}", why.as_str());
                Check::new(*name, Status::Skipped(why))
            }
            _ => check(name, &found),
        }
    });
    Suite {
        name: tool.name.clone(),
        checks: checks.collect(),
    }
}

fn check(name: &str, found: &[&Record]) -> Check {
    let text = |policy: SchemaPolicy| -> Vec<String> {
        let chosen = found.iter().filter(|record| record.policy == policy);
        let lines = chosen.map(|record| {
            let command = record.reproducer.as_deref().unwrap_or_default();
            format!("{}\n  {command}", record.line())
        });
        lines.collect()
    };
    let (failed, warned) = (text(SchemaPolicy::Fail), text(SchemaPolicy::Warn));
    let status = if let Some(first) = failed.first() {
        let message = first.lines().next().unwrap_or_default().to_owned();
        Status::Failed {
            message,
            text: failed.join("\n"),
        }
    } else if warned.is_empty() {
        Status::Passed
    } else {
        Status::Warned(warned.join("\n"))
    };
    Check::new(name, status)
}

/// Results for code scanning.
pub fn sarif(run: &Run) -> String {
    let sites = Site::ALL.iter();
    let sites = sites.map(|site| (site.rule(), site.description()));
    let rules = RULES.iter().map(|rule| (rule.id, rule.description));
    let used = |(id, _): &SarifRule<'_>| run.findings.iter().any(|record| record.rule == *id);
    let rules: Vec<SarifRule<'_>> = sites.chain(rules).filter(used).collect();
    let results = run.findings.iter();
    let results: Vec<SarifResult> = results.map(|one| sarif_result(run, one)).collect();
    sarif::render(&run.server, &rules, &results)
}

fn sarif_result(run: &Run, record: &Record) -> SarifResult {
    let accepted = match &record.why {
        PolicySource::Override { reason } => Some(reason.clone()),
        PolicySource::Baseline => Some("known, in the baseline".to_owned()),
        PolicySource::Mode | PolicySource::Expired { .. } => None,
    };
    SarifResult {
        rule: record.rule.clone(),
        policy: record.policy,
        text: record.line(),
        server: run.server.clone(),
        tool: record.tool.clone(),
        fingerprint: record.fingerprint.clone(),
        is_known: record.why == PolicySource::Baseline,
        accepted,
        reproducer: record.reproducer.clone(),
    }
}

/// A summary for a CI step.
pub fn markdown(run: &Run) -> String {
    let mut out = format!(
        "## Contract of {}\n\n{}\n\n",
        cell(&run.server),
        cell(&summary(run))
    );
    let rows: Vec<Vec<String>> = run.tools.iter().map(tool_row).collect();
    out += &table(
        &["tool", "cases", "results", "errors", "refusals", "note"],
        &rows,
    );
    let row = |record: &Record| {
        vec![
            record.policy.to_string(),
            record.tool.clone(),
            record.rule.clone(),
            record.instance_pointer.clone().unwrap_or_default(),
            record.count.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = run.reported().map(row).collect();
    if !rows.is_empty() {
        out += "\n### Findings\n\n";
        out += &table(&["policy", "tool", "rule", "at", "seen"], &rows);
    }
    for record in run.reported() {
        let command = code(record.reproducer.as_deref().unwrap_or_default());
        out += &["\n", &cell(&record.line()), "\n\n", &command].concat();
    }
    out
}

fn tool_row(tool: &ToolRun) -> Vec<String> {
    let cases: u64 = tool.cases.values().sum();
    let note = tool.refused.map_or_else(
        || tool.notes.join("; "),
        |why| format!("not called: {}", why.as_str()),
    );
    vec![
        tool.name.clone(),
        cases.to_string(),
        tool.succeeded.to_string(),
        tool.errored.to_string(),
        tool.rejected.to_string(),
        note,
    ]
}

/// The run in one sentence.
pub fn summary(run: &Run) -> String {
    let called = run.tools.iter().filter(|tool| tool.refused.is_none());
    let called = called.count();
    let (fail, warn) = (run.count(SchemaPolicy::Fail), run.count(SchemaPolicy::Warn));
    let known = run
        .findings
        .iter()
        .filter(|one| one.why == PolicySource::Baseline);
    let known = known.count();
    let ignored = run.count(SchemaPolicy::Ignore) - known;
    let mode = if run.strict { "strict" } else { "lenient" };
    format!(
        "{called} of {} tools called, {} calls, seed {}, {mode}: {fail} fail, {warn} warn, {known} known, {ignored} ignored",
        run.tools.len(),
        run.calls,
        run.seed
    )
}

/// The run for a person at a terminal. `clean` makes what a server wrote safe to print.
pub fn terminal(run: &Run, clean: &dyn Fn(&str) -> String) -> String {
    write_string(|out| {
        for tool in &run.tools {
            let name = clean(&tool.name);
            if let Some(why) = tool.refused {
                writeln!(out, "not called: {name} ({})", why.as_str())?;
            }
            for note in &tool.notes {
                writeln!(out, "note: {name}: {}", clean(note))?;
            }
        }
        for record in run.reported() {
            writeln!(out, "{}", clean(&record.line()))?;
            if let Some(command) = &record.reproducer {
                writeln!(out, "  {}", clean(command))?;
            }
        }
        writeln!(out, "{}", clean(&summary(run)))
    })
}
