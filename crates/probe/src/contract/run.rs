//! A run: the passes over the tools of one server, in order, and what came of them. Sequential on
//! purpose, so that an answer can be attributed to its case.

mod checks;
mod findings;
mod intent;
mod report;
mod settings;
mod smaller;
mod tool;

use std::time::Duration;

use countersign_inspect::Digest;
use serde_json::Value;

use self::findings::Findings;
pub use self::report::{Run, ToolRun};
pub use self::settings::{Reproduce, Settings};
use self::tool::TestedTool;
use super::case::Case;
use super::corpus::Corpus;
use super::examine::{Examined, examine, violation_sightings};
use super::oracle::{self, Family, ReplyKind};
use super::record::{Observation, Pass};
pub use super::session::RunError;
use super::session::Session;
use crate::client::{Declaration, Target};
use crate::judge::Judge;
use crate::policy::glob;

/// The name of a tool that no server has.
pub const NO_SUCH_TOOL: &str = "countersign_no_such_tool";
/// Crashes and hangs of a tool after which its remaining cases are left out.
const MAX_DEATHS: u32 = 3;

/// Answers of a tool that came too late after which its remaining cases are left out.
const MAX_SLOW: u32 = 3;

/// Runs the passes. `progress` is told what is being done.
pub async fn run(
    target: &Target,
    settings: &Settings,
    progress: &mut dyn FnMut(&str),
) -> Result<Run, RunError> {
    let (mut runner, tools) = Runner::start(target, settings).await?;
    runner.passes(progress).await?;
    runner.stability(&tools).await?;
    Ok(runner.finish().await)
}

struct Runner<'s> {
    settings: &'s Settings,
    session: Session<'s>,
    judge: Judge,
    findings: Findings<'s>,
    report: Run,
    corpus: Corpus,
    family: Family,
    subjects: Vec<TestedTool>,
}

impl<'s> Runner<'s> {
    /// Asks the server who it is and what it declares, and makes ready to test that.
    async fn start(
        target: &'s Target,
        settings: &'s Settings,
    ) -> Result<(Self, Vec<Declaration>), RunError> {
        let mut session = Session::open(target, settings.options.clone()).await?;
        let list = session.list().await?;
        if let Some(error) = no_such_tool(&settings.only, &list.tools) {
            session.close().await;
            return Err(error);
        }
        let client = session.client().await?;
        let report = Run {
            server: client.identity().name.clone(),
            server_version: client.identity().version.clone(),
            protocol: client.version().to_owned(),
            transport: client.transport().to_owned(),
            strict: settings.validation.strict,
            seed: settings.seed,
            ..Run::default()
        };
        let judge = Judge::new(client.era());
        let findings = Findings::new(settings, &report);
        let mut runner = Self {
            settings,
            session,
            judge,
            findings,
            report,
            corpus: Corpus::default(),
            family: Family::Unknown,
            subjects: Vec::new(),
        };
        let names: Vec<&str> = list.tools.iter().map(|tool| tool.name.as_str()).collect();
        let unmatched = settings.validation.unmatched(&names);
        runner.report.unmatched_overrides = unmatched.iter().map(|one| one.tool.clone()).collect();
        runner.declare(&list.tools);
        Ok((runner, list.tools))
    }

    fn declare(&mut self, tools: &[Declaration]) {
        let Settings {
            only, max_tools, ..
        } = self.settings;
        let is_wanted =
            |name: &&str| only.is_empty() || only.iter().any(|pattern| glob(pattern, name));
        let names = tools.iter().map(|tool| tool.name.as_str());
        let chosen: Vec<&str> = names.filter(is_wanted).take(*max_tools).collect();
        for tool in tools {
            // All of them: a call of a listed tool is never one of an unlisted tool.
            let violations = self.judge.declare(&tool.raw).unwrap_or_default();
            if !chosen.contains(&tool.name.as_str()) {
                continue;
            }
            let declared: Value = serde_json::from_slice(&tool.raw).unwrap_or_default();
            let subject = TestedTool::new(&tool.name, &declared, &self.settings.allow);
            let digest = subject.run.schema_digest.clone();
            self.findings.digests.insert(tool.name.clone(), digest);
            for observation in violations.iter().flat_map(violation_sightings) {
                let pass = Pass::Declaration;
                self.findings
                    .add(&tool.name, pass, pass.as_str(), &observation, None);
            }
            self.subjects.push(subject);
        }
    }

    async fn passes(&mut self, progress: &mut dyn FnMut(&str)) -> Result<(), RunError> {
        self.unknown_tool().await?;
        if let Some(arguments) = &self.settings.case {
            return self.only_case(arguments).await;
        }
        for pass in [Pass::Coverage, Pass::Random, Pass::Stateful, Pass::Negative] {
            for index in 0..self.subjects.len() {
                let tool = &self.subjects[index].run;
                if tool.refused.is_some() {
                    continue;
                }
                progress(&format!("{pass} {}", tool.name));
                let cases = self.cases(index, pass);
                self.run_cases(index, pass, cases).await?;
                if pass == Pass::Coverage {
                    self.repeat(index).await?;
                }
            }
            if pass == Pass::Random {
                self.mostly_errors();
            }
        }
        Ok(())
    }

    fn cases(&mut self, index: usize, pass: Pass) -> Vec<Case> {
        let subject = &mut self.subjects[index];
        let contract = self.judge.contract(&subject.run.name);
        let Some(engine) = contract.and_then(|contract| contract.input()?.schema().ok()) else {
            if pass == Pass::Coverage {
                subject.note("its inputSchema cannot be enforced, so no cases are made");
            }
            return Vec::new();
        };
        subject.cases(engine, pass, self.settings, &self.corpus)
    }

    async fn run_cases(
        &mut self,
        index: usize,
        pass: Pass,
        cases: Vec<Case>,
    ) -> Result<(), RunError> {
        for case in cases {
            let subject = &mut self.subjects[index];
            if subject.deaths >= MAX_DEATHS {
                subject.note("it hung or ended the server too often; the rest was left out");
                return Ok(());
            }
            if subject.slow >= MAX_SLOW {
                subject.note("its calls take longer than --timeout; the rest was left out");
                return Ok(());
            }
            let name = subject.run.name.clone();
            // The gateway's own word, asked again at the last moment.
            if case.intent.is_valid() && !self.judge.arguments(&name, &case.bytes()).is_empty() {
                let bug = format!("{name}: {}", case.name);
                self.report.tester_bugs.push(bug);
                continue;
            }
            let examined = self.ask(&name, &case).await?;
            self.subjects[index].count(pass, &case, &examined);
            if examined.reply == ReplyKind::Success {
                self.corpus
                    .learn(examined.structured.as_deref(), &examined.texts);
            }
            self.record_sightings(&name, pass, &case, &examined).await?;
        }
        Ok(())
    }

    async fn ask(&mut self, tool: &str, case: &Case) -> Result<Examined, RunError> {
        let patience = self.call_timeout(tool);
        let exchange = self.session.call(tool, &case.bytes(), patience).await?;
        let mut examined = examine(&self.judge, self.family, tool, case, &exchange);
        let took = exchange.done.saturating_duration_since(exchange.sent);
        if exchange.reply.is_ok() && took > self.settings.timeout {
            examined.is_slow = true;
            examined
                .observations
                .push(Observation::from_rule(&oracle::SLOW));
        }
        Ok(examined)
    }

    /// How long a call of a tool is waited for: longer than it may take, to tell a slow tool from
    /// a dead one, until the tool has kept silent once.
    fn call_timeout(&self, tool: &str) -> Duration {
        let mut known = self.subjects.iter().filter(|one| one.run.name == tool);
        if known.any(|one| one.deaths > 0) {
            self.settings.timeout
        } else {
            self.settings.timeout.max(self.settings.patience)
        }
    }

    /// Writes down what was seen, once each, with the smallest arguments that show it.
    async fn record_sightings(
        &mut self,
        tool: &str,
        pass: Pass,
        case: &Case,
        examined: &Examined,
    ) -> Result<(), RunError> {
        for observation in &examined.observations {
            if self.findings.count_again(tool, observation) {
                continue;
            }
            let arguments = if self.findings.is_reported(tool, observation) {
                self.shrink(tool, case, observation).await?
            } else {
                case.arguments.clone()
            };
            let shown = Some((arguments, examined.request_id.clone()));
            self.findings
                .add(tool, pass, &case.name, observation, shown);
        }
        Ok(())
    }

    async fn finish(mut self) -> Run {
        for subject in &mut self.subjects {
            subject.note_unexercised(self.settings);
        }
        self.note_noise();
        let has_result = self.subjects.iter().any(|one| one.run.succeeded > 0);
        self.report.is_unexercised = self.settings.case.is_none() && !has_result;
        self.report.calls = self.session.calls;
        self.report.restarts = self.session.restarts;
        self.report.ignored = self.findings.ignored;
        self.report.findings = self.findings.records;
        self.report.tools = self.subjects.into_iter().map(|one| one.run).collect();
        self.session.close().await;
        self.report
    }
}

/// The first pattern that matches none of the server's tools, as an error.
fn no_such_tool(only: &[String], tools: &[Declaration]) -> Option<RunError> {
    let is_missing = |pattern: &&String| !tools.iter().any(|tool| glob(pattern, &tool.name));
    let pattern = only.iter().find(is_missing)?.clone();
    let listed = tools.iter().map(|tool| tool.name.clone()).collect();
    Some(RunError::NoSuchTool { pattern, listed })
}

/// SHA-256 over what a tool declares about its arguments and results.
pub(crate) fn schema_digest(declared: &Value) -> String {
    let schemas = [declared.get("inputSchema"), declared.get("outputSchema")];
    let text = schemas.map(|one| one.map(Value::to_string).unwrap_or_default());
    Digest::sha256(text.join("\n").as_bytes()).to_string()
}

#[cfg(test)]
mod tests;
