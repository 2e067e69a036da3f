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
mod random;
mod sites;
mod text;
mod value;
mod view;

use std::collections::HashSet;

use countersign_schema::{Fuel, Outcome, Schema};
use countersign_tape::{Limits, Tape};
use serde_json::Value;

pub use random::Random;

use self::choice::Choice;
use self::document::Document;
use self::sites::Sites;
use super::case::{Case, Intent};

/// Ways to choose among alternatives that are tried before a value counts as ungeneratable.
const ATTEMPTS: usize = 12;
/// Largest arguments that are made, in bytes of JSON.
const MAX_BYTES: usize = 64 * 1024;

/// Values, each with what is special about it.
type Named = Vec<(String, Value)>;

/// What was made, and what could not be.
#[derive(Clone, Debug, Default)]
pub struct Cases {
    /// Confirmed cases, the plainest first.
    pub cases: Vec<Case>,
    /// Why there is less than one would like.
    pub ungeneratable: Vec<String>,
}

/// Makes cases for one tool.
#[derive(Debug)]
pub struct Generator<'a> {
    document: Document<'a>,
    engine: &'a Schema,
}

/// What the engine says about arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    /// They fit.
    Valid,
    /// They do not, for one reason: keyword and instance pointer.
    Invalid(String, String),
    /// They do not, for several reasons, or the engine gave up.
    Unclear,
}

/// Asks the engine about arguments.
pub fn label(engine: &Schema, arguments: &[u8]) -> Label {
    let limits = Limits::default();
    let Ok(tape) = Tape::parse(arguments, &limits) else {
        return Label::Unclear;
    };
    let mut fuel = Fuel::for_instance(&tape, 1.0);
    match engine.validate(&tape, &mut fuel) {
        Outcome::Valid => Label::Valid,
        Outcome::Exhausted => Label::Unclear,
        Outcome::Invalid(violations) => {
            let first = violations.first();
            let pointer = first.instance_pointer();
            // One mistake may be refused by several keywords; two places are two mistakes.
            if violations
                .iter()
                .all(|one| one.instance_pointer() == pointer)
            {
                Label::Invalid(first.keyword().to_owned(), pointer)
            } else {
                Label::Unclear
            }
        }
    }
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
        let mut made = Made::new(self.engine, most);
        let Some(base) = self.minimal() else {
            made.cases
                .ungeneratable
                .push("no valid arguments were found".to_owned());
            return made.cases;
        };
        made.valid("minimal", base.clone());
        if let Some(full) = self.maximal() {
            made.valid("maximal", full);
        }
        let sites = Sites::walk(&self.document);
        made.cases.ungeneratable.extend(sites.ungeneratable());
        let mut valid = Vec::new();
        let mut invalid = Vec::new();
        for site in sites.all() {
            let at = sites.pointer(site);
            for (what, value) in edges::variants(&self.document, &sites.view(site)) {
                let name = format!("{what} at {}", shown(&at));
                valid.push((name, sites.with(&base, site, value)));
            }
            for (keyword, value) in mistakes::mistakes(&self.document, &sites.view(site)) {
                let name = format!("{keyword} at {}", shown(&at));
                invalid.push((name, sites.with(&base, site, value)));
            }
            for (name, value) in mistakes::missing(&sites.view(site), sites.get(&base, site)) {
                invalid.push((name, sites.with(&base, site, value)));
            }
        }
        made.in_turns(valid, invalid);
        made.cases
    }

    /// The seeded pass: valid arguments, drawn at random within the schema's bounds.
    pub fn random(&self, seed: u64, most: usize) -> Cases {
        let mut made = Made::new(self.engine, most);
        let mut random = Random::new(seed);
        for index in 0..most.saturating_mul(4) {
            let choice = Choice::Random(random.next());
            if let Some(value) = value::value(&self.document, &self.document.root(), choice) {
                made.valid(&format!("random {index}"), value);
            }
        }
        made.cases
    }

    /// The seeded pass of mistakes: a random valid base, changed in exactly one way.
    pub fn mistakes(&self, seed: u64, most: usize) -> Cases {
        let mut made = Made::new(self.engine, most);
        let mut random = Random::new(seed ^ 0x6e65_6761_7469_7665);
        let sites = Sites::walk(&self.document);
        let bases = self.random(seed, 8).cases;
        let all: Vec<usize> = sites.all().collect();
        if bases.is_empty() || all.is_empty() {
            return made.cases;
        }
        for _ in 0..most.saturating_mul(8) {
            let base = &bases[random.below(bases.len())].arguments;
            let site = all[random.below(all.len())];
            let mut wrong = mistakes::mistakes(&self.document, &sites.view(site));
            if !wrong.is_empty() {
                let (keyword, value) = wrong.swap_remove(random.below(wrong.len()));
                let name = format!("{keyword} at {}", shown(&sites.pointer(site)));
                made.invalid(&name, sites.with(base, site, value));
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
        values.find(|value| {
            value.is_object() && label(self.engine, value.to_string().as_bytes()) == Label::Valid
        })
    }
}

fn shown(pointer: &str) -> &str {
    if pointer.is_empty() {
        "the root"
    } else {
        pointer
    }
}

/// Cases on their way out: confirmed, different from each other, not too many.
struct Made<'e> {
    engine: &'e Schema,
    most: usize,
    seen: HashSet<String>,
    cases: Cases,
}

impl<'e> Made<'e> {
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

    fn in_turns(
        &mut self,
        valid: Vec<(String, Option<Value>)>,
        invalid: Vec<(String, Option<Value>)>,
    ) {
        let (mut valid, mut invalid) = (valid.into_iter(), invalid.into_iter());
        loop {
            let (one, other) = (invalid.next(), valid.next());
            if (one.is_none() && other.is_none()) || self.is_full() {
                return;
            }
            if let Some((name, Some(value))) = one {
                self.invalid(&name, Some(value));
            }
            if let Some((name, Some(value))) = other {
                self.valid(&name, value);
            }
        }
    }

    fn valid(&mut self, name: &str, arguments: Value) {
        if let Some(Label::Valid) = self.label(&arguments) {
            self.push(Case::valid(name, arguments));
        }
    }

    fn invalid(&mut self, name: &str, arguments: Option<Value>) {
        let Some(arguments) = arguments else {
            return;
        };
        if let Some(Label::Invalid(keyword, pointer)) = self.label(&arguments) {
            let intent = Intent::Invalid { keyword, pointer };
            self.push(Case {
                name: name.to_owned(),
                intent,
                arguments,
            });
        }
    }

    fn push(&mut self, case: Case) {
        if self.seen.insert(case.arguments.to_string()) {
            self.cases.cases.push(case);
        }
    }

    /// The engine's word on arguments that are not too large.
    fn label(&self, arguments: &Value) -> Option<Label> {
        if self.is_full() || !arguments.is_object() {
            return None;
        }
        let text = arguments.to_string();
        (text.len() <= MAX_BYTES).then(|| label(self.engine, text.as_bytes()))
    }
}

#[cfg(test)]
mod tests;
