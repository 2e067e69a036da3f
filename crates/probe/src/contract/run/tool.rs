//! A tool under test, on its way through the passes.

use countersign_schema::Schema;
use serde_json::{Value, json};

use super::super::case::{Case, Intent};
use super::super::corpus::Corpus;
use super::super::examine::Examined;
use super::super::generate::{Generator, Label, label};
use super::super::oracle::Seen;
use super::super::record::Pass;
use super::super::safety::{Hints, Refused};
use super::{Settings, ToolRun, schema_digest};

#[derive(Debug)]
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) hints: Hints,
    pub(super) refused: Option<Refused>,
    /// Crashes and hangs so far.
    pub(super) deaths: u32,
    /// Answers so far that took longer than they may.
    pub(super) slow: u32,
    /// The plainest valid arguments, once they are known.
    pub(super) minimal: Option<Value>,
    pub(super) run: ToolRun,
    schema: Value,
    /// It can only be called as a task, which is not what is tested here.
    needs_task: bool,
}

impl Subject {
    pub(super) fn new(
        name: &str,
        declared: &Value,
        hints: Hints,
        refused: Option<Refused>,
    ) -> Self {
        let run = ToolRun {
            name: name.to_owned(),
            refused,
            schema_digest: schema_digest(declared),
            ..ToolRun::default()
        };
        let schema = declared.get("inputSchema").cloned().unwrap_or_default();
        Self {
            name: name.to_owned(),
            hints,
            refused,
            deaths: 0,
            slow: 0,
            minimal: None,
            run,
            schema,
            needs_task: declared["execution"]["taskSupport"] == "required",
        }
    }

    pub(super) fn digest(&self) -> String {
        self.run.schema_digest.clone()
    }

    pub(super) fn note(&mut self, note: String) {
        if !self.run.notes.contains(&note) {
            self.run.notes.push(note);
        }
    }

    /// Says of a tool that was called and never had a result that its results are untested.
    pub(super) fn note_unexercised(&mut self, settings: &Settings) {
        let called = self.run.cases.values().any(|count| *count > 0);
        if settings.case.is_none() && called && self.run.succeeded == 0 {
            self.note("no valid call had a result, so its results were not tested".to_owned());
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
        let mut cases = self.made(engine, pass, settings, corpus);
        for case in &mut cases {
            for (name, value) in &settings.values {
                put(engine, case, name, value);
            }
        }
        if pass == Pass::Coverage {
            let first = cases.iter().find(|case| case.intent.is_valid());
            self.minimal = first.map(|case| case.arguments.clone());
        }
        cases
    }

    fn made(
        &mut self,
        engine: &Schema,
        pass: Pass,
        settings: &Settings,
        corpus: &Corpus,
    ) -> Vec<Case> {
        if self.needs_task {
            self.note("it can only be called as a task".to_owned());
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
                    .filter(|arguments| {
                        label(engine, arguments.to_string().as_bytes()) == Label::Valid
                    })
                    .map(|arguments| Case::valid("values seen before", arguments))
                    .collect();
                cases.truncate(settings.stateful);
                cases
            }
        }
    }

    pub(super) fn count(&mut self, pass: Pass, case: &Case, examined: &Examined) {
        let seen = examined.seen;
        self.slow += u32::from(examined.is_slow);
        *self.run.cases.entry(pass.as_str().to_owned()).or_default() += 1;
        match seen {
            Seen::Timeout | Seen::Ended => self.deaths += 1,
            Seen::Success if case.intent.is_valid() => self.run.succeeded += 1,
            Seen::ToolError if case.intent.is_valid() => self.run.errored += 1,
            Seen::ToolError | Seen::Error(_) if !case.intent.is_valid() => self.run.rejected += 1,
            _ => {}
        }
    }
}

/// Puts a value that exists into a case, unless that makes it another case.
fn put(engine: &Schema, case: &mut Case, name: &str, value: &Value) {
    let mut arguments = case.arguments.clone();
    let Some(place) = arguments.get_mut(name) else {
        return;
    };
    *place = value.clone();
    let same = match (
        label(engine, arguments.to_string().as_bytes()),
        &case.intent,
    ) {
        (Label::Valid, Intent::Valid) => true,
        (
            Label::Invalid(keyword, pointer),
            Intent::Invalid {
                keyword: known,
                pointer: at,
            },
        ) => keyword == *known && pointer == *at,
        _ => false,
    };
    if same {
        case.arguments = arguments;
    }
}
