//! Patterns that are one run of one character set from the start of the text.
//!
//! `^[a-z]+$`, `^[0-9a-f]{6}$`, `^\S`, `^[^]{1,50000}$`: the commonest patterns of all, and with counts no automaton could
//! hold. A table look-up for ASCII, a search among ranges for the rest. Serves validation.

use regex_syntax::hir::Look;

use super::ast::Node;
use super::set::CodeSet;

/// A run and its bounds.
#[derive(Debug)]
pub(super) struct Run {
    ascii: [bool; 128],
    /// The members beyond ASCII, ascending.
    wide: Box<[(char, char)]>,
    min: u32,
    max: u32,
    /// Whether the end of the run must be the end of the text.
    whole: bool,
}

impl Run {
    /// The pattern as a run, if it is one.
    pub(super) fn new(tree: &Node) -> Option<Self> {
        let (node, whole) = match tree.items() {
            [Node::Look(Look::Start), node] => (node, false),
            [Node::Look(Look::Start), node, Node::Look(Look::End)] => (node, true),
            _ => return None,
        };
        let (node, min, max) = match node {
            Node::Repeat { body, min, max } => (&**body, *min, max.unwrap_or(u32::MAX)),
            node => (node, 1, 1),
        };
        let set = match node {
            Node::Char(code) => CodeSet::single(*code),
            Node::Set(set) => set.clone(),
            _ => return None,
        };
        Some(Self {
            ascii: set.ascii(),
            wide: set.chars().filter(|range| !range.1.is_ascii()).collect(),
            min,
            max,
            whole,
        })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        let mut rest = text.as_bytes();
        let mut count = 0;
        while count < self.max {
            match rest {
                [byte, after @ ..] if byte.is_ascii() => {
                    if !self.ascii[usize::from(*byte)] {
                        break;
                    }
                    rest = after;
                }
                [] => break,
                wide => {
                    let at = text.len() - wide.len();
                    let character = text.get(at..).and_then(|rest| rest.chars().next());
                    let Some(member) = character.filter(|c| self.is_wide_member(*c)) else {
                        break;
                    };
                    rest = rest.get(member.len_utf8()..).unwrap_or_default();
                }
            }
            count += 1;
        }
        count >= self.min && (!self.whole || rest.is_empty())
    }

    fn is_wide_member(&self, character: char) -> bool {
        let above = self.wide.partition_point(|range| range.1 < character);
        self.wide
            .get(above)
            .is_some_and(|range| range.0 <= character)
    }

    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&*self.wide)
    }
}
