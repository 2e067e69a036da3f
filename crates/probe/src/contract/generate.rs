//! Cases out of a declared `inputSchema`: pure, seeded, bounded.
//!
//! The server wrote the schema, so every walk has a depth, a count and a size it does not
//! exceed, and nothing here is trusted to be right: a candidate whose label the engine does not
//! confirm is dropped before it is used. What cannot be made is said, not hidden.

mod choice;
mod document;
mod edges;
mod mistakes;
mod number;
mod sites;
mod text;
mod value;
mod view;

use std::collections::HashSet;

use countersign_schema::{Fuel, Outcome, Schema};
use countersign_tape::{Limits, Tape};
use serde_json::Value;

use self::choice::Choice;
use self::document::Document;
use self::sites::Sites;
use super::case::{Case, Intent};
use crate::random::Random;

/// Ways to choose among alternatives that are tried before a value counts as ungeneratable.
const ATTEMPTS: usize = 12;
/// Largest arguments that are made, in bytes of JSON.
const MAX_BYTES: usize = 64 * 1024;

/// Values, each with the name of what is special about it.
type NamedValues = Vec<(String, Value)>;

/// Arguments that may become a case, with its name.
type Candidate = (String, Option<Value>);

/// The generated cases, and what could not be generated.
#[derive(Clone, Debug, Default)]
pub struct Cases {
    /// Confirmed cases, the plainest first.
    pub cases: Vec<Case>,
    /// What the generator could not make, and why.
    pub ungeneratable: Vec<String>,
}

/// Makes cases for one tool.
#[derive(Debug)]
pub struct Generator<'a> {
    document: Document<'a>,
    engine: &'a Schema,
}

/// What arguments are by the engine's word: valid, or invalid for one reason. `None` if there are
/// several reasons, or the engine gave up.
pub fn label(engine: &Schema, arguments: &Value) -> Option<Intent> {
    let text = arguments.to_string();
    let tape = Tape::parse(text.as_bytes(), &Limits::default()).ok()?;
    let mut fuel = Fuel::for_instance(&tape, 1.0);
    let violations = match engine.validate(&tape, &mut fuel) {
        Outcome::Valid => return Some(Intent::Valid),
        Outcome::Exhausted => return None,
        Outcome::Invalid(violations) => violations,
    };
    let keyword = violations.first().keyword().to_owned();
    let pointer = violations.first().instance_pointer();
    // One mistake may be refused by several keywords; two places are two mistakes.
    let mut all = violations.iter();
    all.all(|one| one.instance_pointer() == pointer)
        .then_some(Intent::Invalid { keyword, pointer })
}

impl<'a> Generator<'a> {
    /// A generator for a schema that compiled to `engine`.
    pub fn new(schema: &'a Value, engine: &'a Schema) -> Self {
        Self {
            document: Document::new(schema),
            engine,
        }
    }

    /// The enumerated pass: at most `most` cases, always the same ones, the valid ones and those
    /// with one mistake in turns.
    pub fn coverage(&self, most: usize) -> Cases {
        let mut made = CaseCollector::new(self.engine, most);
        let Some(base) = self.minimal() else {
            let why = "no valid arguments were found".to_owned();
            made.cases.ungeneratable.push(why);
            return made.cases;
        };
        made.add("minimal", Some(base.clone()), true);
        made.add("maximal", self.maximal(), true);
        let sites = Sites::walk(&self.document);
        made.cases.ungeneratable.extend(sites.ungeneratable());
        let mut valid = Vec::new();
        let mut invalid = Vec::new();
        for site in sites.all() {
            let (view, at) = (sites.view(site), sites.describe(site));
            for (what, value) in edges::variants(&self.document, view) {
                valid.push((format!("{what} at {at}"), sites.replace(&base, site, value)));
            }
            for (keyword, value) in mistakes::mistakes(&self.document, view) {
                let name = format!("{keyword} at {at}");
                invalid.push((name, sites.replace(&base, site, value)));
            }
            for (name, value) in mistakes::missing(view, sites.get(&base, site)) {
                invalid.push((name, sites.replace(&base, site, value)));
            }
        }
        made.in_turns(valid, invalid);
        made.cases
    }

    /// The seeded pass: valid arguments, drawn at random within the schema's bounds.
    pub fn random(&self, seed: u64, most: usize) -> Cases {
        let mut made = CaseCollector::new(self.engine, most);
        let mut random = Random::new(seed);
        for index in 0..most.saturating_mul(4) {
            let choice = Choice::Random(random.number());
            let value = value::value(&self.document, &self.document.root(), choice);
            made.add(&format!("random {index}"), value, true);
        }
        made.cases
    }

    /// The seeded pass of mistakes: a random valid base, changed in exactly one way.
    pub fn mistakes(&self, seed: u64, most: usize) -> Cases {
        let mut made = CaseCollector::new(self.engine, most);
        let mut random = Random::new(seed ^ 0x6e65_6761_7469_7665);
        let sites = Sites::walk(&self.document);
        let bases = self.random(seed, 8).cases;
        let count = sites.all().len();
        if bases.is_empty() || count == 0 {
            return made.cases;
        }
        for _ in 0..most.saturating_mul(8) {
            let base = &bases[random.index(bases.len())].arguments;
            let site = random.index(count);
            let mut wrong = mistakes::mistakes(&self.document, sites.view(site));
            if !wrong.is_empty() {
                let (keyword, value) = wrong.swap_remove(random.index(wrong.len()));
                let name = format!("{keyword} at {}", sites.describe(site));
                made.add(&name, sites.replace(base, site, value), false);
            }
        }
        made.cases
    }

    /// The plainest valid arguments: what is required and nothing else.
    pub fn minimal(&self) -> Option<Value> {
        self.first((0..ATTEMPTS).map(Choice::Minimal))
    }

    /// Valid arguments with every optional member.
    fn maximal(&self) -> Option<Value> {
        self.first((0..ATTEMPTS).map(Choice::Maximal))
    }

    fn first(&self, choices: impl Iterator<Item = Choice>) -> Option<Value> {
        let mut values = choices
            .filter_map(|choice| value::value(&self.document, &self.document.root(), choice));
        values.find(|value| value.is_object() && label(self.engine, value) == Some(Intent::Valid))
    }
}

/// Collects generated cases: keeps those that the schema engine confirms, without repetitions, up to a limit.
struct CaseCollector<'e> {
    engine: &'e Schema,
    most: usize,
    seen: HashSet<String>,
    cases: Cases,
}

impl<'e> CaseCollector<'e> {
    fn new(engine: &'e Schema, most: usize) -> Self {
        Self {
            engine,
            most,
            seen: HashSet::new(),
            cases: Cases::default(),
        }
    }

    fn is_full(&self) -> bool {
        self.cases.cases.len() >= self.most
    }

    fn in_turns(&mut self, valid: Vec<Candidate>, invalid: Vec<Candidate>) {
        let (mut valid, mut invalid) = (valid.into_iter(), invalid.into_iter());
        while !self.is_full() && (valid.len() > 0 || invalid.len() > 0) {
            if let Some((name, value)) = invalid.next() {
                self.add(&name, value, false);
            }
            if let Some((name, value)) = valid.next() {
                self.add(&name, value, true);
            }
        }
    }

    /// Adds arguments that are not too large, if the engine confirms that they are valid or invalid.
    fn add(&mut self, name: &str, arguments: Option<Value>, is_valid: bool) {
        let Some(arguments) = arguments.filter(|one| one.is_object() && !self.is_full()) else {
            return;
        };
        let text = arguments.to_string();
        if text.len() > MAX_BYTES {
            return;
        }
        let intent = label(self.engine, &arguments).filter(|one| one.is_valid() == is_valid);
        if let Some(intent) = intent
            && self.seen.insert(text)
        {
            self.cases.cases.push(Case {
                name: name.to_owned(),
                intent,
                arguments,
            });
        }
    }
}

#[cfg(test)]
mod tests;
