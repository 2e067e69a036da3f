//! A tool under test, on its way through the passes.

use countersign_schema::Schema;
use serde_json::{Value, json};

use super::super::case::{Case, Intent};
use super::super::corpus::Corpus;
use super::super::examine::Examined;
use super::super::generate::{Generator, label};
use super::super::oracle::ReplyKind;
use super::super::record::Pass;
use super::super::safety::{self, Hints};
use super::{Settings, ToolRun, schema_digest};

/// A tool of the server under test, and what the run has learnt about it so far.
#[derive(Debug, Default)]
pub(super) struct TestedTool {
    pub(super) hints: Hints,
    /// Crashes and hangs so far.
    pub(super) deaths: u32,
    /// Answers so far that took longer than they may.
    pub(super) slow: u32,
    /// The plainest valid arguments, once they are known.
    pub(super) minimal: Option<Value>,
    pub(super) run: ToolRun,
    schema: Value,
    /// The tool can only be called as a task, which is not what is tested here.
    needs_task: bool,
}

impl TestedTool {
    pub(super) fn new(name: &str, declared: &Value, allowed: &[String]) -> Self {
        let hints = Hints::from_declaration(declared);
        let run = ToolRun {
            name: name.to_owned(),
            refused: safety::admit(name, hints, allowed).err(),
            schema_digest: schema_digest(declared),
            ..ToolRun::default()
        };
        Self {
            hints,
            run,
            schema: declared.get("inputSchema").cloned().unwrap_or_default(),
            needs_task: declared["execution"]["taskSupport"] == "required",
            ..Self::default()
        }
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.run.notes.contains(&note) {
            self.run.notes.push(note);
        }
    }

    /// Says of a tool that was called and never had a result that its results are untested.
    pub(super) fn note_unexercised(&mut self, settings: &Settings) {
        let called = self.run.cases.values().any(|count| *count > 0);
        if settings.case.is_none() && called && self.run.succeeded == 0 {
            self.note("no valid call had a result, so its results were not tested");
        }
    }

    /// The cases of a pass, with the values that are known to exist.
    pub(super) fn cases(
        &mut self,
        engine: &Schema,
        pass: Pass,
        settings: &Settings,
        corpus: &Corpus,
    ) -> Vec<Case> {
        let mut cases = self.generate(engine, pass, settings, corpus);
        for case in &mut cases {
            for (name, value) in &settings.values {
                substitute(engine, case, name, value);
            }
        }
        if pass == Pass::Coverage {
            let first = cases.iter().find(|case| case.intent.is_valid());
            self.minimal = first.map(|case| case.arguments.clone());
        }
        cases
    }

    fn generate(
        &mut self,
        engine: &Schema,
        pass: Pass,
        settings: &Settings,
        corpus: &Corpus,
    ) -> Vec<Case> {
        if self.needs_task {
            self.note("it can only be called as a task");
            return Vec::new();
        }
        let generator = Generator::new(&self.schema, engine);
        match pass {
            Pass::Declaration => Vec::new(),
            Pass::Coverage => {
                let made = generator.coverage(settings.coverage);
                for what in made.ungeneratable {
                    self.note(format!("ungeneratable: {what}"));
                }
                let not_an_object = Case {
                    name: "arguments are a list".to_owned(),
                    intent: Intent::NotAnObject,
                    arguments: json!([]),
                };
                let mut cases = made.cases;
                if settings.coverage > 0 {
                    cases.push(not_an_object);
                }
                cases
            }
            Pass::Random => generator.random(settings.seed, settings.random).cases,
            Pass::Negative => generator.mistakes(settings.seed, settings.random).cases,
            Pass::Stateful => {
                let bases = generator.coverage(2).cases;
                let made = bases.iter().filter(|case| case.intent.is_valid());
                let mut cases: Vec<Case> = made
                    .flat_map(|case| corpus.arguments(&case.arguments, settings.stateful))
                    .filter(|arguments| label(engine, arguments) == Some(Intent::Valid))
                    .map(|arguments| Case::valid("values seen before", arguments))
                    .collect();
                cases.truncate(settings.stateful);
                cases
            }
        }
    }

    pub(super) fn count(&mut self, pass: Pass, case: &Case, examined: &Examined) {
        self.slow += u32::from(examined.is_slow);
        *self.run.cases.entry(pass.as_str().to_owned()).or_default() += 1;
        match examined.reply {
            ReplyKind::Timeout | ReplyKind::Ended => self.deaths += 1,
            ReplyKind::Success if case.intent.is_valid() => self.run.succeeded += 1,
            ReplyKind::ToolError if case.intent.is_valid() => self.run.errored += 1,
            ReplyKind::ToolError | ReplyKind::Error(_) if !case.intent.is_valid() => {
                self.run.rejected += 1;
            }
            _ => {}
        }
    }
}

/// Puts a value that exists into a case, unless that makes it another case.
fn substitute(engine: &Schema, case: &mut Case, name: &str, value: &Value) {
    let mut arguments = case.arguments.clone();
    let Some(place) = arguments.get_mut(name) else {
        return;
    };
    *place = value.clone();
    if label(engine, &arguments).as_ref() == Some(&case.intent) {
        case.arguments = arguments;
    }
}
