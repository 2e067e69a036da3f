//! A second reading of the tree, slow and obvious, to compare the engines with.
//!
//! Works on sets of positions between characters: from where a node may start to where it may end.

use std::collections::BTreeSet;

use regex_syntax::hir::Look;

use crate::pattern::ast::Node;
use crate::pattern::set::CodeSet;

type Positions = BTreeSet<usize>;

/// Whether the tree matches anywhere in `text`.
pub(super) fn is_match(node: &Node, text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    let everywhere = (0..=characters.len()).collect();
    !ends(node, &characters, &everywhere).is_empty()
}

fn ends(node: &Node, text: &[char], starts: &Positions) -> Positions {
    match node {
        Node::Empty => starts.clone(),
        Node::Char(code) => step(text, starts, &CodeSet::single(*code)),
        Node::Set(set) => step(text, starts, set),
        Node::Look(look) => starts
            .iter()
            .copied()
            .filter(|&at| holds(*look, text, at))
            .collect(),
        Node::Concat(items) => items
            .iter()
            .fold(starts.clone(), |at, item| ends(item, text, &at)),
        Node::Alternate(branches) => branches
            .iter()
            .flat_map(|branch| ends(branch, text, starts))
            .collect(),
        Node::Repeat { body, min, max } => repeated(body, *min, *max, text, starts),
    }
}

fn repeated(
    body: &Node,
    min: u32,
    max: Option<u32>,
    text: &[char],
    starts: &Positions,
) -> Positions {
    let mut at = starts.clone();
    for _ in 0..min {
        at = ends(body, text, &at);
    }
    let mut all = at.clone();
    let mut rounds = min;
    while max.is_none_or(|max| rounds < max) {
        at = ends(body, text, &at);
        let before = all.len();
        all.extend(&at);
        if all.len() == before {
            break;
        }
        rounds += 1;
    }
    all
}

fn step(text: &[char], starts: &Positions, set: &CodeSet) -> Positions {
    let contains = |c: char| {
        let code = u32::from(c);
        set.ranges()
            .iter()
            .any(|&(low, high)| low <= code && code <= high)
    };
    starts
        .iter()
        .filter(|&&at| text.get(at).copied().is_some_and(contains))
        .map(|at| at + 1)
        .collect()
}

fn holds(look: Look, text: &[char], at: usize) -> bool {
    let is_word = |at: Option<usize>| {
        at.and_then(|at| text.get(at))
            .is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_')
    };
    let boundary = is_word(at.checked_sub(1)) != is_word(Some(at));
    match look {
        Look::Start => at == 0,
        Look::End => at == text.len(),
        Look::WordAscii => boundary,
        Look::WordAsciiNegate => !boundary,
        other => panic!("the parser makes no {other:?}"),
    }
}
