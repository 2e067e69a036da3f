//! A run: the passes over the tools of one server, in order, and what came of them. Sequential on
//! purpose, so that an answer can be attributed to its case.

mod findings;
mod tool;

use std::time::Duration;

use countersign_inspect::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::findings::Findings;
use self::tool::Subject;
use super::case::{Case, Intent};
use super::corpus::Corpus;
use super::examine::{Examined, examine, of_violation};
use super::generate::{Label, label};
use super::oracle::{self, Family, Seen};
use super::record::{Pass, Record, Sighting, What};
use super::safety::{self, Hints, Refused};
pub use super::session::RunError;
use super::session::Session;
use super::shrink;
use crate::client::{Declaration, Options, Target};
use crate::judge::Judge;
use crate::policy::{Date, SchemaPolicy, Site, Validation, glob};

/// The name of a tool that no server has.
pub const NO_SUCH_TOOL: &str = "countersign_no_such_tool";
/// Calls spent on making the arguments of one finding smaller.
const SHRINK_CALLS: u32 = 80;
/// The same where each call costs a time-out or a restart.
const COSTLY_SHRINK_CALLS: u32 = 12;
/// Crashes and hangs of a tool after which its remaining cases are left out.
const MAX_DEATHS: u32 = 3;

/// Makes a command that shows a finding again: from the tool, and the arguments if it takes any.
pub type Reproduce = dyn Fn(&str, Option<&Value>) -> String;

/// What a run is to do.
pub struct Settings {
    /// The seed of the random passes.
    pub seed: u64,
    /// Cases per tool of the enumerated pass.
    pub coverage: usize,
    /// Cases per tool of each random pass.
    pub random: usize,
    /// Cases per tool with values from earlier results.
    pub stateful: usize,
    /// Tools at most.
    pub max_tools: usize,
    /// Tools to test, by pattern; all if empty.
    pub only: Vec<String>,
    /// Tools that may be called whatever they say about themselves, by pattern.
    pub allow: Vec<String>,
    /// How long one call may take.
    pub timeout: Duration,
    /// What the client asks of the server.
    pub options: Options,
    /// Strictness and overrides.
    pub validation: Validation,
    /// The day, for overrides that end.
    pub today: Date,
    /// Values that exist, by the name of the argument they are for: made-up ids and paths mostly
    /// lead to "not found".
    pub values: Vec<(String, Value)>,
    /// One case instead of the passes.
    pub case: Option<Value>,
    /// How findings are shown again.
    pub reproduce: Box<Reproduce>,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            coverage: 60,
            random: 12,
            stateful: 8,
            max_tools: 200,
            only: Vec::new(),
            allow: Vec::new(),
            timeout: Duration::from_secs(10),
            options: Options::default(),
            validation: Validation::default(),
            today: Date::from_unix_seconds(0),
            values: Vec::new(),
            case: None,
            reproduce: Box::new(|tool, _| tool.to_owned()),
        }
    }
}

/// What became of one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolRun {
    /// Its name.
    pub name: String,
    /// Why it was not called, if it was not.
    pub refused: Option<Refused>,
    /// Cases by pass.
    pub cases: std::collections::BTreeMap<String, u64>,
    /// How the valid cases were answered: results.
    pub succeeded: u64,
    /// How the valid cases were answered: `isError`.
    pub errored: u64,
    /// Cases that were meant to be refused and were.
    pub rejected: u64,
    /// What could not be made or was left out.
    pub notes: Vec<String>,
    /// SHA-256 over its declared schemas.
    pub schema_digest: String,
}

/// What became of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What the server calls itself.
    pub server: String,
    /// The version it says it has.
    pub server_version: String,
    /// The protocol version agreed on.
    pub protocol: String,
    /// `stdio` or `http`.
    pub transport: String,
    /// Its kin, as its answers show it.
    pub family: Family,
    /// Whether violations gate.
    pub strict: bool,
    /// The seed of the random passes.
    pub seed: u64,
    /// Calls made, shrinking included.
    pub calls: u64,
    /// How often the server was started again.
    pub restarts: u32,
    /// Its tools.
    pub tools: Vec<ToolRun>,
    /// What was found, in the order of finding.
    pub findings: Vec<Record>,
    /// Cases whose label was wrong: mistakes of the tester.
    pub tester_bugs: Vec<String>,
    /// Overrides that match no tool.
    pub unmatched_overrides: Vec<String>,
    /// Violations that a policy ignores, and violations beyond the most that are kept.
    pub ignored: u64,
}

impl Run {
    /// Findings that are treated this way.
    pub fn count(&self, policy: SchemaPolicy) -> usize {
        self.findings
            .iter()
            .filter(|record| record.policy == policy)
            .count()
    }

    /// Whether there were tools and none of them might be called.
    pub fn is_refused(&self) -> bool {
        let mut refused = self
            .tools
            .iter()
            .filter(|tool| tool.refused.is_some())
            .peekable();
        refused.peek().is_some() && refused.count() == self.tools.len()
    }
}

/// Runs the passes. `progress` is told what is being done.
pub async fn run(
    target: &Target,
    settings: &Settings,
    progress: &mut dyn FnMut(&str),
) -> Result<Run, RunError> {
    let mut session = Session::open(target, settings.options.clone(), settings.timeout).await?;
    let list = session.list().await?;
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
    let mut runner = Runner {
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
    runner.passes(progress).await?;
    runner.stability(&list.tools).await?;
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
    subjects: Vec<Subject>,
}

impl Runner<'_> {
    fn declare(&mut self, tools: &[Declaration]) {
        let wanted = |name: &str| {
            let only = &self.settings.only;
            only.is_empty() || only.iter().any(|pattern| glob(pattern, name))
        };
        let chosen: Vec<&Declaration> = tools
            .iter()
            .filter(|tool| wanted(&tool.name))
            .take(self.settings.max_tools)
            .collect();
        for tool in tools {
            // All of them: a call of a listed tool is never one of an unlisted tool.
            let violations = self.judge.declare(&tool.raw).unwrap_or_default();
            if !chosen.iter().any(|one| one.name == tool.name) {
                continue;
            }
            let declared: Value = serde_json::from_slice(&tool.raw).unwrap_or_default();
            let hints = Hints::of(&declared);
            let refused = safety::admit(&tool.name, hints, &self.settings.allow).err();
            let subject = Subject::new(&tool.name, &declared, hints, refused);
            let digest = subject.digest();
            for sighting in violations.iter().flat_map(of_violation) {
                self.findings.add(
                    &tool.name,
                    &digest,
                    Pass::Declaration,
                    "declaration",
                    &sighting,
                    None,
                );
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
                let Some(subject) = self.subjects.get(index).filter(|one| one.refused.is_none())
                else {
                    continue;
                };
                let name = subject.name.clone();
                progress(&format!("{} {name}", pass.as_str()));
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
        let Self {
            subjects,
            judge,
            corpus,
            settings,
            ..
        } = self;
        let Some(subject) = subjects.get_mut(index) else {
            return Vec::new();
        };
        let contract = judge.contract(&subject.name).cloned();
        let engine = contract
            .as_ref()
            .and_then(|contract| contract.input()?.schema().ok());
        let Some(engine) = engine else {
            if pass == Pass::Coverage {
                subject.note("its inputSchema cannot be enforced, so no cases are made".to_owned());
            }
            return Vec::new();
        };
        subject.cases(engine, pass, settings, corpus)
    }

    async fn run_cases(
        &mut self,
        index: usize,
        pass: Pass,
        cases: Vec<Case>,
    ) -> Result<(), RunError> {
        for case in cases {
            let Some(subject) = self.subjects.get_mut(index) else {
                return Ok(());
            };
            if subject.deaths >= MAX_DEATHS {
                subject.note(
                    "it hung or ended the server too often; the rest was left out".to_owned(),
                );
                return Ok(());
            }
            let name = subject.name.clone();
            // The gateway's own word, asked again at the last moment.
            if case.intent.is_valid() && !self.judge.arguments(&name, &case.bytes()).is_empty() {
                self.report
                    .tester_bugs
                    .push(format!("{name}: {}", case.name));
                continue;
            }
            let examined = self.ask(&name, &case).await?;
            if let Some(subject) = self.subjects.get_mut(index) {
                subject.count(pass, &case, examined.seen);
            }
            if examined.seen == Seen::Success {
                self.corpus
                    .learn(examined.structured.as_deref(), &examined.texts);
            }
            self.take(index, pass, &case, &examined).await?;
        }
        Ok(())
    }

    async fn ask(&mut self, tool: &str, case: &Case) -> Result<Examined, RunError> {
        let exchange = self.session.call(tool, &case.bytes()).await?;
        Ok(examine(&self.judge, self.family, tool, case, &exchange))
    }

    /// Writes down what was seen, once each, with the smallest arguments that show it.
    async fn take(
        &mut self,
        index: usize,
        pass: Pass,
        case: &Case,
        examined: &Examined,
    ) -> Result<(), RunError> {
        for sighting in &examined.sightings {
            let Some(subject) = self.subjects.get(index) else {
                return Ok(());
            };
            let (name, digest) = (subject.name.clone(), subject.digest());
            if self.findings.again(&name, sighting) {
                continue;
            }
            let shows = if self.findings.matters(&name, sighting) {
                self.shrink(&name, case, sighting).await?
            } else {
                case.arguments.clone()
            };
            let request = examined.request_id.clone();
            self.findings.add(
                &name,
                &digest,
                pass,
                &case.name,
                sighting,
                Some((shows, request)),
            );
        }
        Ok(())
    }

    /// Smaller arguments that show the same, asked of the server each time.
    async fn shrink(
        &mut self,
        tool: &str,
        case: &Case,
        sighting: &Sighting,
    ) -> Result<Value, RunError> {
        let costly = matches!(sighting.what, What::Rule(rule) if rule == &oracle::HANG || rule == &oracle::CRASH);
        let mut left = if costly {
            COSTLY_SHRINK_CALLS
        } else {
            SHRINK_CALLS
        };
        let mut best = case.clone();
        'smaller: loop {
            for arguments in shrink::candidates(&best.arguments) {
                let Some(candidate) = self.relabelled(tool, &best, arguments) else {
                    continue;
                };
                if left == 0 {
                    break 'smaller;
                }
                left -= 1;
                let examined = self.ask(tool, &candidate).await?;
                if examined
                    .sightings
                    .iter()
                    .any(|one| one.key() == sighting.key())
                {
                    best = candidate;
                    continue 'smaller;
                }
            }
            break;
        }
        Ok(best.arguments)
    }

    /// The candidate as a case of the same intent; `None` if it is something else.
    fn relabelled(&self, tool: &str, case: &Case, arguments: Value) -> Option<Case> {
        let intent = intent_of(&self.judge, tool, &arguments);
        let same = match (&intent, &case.intent) {
            (
                Intent::Invalid { keyword, .. },
                Intent::Invalid {
                    keyword: wanted, ..
                },
            ) => keyword == wanted,
            (one, other) => one == other,
        };
        same.then(|| Case {
            name: case.name.clone(),
            intent,
            arguments,
        })
    }

    /// A tool nobody has: how the server says no shows which family it is of.
    async fn unknown_tool(&mut self) -> Result<(), RunError> {
        let case = Case {
            name: "unknown tool".to_owned(),
            intent: Intent::UnknownTool,
            arguments: Value::Object(serde_json::Map::new()),
        };
        let exchange = self.session.call(NO_SUCH_TOOL, b"{}").await?;
        let first = examine(&self.judge, Family::Unknown, NO_SUCH_TOOL, &case, &exchange);
        self.family = Family::of(&first.texts);
        self.report.family = self.family;
        let examined = examine(&self.judge, self.family, NO_SUCH_TOOL, &case, &exchange);
        for sighting in &examined.sightings {
            let shown = Some((case.arguments.clone(), examined.request_id.clone()));
            self.findings.add(
                NO_SUCH_TOOL,
                "",
                Pass::Coverage,
                &case.name,
                sighting,
                shown,
            );
        }
        Ok(())
    }

    /// The case a reproducer asks for.
    async fn only_case(&mut self, arguments: &Value) -> Result<(), RunError> {
        for index in 0..self.subjects.len() {
            let Some(subject) = self.subjects.get(index).filter(|one| one.refused.is_none()) else {
                continue;
            };
            let name = subject.name.clone();
            let intent = intent_of(&self.judge, &name, arguments);
            let case = Case {
                name: "given".to_owned(),
                intent,
                arguments: arguments.clone(),
            };
            let examined = self.ask(&name, &case).await?;
            if let Some(subject) = self.subjects.get_mut(index) {
                subject.count(Pass::Coverage, &case, examined.seen);
                subject.minimal = case.intent.is_valid().then(|| case.arguments.clone());
            }
            for sighting in &examined.sightings {
                let digest = self
                    .subjects
                    .get(index)
                    .map(Subject::digest)
                    .unwrap_or_default();
                let shown = Some((case.arguments.clone(), examined.request_id.clone()));
                self.findings
                    .add(&name, &digest, Pass::Coverage, &case.name, sighting, shown);
            }
            self.repeat(index).await?;
        }
        Ok(())
    }

    /// The same call twice, of a tool that says this makes no difference.
    async fn repeat(&mut self, index: usize) -> Result<(), RunError> {
        let Some(subject) = self
            .subjects
            .get(index)
            .filter(|one| one.hints.is_repeatable())
        else {
            return Ok(());
        };
        let Some(arguments) = subject.minimal.clone().filter(|_| subject.deaths == 0) else {
            return Ok(());
        };
        let (name, digest) = (subject.name.clone(), subject.digest());
        let bytes = arguments.to_string().into_bytes();
        let mut answers = Vec::new();
        for _ in 0..2 {
            let exchange = self.session.call(&name, &bytes).await?;
            answers.push(exchange.reply.ok().and_then(|reply| match reply {
                crate::client::Reply::Result(result) => comparable(&result),
                crate::client::Reply::Error(_) => None,
            }));
        }
        if let [Some(first), Some(second)] = answers.as_slice()
            && first != second
        {
            let sighting = Sighting::of(What::Rule(&oracle::REPEAT)).detail(oracle::REPEAT.says);
            self.findings.add(
                &name,
                &digest,
                Pass::Coverage,
                "repeat",
                &sighting,
                Some((arguments, None)),
            );
        }
        Ok(())
    }

    /// Tools that mostly end in errors promise more than they take.
    fn mostly_errors(&mut self) {
        for subject in &self.subjects {
            let (errors, all) = (
                subject.run.errored,
                subject.run.errored + subject.run.succeeded,
            );
            if all >= 4 && errors * 2 > all {
                let rule = &oracle::VALID_MOSTLY_ERRORS;
                let sighting = Sighting::of(What::Rule(rule))
                    .detail(format!("{}: {errors} of {all}", rule.says));
                self.findings.add(
                    &subject.name,
                    &subject.digest(),
                    Pass::Coverage,
                    "all valid cases",
                    &sighting,
                    None,
                );
            }
        }
    }

    /// Whether the list is still what it was.
    async fn stability(&mut self, before: &[Declaration]) -> Result<(), RunError> {
        let after = self.session.list().await?.tools;
        if after == before {
            return Ok(());
        }
        let sorted = |tools: &[Declaration]| {
            let mut all: Vec<(String, Vec<u8>)> = tools
                .iter()
                .map(|tool| (tool.name.clone(), tool.raw.to_vec()))
                .collect();
            all.sort();
            all
        };
        let sighting = if sorted(before) == sorted(&after) {
            Sighting::of(What::Rule(&oracle::LIST_ORDER)).detail(oracle::LIST_ORDER.says)
        } else {
            Sighting::of(What::Site(Site::ListChanged))
                .detail("the tool list is not what it was at the start")
        };
        self.findings
            .add("", "", Pass::Coverage, "list", &sighting, None);
        Ok(())
    }

    async fn finish(mut self) -> Run {
        self.report.calls = self.session.calls;
        self.report.restarts = self.session.restarts;
        self.report.ignored = self.findings.ignored;
        self.report.findings = self.findings.records();
        self.report.tools = self
            .subjects
            .into_iter()
            .map(|subject| subject.run)
            .collect();
        self.session.close().await;
        self.report
    }
}

/// What arguments are meant to be, from the arguments alone.
fn intent_of(judge: &Judge, tool: &str, arguments: &Value) -> Intent {
    let Some(contract) = judge.contract(tool) else {
        return Intent::UnknownTool;
    };
    if !arguments.is_object() {
        return Intent::NotAnObject;
    }
    let Some(Ok(engine)) = contract.input().map(|declared| declared.schema()) else {
        return Intent::Valid;
    };
    match label(engine, arguments.to_string().as_bytes()) {
        Label::Valid => Intent::Valid,
        Label::Invalid(keyword, pointer) => Intent::Invalid { keyword, pointer },
        Label::Unclear => Intent::Invalid {
            keyword: String::new(),
            pointer: String::new(),
        },
    }
}

/// A result without what may differ each time.
fn comparable(result: &[u8]) -> Option<Value> {
    let mut value: Value = serde_json::from_slice(result).ok()?;
    if let Some(object) = value.as_object_mut() {
        object.remove("_meta");
    }
    Some(value)
}

/// SHA-256 over what a tool declares about its arguments and results.
pub(crate) fn schema_digest(declared: &Value) -> String {
    let schemas = [declared.get("inputSchema"), declared.get("outputSchema")];
    let text: Vec<String> = schemas
        .iter()
        .map(|one| one.map(Value::to_string).unwrap_or_default())
        .collect();
    Digest::of(text.join("\n").as_bytes()).to_string()
}

#[cfg(test)]
mod tests;
