//! Lays out a simulation: masks for the characters, moves for the boundaries.
//!
//! Refuses a pattern whose masks would outgrow the limit. Serves schema compilation.

use std::collections::BTreeMap;

use regex_syntax::hir::{Look, LookSet};

use super::alphabet::Alphabet;
use super::boundary::{Boundary, BoundaryContext, Jump};
use super::positions::{Part, assertion_holds, moves, size};
use super::{MOST_POSITIONS, Simulation};
use crate::pattern::ast::Node;
use crate::pattern::error::PatternError;
use crate::pattern::set::CodeSet;

/// Collecting the moves may touch this many words.
const MOST_WORK: usize = 1 << 23;

impl Simulation {
    pub(in crate::pattern) fn new(tree: &Node, limit: usize) -> Result<Self, PatternError> {
        let too_large = PatternError::too_large("compiled size");
        let positions = size(tree);
        if positions > MOST_POSITIONS {
            return Err(too_large);
        }
        let looks = looks_of(tree);
        let mut sets = Sets::default();
        sets.collect(tree);
        let words_matter = looks.contains(Look::WordAscii) || looks.contains(Look::WordAsciiNegate);
        let word_set = words_matter.then(|| sets.intern(&CodeSet::word()));
        let (alphabet, signatures) = Alphabet::new(&sets.distinct).ok_or(too_large)?;
        let words = positions.div_ceil(64);
        if signatures.len().saturating_mul(words * size_of::<u64>()) > limit {
            return Err(too_large);
        }
        let (boundaries, at) = boundaries(tree, positions, looks, limit).ok_or(too_large)?;
        let is_word = |members: &Vec<u64>| word_set.is_some_and(|set| is_member(members, set));
        let simulation = Self {
            alphabet,
            reach: reach(&signatures, &sets.of_position, words),
            words,
            words_matter,
            is_word: signatures.iter().map(is_word).collect(),
            anchored: is_anchored(&boundaries, &at),
            boundaries: boundaries.into(),
            at,
        };
        if simulation.memory_usage() > limit {
            return Err(too_large);
        }
        Ok(simulation)
    }
}

/// The sets of a pattern, and which of them each position has.
#[derive(Default)]
struct Sets {
    distinct: Vec<CodeSet>,
    known: BTreeMap<CodeSet, usize>,
    of_position: Vec<usize>,
}

impl Sets {
    /// Appends the positions of `node`, in the order of their numbers.
    fn collect(&mut self, node: &Node) {
        match node {
            Node::Empty | Node::Look(_) => {}
            Node::Char(code) => self.add(&CodeSet::single(*code)),
            Node::Set(set) => self.add(set),
            Node::Concat(items) | Node::Alternate(items) => {
                for item in items {
                    self.collect(item);
                }
            }
            Node::Repeat { body, .. } => {
                let from = self.of_position.len();
                self.collect(body);
                let once = self.of_position.len() - from;
                let copies = size(node).checked_div(once).unwrap_or(1);
                for _ in 1..copies {
                    self.of_position.extend_from_within(from..from + once);
                }
            }
        }
    }

    fn add(&mut self, set: &CodeSet) {
        let index = self.intern(set);
        self.of_position.push(index);
    }

    fn intern(&mut self, set: &CodeSet) -> usize {
        if let Some(index) = self.known.get(set) {
            return *index;
        }
        self.known.insert(set.clone(), self.distinct.len());
        self.distinct.push(set.clone());
        self.distinct.len() - 1
    }
}

/// Whether a class belongs to a set.
fn is_member(members: &[u64], set: usize) -> bool {
    members[set / 64] >> (set % 64) & 1 == 1
}

/// For each class of characters, the positions whose set contains it.
fn reach(signatures: &[Vec<u64>], sets: &[usize], words: usize) -> Box<[u64]> {
    let mut reach = vec![0; signatures.len() * words];
    for (class, members) in signatures.iter().enumerate() {
        for (position, set) in sets.iter().enumerate() {
            if is_member(members, *set) {
                reach[class * words + position / 64] |= 1 << (position % 64);
            }
        }
    }
    reach.into()
}

/// One boundary for each combination of assertions the pattern can tell apart, and which serves each place.
fn boundaries(
    tree: &Node,
    positions: usize,
    looks: LookSet,
    limit: usize,
) -> Option<(Vec<Boundary>, [usize; BoundaryContext::COUNT])> {
    let mut budget = MOST_WORK;
    let mut bytes_left = limit;
    let mut known: Vec<Vec<bool>> = Vec::new();
    let mut boundaries = Vec::new();
    let mut at = [0; BoundaryContext::COUNT];
    for place in BoundaryContext::all() {
        let truth: Vec<bool> = looks
            .iter()
            .map(|look| assertion_holds(look, place))
            .collect();
        let index = known.iter().position(|known| *known == truth);
        at[place.index()] = index.unwrap_or(known.len());
        if index.is_none() {
            let (whole, follow) = moves(tree, positions, place, &mut budget)?;
            let boundary = boundary(whole, follow);
            bytes_left = bytes_left.checked_sub(boundary.memory_usage())?;
            boundaries.push(boundary);
            known.push(truth);
        }
    }
    Some((boundaries, at))
}

fn looks_of(node: &Node) -> LookSet {
    match node {
        Node::Empty | Node::Char(_) | Node::Set(_) => LookSet::empty(),
        Node::Look(look) => LookSet::singleton(*look),
        Node::Repeat { body, .. } => looks_of(body),
        Node::Concat(items) | Node::Alternate(items) => items
            .iter()
            .fold(LookSet::empty(), |all, item| all.union(looks_of(item))),
    }
}

/// Sorts the moves into steps to the next position and the rest, joining positions that share the rest.
fn boundary(whole: Part, follow: Vec<Vec<u64>>) -> Boundary {
    let mut steps = vec![0; whole.first.len()];
    let mut jumps: BTreeMap<Vec<u64>, Vec<u64>> = BTreeMap::new();
    for (position, mut follow) in follow.into_iter().enumerate() {
        let next = position + 1;
        if let Some(word) = follow.get_mut(next / 64) {
            if *word >> (next % 64) & 1 == 1 {
                steps[position / 64] |= 1 << (position % 64);
            }
            *word &= !(1 << (next % 64));
        }
        if follow.iter().any(|word| *word != 0) {
            let from = jumps.entry(follow).or_insert_with(|| vec![0; steps.len()]);
            from[position / 64] |= 1 << (position % 64);
        }
    }
    Boundary {
        empty: whole.empty,
        first: whole.first.into(),
        last: whole.last.into(),
        steps: steps.into(),
        jumps: jumps
            .into_iter()
            .map(|(to, from)| Jump {
                from: sparse(&from),
                to: sparse(&to),
            })
            .collect(),
    }
}

fn sparse(words: &[u64]) -> Box<[(usize, u64)]> {
    let words = words.iter().copied().enumerate();
    words.filter(|(_, bits)| *bits != 0).collect()
}

/// Whether no match can begin behind the start of the text.
fn is_anchored(boundaries: &[Boundary], at: &[usize; BoundaryContext::COUNT]) -> bool {
    BoundaryContext::all()
        .filter(|place| !place.start)
        .filter_map(|place| boundaries.get(at[place.index()]))
        .all(|boundary| !boundary.empty && boundary.first.iter().all(|word| *word == 0))
}
