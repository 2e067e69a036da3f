//! Decides whether a pattern is a shape, and lays out its steps.
//!
//! The condition is the one of a predictive parser: wherever the pattern may go on in two ways, the sets of characters
//! that open them are disjoint. Small budgets keep this cheap; beyond them there is no shape. Serves schema compilation.

use regex_syntax::hir::Look;

use super::{FastSet, Shape, Step};
use crate::pattern::ast::Node;
use crate::pattern::set::CodeSet;

/// More parts than this, after unrolling counted groups, is no shape.
const MOST_PARTS: usize = 64;
/// More ranges than this in all sets together is no shape.
const MOST_RANGES: usize = 8192;

/// A piece of the pattern.
enum Part {
    Run { set: CodeSet, min: u32, max: u32 },
    Optional(Vec<Part>),
    Loop(Vec<Part>),
    Choice(Vec<Vec<Part>>),
}

impl Shape {
    /// The pattern as a shape, if it is one.
    pub(in crate::pattern) fn new(tree: &Node) -> Option<Self> {
        let [Node::Look(Look::Start), items @ ..] = tree.items() else {
            return None;
        };
        let (items, whole) = match items {
            [items @ .., Node::Look(Look::End)] => (items, true),
            items => (items, false),
        };
        let mut budget = MOST_PARTS;
        let mut parts = Vec::new();
        for item in items {
            split(item, &mut parts, &mut budget)?;
        }
        let mut layout = Layout::default();
        // Where the text may go on after the pattern, every character may follow, so nothing optional can end it.
        let follow = if whole {
            CodeSet::default()
        } else {
            CodeSet::default().negated()
        };
        layout.sequence(&parts, &follow)?;
        layout.finish(whole)
    }
}

/// Takes a node apart.
fn split(node: &Node, parts: &mut Vec<Part>, budget: &mut usize) -> Option<()> {
    *budget = budget.checked_sub(1)?;
    match node {
        Node::Empty => {}
        Node::Char(code) => parts.push(run(CodeSet::single(*code), 1, Some(1))),
        Node::Set(set) => parts.push(run(set.clone(), 1, Some(1))),
        Node::Look(_) => return None,
        Node::Repeat { body, min, max } => repeat(body, *min, *max, parts, budget)?,
        Node::Concat(items) => {
            for item in items {
                split(item, parts, budget)?;
            }
        }
        Node::Alternate(branches) => {
            let mut choice = Vec::new();
            for branch in branches.iter().filter(|branch| **branch != Node::Empty) {
                choice.push(split_all(branch, budget)?);
            }
            let optional = choice.len() < branches.len();
            let choice = Part::Choice(choice);
            parts.push(if optional {
                Part::Optional(vec![choice])
            } else {
                choice
            });
        }
    }
    Some(())
}

fn split_all(node: &Node, budget: &mut usize) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    split(node, &mut parts, budget)?;
    Some(parts)
}

fn run(set: CodeSet, min: u32, max: Option<u32>) -> Part {
    let max = max.unwrap_or(u32::MAX);
    Part::Run { set, min, max }
}

fn repeat(
    body: &Node,
    min: u32,
    max: Option<u32>,
    parts: &mut Vec<Part>,
    budget: &mut usize,
) -> Option<()> {
    match body {
        Node::Char(code) => parts.push(run(CodeSet::single(*code), min, max)),
        Node::Set(set) => parts.push(run(set.clone(), min, max)),
        body => {
            for _ in 0..min {
                split(body, parts, budget)?;
            }
            let Some(max) = max else {
                parts.push(Part::Loop(split_all(body, budget)?));
                return Some(());
            };
            // Each further copy is only reached through the one before it.
            let mut tail = Vec::new();
            for _ in min..max {
                let mut copy = split_all(body, budget)?;
                copy.append(&mut tail);
                tail.push(Part::Optional(copy));
            }
            parts.append(&mut tail);
        }
    }
    Some(())
}

/// The characters that may open a sequence, and whether it may be empty.
fn first(parts: &[Part]) -> (CodeSet, bool) {
    let mut opens = CodeSet::default();
    for part in parts {
        let (set, nullable) = first_of(part);
        opens = opens.union(&set);
        if !nullable {
            return (opens, false);
        }
    }
    (opens, true)
}

fn first_of(part: &Part) -> (CodeSet, bool) {
    match part {
        Part::Run { set, min, max } if *max > 0 => (set.clone(), *min == 0),
        Part::Run { .. } => (CodeSet::default(), true),
        Part::Optional(body) | Part::Loop(body) => (first(body).0, true),
        Part::Choice(branches) => {
            let firsts = branches.iter().map(|branch| first(branch));
            firsts.fold((CodeSet::default(), false), |(all, empty), (set, null)| {
                (all.union(&set), empty | null)
            })
        }
    }
}

/// The steps laid out so far.
#[derive(Default)]
struct Layout {
    steps: Vec<Step>,
    sets: Vec<CodeSet>,
}

impl Layout {
    fn sequence(&mut self, parts: &[Part], follow: &CodeSet) -> Option<()> {
        let mut follows = vec![follow.clone()];
        for part in parts.iter().skip(1).rev() {
            let (mut set, nullable) = first_of(part);
            if let (true, Some(after)) = (nullable, follows.last()) {
                set = set.union(after);
            }
            follows.push(set);
        }
        for (part, follow) in parts.iter().zip(follows.iter().rev()) {
            self.part(part, follow)?;
        }
        Some(())
    }

    fn part(&mut self, part: &Part, follow: &CodeSet) -> Option<()> {
        match part {
            Part::Run { set, min, max } => self.run(set, *min, *max, follow),
            Part::Optional(body) => {
                let (enter, _) = self.open(body, follow)?;
                self.sequence(body, follow)?;
                self.leave(enter)
            }
            Part::Loop(body) => {
                let (enter, opens) = self.open(body, follow)?;
                self.sequence(body, &opens.union(follow))?;
                self.steps.push(Step::Jump(enter));
                self.leave(enter)
            }
            Part::Choice(branches) => self.choice(branches, follow),
        }
    }

    fn run(&mut self, set: &CodeSet, min: u32, max: u32, follow: &CodeSet) -> Option<()> {
        if min != max && !set.is_disjoint(follow) {
            return None;
        }
        match (set.only_char(), self.steps.last_mut()) {
            (Some(character), Some(Step::Text(text))) if min == 1 && max == 1 => {
                let mut longer = std::mem::take(text).into_string();
                longer.push(character);
                *text = longer.into_boxed_str();
            }
            (Some(character), _) if min == 1 && max == 1 => {
                self.steps.push(Step::Text(character.to_string().into()));
            }
            _ => {
                let set = self.intern(set);
                self.steps.push(Step::Run { set, min, max });
            }
        }
        Some(())
    }

    /// Opens a body that may be skipped: what opens it must not be what follows it.
    fn open(&mut self, body: &[Part], follow: &CodeSet) -> Option<(usize, CodeSet)> {
        let (opens, nullable) = first(body);
        if nullable || !opens.is_disjoint(follow) {
            return None;
        }
        Some((self.enter(&opens), opens))
    }

    fn enter(&mut self, opens: &CodeSet) -> usize {
        let set = self.intern(opens);
        self.steps.push(Step::Enter { set, otherwise: 0 });
        self.steps.len() - 1
    }

    /// Points an earlier `Enter` or `Jump` behind the steps laid out so far.
    fn leave(&mut self, step: usize) -> Option<()> {
        let here = self.steps.len();
        match self.steps.get_mut(step)? {
            Step::Enter {
                otherwise: target, ..
            }
            | Step::Jump(target) => *target = here,
            Step::Text(_) | Step::Run { .. } => return None,
        }
        Some(())
    }

    fn choice(&mut self, branches: &[Vec<Part>], follow: &CodeSet) -> Option<()> {
        let mut seen = CodeSet::default();
        let mut ends = Vec::new();
        for branch in branches {
            let (opens, nullable) = first(branch);
            if nullable || !opens.is_disjoint(&seen) {
                return None;
            }
            seen = seen.union(&opens);
            let enter = self.enter(&opens);
            self.sequence(branch, follow)?;
            ends.push(self.steps.len());
            self.steps.push(Step::Jump(0));
            self.leave(enter)?;
        }
        // No branch was entered: the empty set stops the walk.
        let set = self.intern(&CodeSet::default());
        self.steps.push(Step::Run {
            set,
            min: 1,
            max: 1,
        });
        ends.into_iter().try_for_each(|end| self.leave(end))
    }

    fn intern(&mut self, set: &CodeSet) -> usize {
        if let Some(known) = self.sets.iter().position(|known| known == set) {
            return known;
        }
        self.sets.push(set.clone());
        self.sets.len() - 1
    }

    fn finish(self, whole: bool) -> Option<Shape> {
        let ranges: usize = self.sets.iter().map(|set| set.ranges().len()).sum();
        (ranges <= MOST_RANGES).then(|| Shape {
            steps: self.steps.into(),
            sets: self.sets.iter().map(FastSet::new).collect(),
            whole,
        })
    }
}
