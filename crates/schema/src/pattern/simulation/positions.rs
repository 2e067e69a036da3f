//! Walks a pattern for the moves between its positions, under one set of assertions that hold.
//!
//! The construction is Glushkov's. All assertions met between two characters are met at the same place in the text, so
//! one that holds there is nothing and one that does not is a dead end. Sequences are folded from the right and every
//! copy of a repeated body has its place beforehand: each position is visited once a nesting level. Serves schema
//! compilation.

use regex_syntax::hir::Look;

use super::boundary::BoundaryContext;
use crate::pattern::ast::Node;

/// How a part of the pattern begins and ends.
pub(super) struct Part {
    /// It matches the empty text.
    pub(super) empty: bool,
    pub(super) first: Vec<u64>,
    pub(super) last: Vec<u64>,
}

/// How many positions a node takes, once its repetition is written out.
pub(super) fn size(node: &Node) -> usize {
    match node {
        Node::Empty | Node::Look(_) => 0,
        Node::Char(_) | Node::Set(_) => 1,
        Node::Repeat { body, min, max } => {
            let copies = max.unwrap_or(*min).max(1) as usize;
            size(body).saturating_mul(copies)
        }
        Node::Concat(items) | Node::Alternate(items) => items
            .iter()
            .fold(0, |sum, item| size(item).saturating_add(sum)),
    }
}

/// Collects the moves of a pattern of `positions` positions where the assertions of `place` hold: how the whole pattern
/// begins and ends, and for each position the positions that may follow it.
///
/// Touches no more than `budget` words and takes them off it; beyond that there is no answer.
pub(super) fn moves(
    tree: &Node,
    positions: usize,
    place: BoundaryContext,
    budget: &mut usize,
) -> Option<(Part, Vec<Vec<u64>>)> {
    let words = positions.div_ceil(64);
    let mut walk = Walk {
        place,
        words,
        follow: vec![vec![0; words]; positions],
        budget,
    };
    let whole = walk.node(tree, 0)?;
    Some((whole, walk.follow))
}

struct Walk<'b> {
    place: BoundaryContext,
    words: usize,
    follow: Vec<Vec<u64>>,
    budget: &'b mut usize,
}

impl Walk<'_> {
    /// The part `node` makes when its first position is `base`.
    fn node(&mut self, node: &Node, base: usize) -> Option<Part> {
        match node {
            Node::Empty => self.empty_part(true),
            Node::Look(look) => self.empty_part(assertion_holds(*look, self.place)),
            Node::Char(_) | Node::Set(_) => {
                let mut part = self.empty_part(false)?;
                part.first[base / 64] |= 1 << (base % 64);
                part.last.clone_from(&part.first);
                Some(part)
            }
            Node::Repeat { body, min, max } => self.repeat(body, *min, *max, base),
            Node::Concat(items) => {
                let mut end = base + size(node);
                let mut rest = self.empty_part(true)?;
                for item in items.iter().rev() {
                    end -= size(item);
                    let part = self.node(item, end)?;
                    rest = self.concatenate(part, rest)?;
                }
                Some(rest)
            }
            Node::Alternate(branches) => {
                let mut at = base;
                let mut all = self.empty_part(false)?;
                for branch in branches {
                    let part = self.node(branch, at)?;
                    all.empty |= part.empty;
                    unite(&mut all.first, &part.first);
                    unite(&mut all.last, &part.last);
                    at += size(branch);
                }
                Some(all)
            }
        }
    }

    /// A part without positions. Every node makes one, so what little the node does besides is charged here.
    fn empty_part(&mut self, empty: bool) -> Option<Part> {
        self.charge(4 * self.words + 16)?;
        Some(Part {
            empty,
            first: vec![0; self.words],
            last: vec![0; self.words],
        })
    }

    fn charge(&mut self, words: usize) -> Option<()> {
        *self.budget = self.budget.checked_sub(words)?;
        Some(())
    }

    fn concatenate(&mut self, part: Part, rest: Part) -> Option<Part> {
        self.connect(&part.last, &rest.first)?;
        let (mut first, mut last) = (part.first, rest.last);
        if part.empty {
            unite(&mut first, &rest.first);
        }
        if rest.empty {
            unite(&mut last, &part.last);
        }
        Some(Part {
            empty: part.empty && rest.empty,
            first,
            last,
        })
    }

    fn repeat(&mut self, body: &Node, min: u32, max: Option<u32>, base: usize) -> Option<Part> {
        let size = size(body);
        // A body without width says the same once as a thousand times.
        let most = if size == 0 { 1 } else { u32::MAX };
        let copies = max.unwrap_or(min).clamp(1, most);
        let mut rest = self.empty_part(true)?;
        for copy in (0..copies).rev() {
            let part = self.node(body, base + copy as usize * size)?;
            if max.is_none() && copy + 1 == copies {
                self.connect(&part.last, &part.first)?;
            }
            rest = self.concatenate(part, rest)?;
            rest.empty |= copy >= min;
        }
        Some(rest)
    }

    fn connect(&mut self, from: &[u64], to: &[u64]) -> Option<()> {
        for (word, &bits) in from.iter().enumerate() {
            let mut bits = bits;
            self.charge(bits.count_ones() as usize * self.words)?;
            while bits != 0 {
                let position = word * 64 + bits.trailing_zeros() as usize;
                unite(&mut self.follow[position], to);
                bits &= bits - 1;
            }
        }
        Some(())
    }
}

fn unite(into: &mut [u64], from: &[u64]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into |= from;
    }
}

/// Whether an assertion holds at a place; the parser makes no others.
pub(super) fn assertion_holds(look: Look, place: BoundaryContext) -> bool {
    match look {
        Look::Start => place.start,
        Look::End => place.end,
        Look::WordAscii => place.edge,
        Look::WordAsciiNegate => !place.edge,
        _ => false,
    }
}
