//! From a run that is over to its report: what was counted, whether the figures can be trusted,
//! and what it comes to.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::engine::Engine;
use super::outcome::label;
use super::validator::Outcomes;
use super::{ScheduleEnd, lock, thresholds};
use crate::judge::Violation;
use crate::plan::{Executor, Plan};
use crate::policy::{CallOutcome, ProtocolError, Site};
use crate::report::{
    Counters, Figures, Histograms, Run, RunEnd, RunPlan, Setup, TestedServer, ThresholdResult,
    ToolRun, VERSION, Verdict, now_ms, number, rounded,
};

/// Less than this part of the offered starts is not what was offered.
const ACHIEVED: f64 = 0.95;
/// If more than this part of the starts is late, the times are the generator's own.
const LATE: f64 = 0.5;
/// More than this part is worth a note.
const SOME_LATE: f64 = 0.05;

/// Makes the report.
pub(super) async fn finish(
    plan: &Plan,
    engine: &Engine,
    stopped: ScheduleEnd,
    lasted: Duration,
) -> Run {
    engine.flush();
    // Counted before anything is closed: what is under way now was abandoned.
    let counters = counters(engine, stopped.ended, lasted);
    engine.validator.finish().await;
    relist(engine).await;
    let saturated = match plan.load.executor {
        Executor::Rate { .. } => saturation(&counters, stopped.overrun),
        Executor::Vus { .. } => None,
    };
    let (all, tools) = tool_runs(engine);
    let kept = thresholds::check_thresholds(engine);
    let verdicts = engine.validator.verdicts();
    let policies = verdicts.violations.counts;
    let malformed = CallOutcome::ProtocolError(ProtocolError::Malformed);
    let malformed = Outcomes::sum(&verdicts.tools).count(malformed);
    let counters = Counters {
        unvalidated: verdicts.unvalidated,
        ..counters
    };
    let violations = verdicts.violations.records();
    let timeline = engine.figures().timeline.points(&verdicts.unexpected);
    drop(verdicts);
    let notes = notes(engine, &counters, &tools);
    let strict = plan.validation.strict;
    let gating = if strict { policies.fail + malformed } else { 0 };
    let verdict = verdict(
        (gating, plan.validation.max_violations),
        saturated.as_deref(),
        unexercised(&all, &tools),
        &kept,
    );
    Run {
        version: VERSION,
        began_ms: now_ms().saturating_sub(u64::try_from(lasted.as_millis()).unwrap_or(0)),
        server: TestedServer::new(&plan.shown, engine.sessions.client(0)),
        plan: run_plan(plan),
        setup: Setup {
            sessions: engine.sessions.clients.len() as u64,
            seconds: rounded(engine.sessions.took.as_secs_f64()),
            tools: engine.sessions.list.tools.len() as u64,
        },
        ended: stopped.ended,
        measured_s: measured(plan, stopped.ended, lasted),
        saturated,
        all,
        tools,
        timeline,
        violations,
        policies,
        thresholds: kept,
        notes,
        counters,
        verdict,
    }
}

/// How long starts were counted, in seconds.
fn measured(plan: &Plan, ended: RunEnd, lasted: Duration) -> f64 {
    let whole = match ended {
        RunEnd::Finished => plan.duration(),
        RunEnd::Interrupted | RunEnd::Aborted => lasted.min(plan.duration()),
    };
    rounded(whole.saturating_sub(plan.load.warm_up).as_secs_f64())
}

fn counters(engine: &Engine, ended: RunEnd, lasted: Duration) -> Counters {
    let planned = measured(&engine.plan, ended, lasted);
    // A generator that is behind makes its last start after the schedule's end.
    let last = Duration::from_micros(engine.tally.last_start.load(Ordering::Relaxed));
    let last = last.saturating_sub(engine.plan.load.warm_up).as_secs_f64();
    engine.counters(planned, planned.max(last))
}

/// Why the figures are not those of the server, if they are not.
fn saturation(counters: &Counters, overrun: u64) -> Option<String> {
    if counters.offered == 0 {
        return None;
    }
    let share = |count: u64| number(count) / number(counters.offered);
    if overrun > 0 {
        return Some(format!(
            "the generator could not take {overrun} starts when they were due"
        ));
    }
    if share(counters.late) > LATE {
        return Some(format!(
            "the generator itself was late for {} of {} starts",
            counters.late, counters.offered
        ));
    }
    if counters.achieved_rate < counters.offered_rate * ACHIEVED {
        let why = if counters.dropped > 0 {
            format!(
                "{} were dropped at the limit of calls in flight",
                counters.dropped
            )
        } else {
            "the generator was behind its schedule".to_owned()
        };
        return Some(format!(
            "{:.1} starts a second of {:.1} offered: {why}",
            counters.achieved_rate, counters.offered_rate
        ));
    }
    None
}

/// What was not exercised: everything, if no call ended in time to be counted, or the tools of
/// which no call came to what was expected.
fn unexercised(all: &ToolRun, tools: &[ToolRun]) -> Vec<String> {
    if all.calls == 0 {
        return vec!["no call was answered, so nothing was tested".to_owned()];
    }
    let idle = tools.iter().filter(|tool| !tool.is_exercised());
    idle.map(ToolRun::why_unexercised).collect()
}

/// What it comes to. A broken contract outranks a saturated generator, whose thresholds mean nothing.
fn verdict(
    (gating, tolerated): (u64, u64),
    saturated: Option<&str>,
    unexercised: Vec<String>,
    kept: &[ThresholdResult],
) -> Verdict {
    let broken = (gating > tolerated)
        .then(|| format!("{gating} violations of the contract, {tolerated} tolerated"));
    let missed = kept.iter().filter(|kept| !kept.holds).map(|kept| {
        let ThresholdResult {
            name,
            bound,
            measured,
            ..
        } = kept;
        format!("{name} is {measured}, expected {bound}")
    });
    let broken = broken.into_iter().map(|why| (1, why));
    let saturated = saturated.into_iter().map(|why| (4, why.to_owned()));
    let failed = unexercised.into_iter().chain(missed).map(|why| (1, why));
    let mut verdict = Verdict::default();
    for (exit, why) in broken.chain(saturated).chain(failed) {
        if verdict.exit == 0 {
            verdict.exit = exit;
        }
        verdict.reasons.push(why);
    }
    verdict
}

/// Lists the tools again: a list that changed during the run is a violation too.
async fn relist(engine: &Engine) {
    let client = engine.sessions.client(0);
    if client.is_closed() {
        return engine.note("the server had gone before the end".to_owned());
    }
    let Ok(list) = client.list_tools().await else {
        return engine.note("the tools could not be listed again at the end".to_owned());
    };
    let before = engine.sessions.list.tools.iter().map(|tool| &tool.raw);
    if before.ne(list.tools.iter().map(|tool| &tool.raw)) {
        let rules = engine.validator.rules();
        let violation = Violation::of_site(Site::ListChanged);
        let applied = rules.apply("", &violation);
        let mut verdicts = engine.validator.verdicts();
        rules.record(&mut verdicts.violations, usize::MAX, &violation, &applied);
    }
}

fn tool_runs(engine: &Engine) -> (ToolRun, Vec<ToolRun>) {
    let figures = engine.figures();
    let verdicts = engine.validator.verdicts();
    let names = &engine.validator.rules().tools;
    let tool_run = |name: &str, histograms: &Histograms, outcomes: &Outcomes| {
        let counts = outcomes.counts.iter();
        ToolRun {
            tool: name.to_owned(),
            calls: histograms.response.len(),
            unexpected: outcomes.unexpected,
            outcomes: counts
                .map(|(outcome, count)| (label(*outcome), *count))
                .collect(),
            figures: Figures::from(histograms),
        }
    };
    let each = names.iter().zip(&figures.tools).zip(&verdicts.tools);
    let tools = each.map(|((name, histograms), outcomes)| tool_run(name, histograms, outcomes));
    let tools = tools.collect();
    let all = tool_run("", &figures.all(), &Outcomes::sum(&verdicts.tools));
    (all, tools)
}

fn run_plan(plan: &Plan) -> RunPlan {
    RunPlan {
        executor: plan.executor(),
        duration_s: plan.duration().as_secs_f64(),
        warm_up_s: plan.load.warm_up.as_secs_f64(),
        seed: plan.load.seed,
        strict: plan.validation.strict,
        max_violations: plan.validation.max_violations,
    }
}

fn notes(engine: &Engine, counters: &Counters, tools: &[ToolRun]) -> Vec<String> {
    let counted = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let mut notes = lock(&engine.notes).clone();
    let broken_off = engine.tally.broken_off.load(Ordering::Relaxed);
    let what = "scenarios were broken off because a result lacked a value to take";
    notes.extend(counted(broken_off, what));
    for tool in tools.iter().filter(|tool| tool.calls == 0) {
        notes.push(format!("no call of {:?} was counted", tool.tool));
    }
    let withheld = engine.tally.withheld.load(Ordering::Relaxed);
    let what = "calls were not sent because their arguments do not fit the input schema";
    notes.extend(counted(withheld, what));
    if number(counters.late) / number(counters.offered.max(1)) > SOME_LATE {
        notes.push(format!(
            "{} of {} starts were made more than 1 ms late; response times include that",
            counters.late, counters.offered
        ));
    }
    let what = "answers were not validated because validation could not keep up";
    notes.extend(counted(counters.unvalidated, what));
    let noise = engine.sessions.clients.iter().map(|one| one.noise()).sum();
    let what = "lines on the server's stdout are not MCP messages; logs belong to stderr";
    notes.extend(counted(noise, what));
    let nameless = engine.sessions.list.nameless as u64;
    notes.extend(counted(nameless, "entries of the tool list have no name"));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(started: u64, dropped: u64, late: u64, achieved_rate: f64) -> Counters {
        Counters {
            offered: 1000,
            started,
            dropped,
            late,
            offered_rate: 100.0,
            achieved_rate,
            ..Counters::default()
        }
    }

    #[test]
    fn a_generator_that_cannot_keep_up_says_so() {
        assert_eq!(saturation(&counters(1000, 0, 400, 100.0), 0), None);
        assert_eq!(saturation(&counters(960, 40, 0, 96.0), 0), None);
        for (counters, overrun, expected) in [
            (counters(900, 0, 0, 100.0), 100, "could not take 100 starts"),
            (counters(1000, 0, 600, 100.0), 0, "late for 600 of 1000"),
            (counters(900, 100, 0, 90.0), 0, "100 were dropped"),
            (counters(1000, 0, 100, 80.0), 0, "behind its schedule"),
        ] {
            let said = saturation(&counters, overrun).expect(expected);
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn a_broken_contract_outranks_saturation_and_that_outranks_thresholds() {
        let broken = ThresholdResult {
            name: "x".to_owned(),
            bound: "< 1".to_owned(),
            measured: "2".to_owned(),
            holds: false,
        };
        let exit = |gating, tolerated, saturated, kept: &[ThresholdResult]| {
            verdict((gating, tolerated), saturated, Vec::new(), kept).exit
        };
        assert_eq!(exit(0, 0, None, &[]), 0);
        assert_eq!(exit(1, 1, None, &[]), 0);
        assert_eq!(exit(1, 0, Some("busy"), &[]), 1);
        assert_eq!(exit(0, 0, Some("busy"), std::slice::from_ref(&broken)), 4);
        assert_eq!(exit(0, 0, None, std::slice::from_ref(&broken)), 1);
        let idle = || vec!["no call of \"x\" came to what was expected".to_owned()];
        assert_eq!(verdict((0, 0), None, idle(), &[]).exit, 1);
        assert_eq!(verdict((0, 0), Some("busy"), idle(), &[]).exit, 4);
        let all = verdict((2, 0), Some("busy"), idle(), &[broken]);
        assert_eq!(all.reasons.len(), 4);
    }
}
