//! The syntax tree of a pattern, reduced to what decides whether a text matches.
//!
//! Captures, group names and laziness are gone: they change which match is found, never whether one exists. Depth is
//! capped by the parser, so the walks over this tree may recurse. Serves schema compilation.

use std::collections::VecDeque;

use regex_syntax::hir::Look;

use super::set::CodeSet;

/// One node of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// Matches the empty text.
    Empty,
    /// One code point; a lone surrogate matches nothing, because texts hold none.
    Char(u32),
    /// One code point of a set; the empty set matches nothing.
    Set(CodeSet),
    /// An assertion of no width.
    Look(Look),
    /// `body` repeated, without an upper bound when `max` is `None`.
    Repeat {
        body: Box<Node>,
        min: u32,
        max: Option<u32>,
    },
    /// Nodes one after the other; never directly inside another `Concat`.
    Concat(Vec<Node>),
    /// Any one of the nodes.
    Alternate(Vec<Node>),
}

impl Node {
    /// Joins `items`, dropping the wrapper when there is nothing to join.
    pub(super) fn concat(mut items: Vec<Node>) -> Node {
        match items.len() {
            0 => Node::Empty,
            1 => items.remove(0),
            _ => Node::Concat(items),
        }
    }

    /// Chooses between `branches`; single characters become one set.
    pub(super) fn alternate(branches: Vec<Node>) -> Node {
        let sets: Option<Vec<_>> = branches.iter().map(Node::as_ranges).collect();
        match sets {
            Some(sets) => Node::Set(CodeSet::new(sets.concat())),
            None => Node::Alternate(branches),
        }
    }

    fn as_ranges(&self) -> Option<Vec<(u32, u32)>> {
        match self {
            Node::Char(code) => Some(vec![(*code, *code)]),
            Node::Set(set) => Some(set.ranges().to_vec()),
            _ => None,
        }
    }

    /// Repeats `body`, dropping the wrapper when it says nothing.
    pub(super) fn repeat(body: Node, min: u32, max: Option<u32>) -> Node {
        match (min, max) {
            (0, Some(0)) => Node::Empty,
            (1, Some(1)) => body,
            _ => Node::Repeat {
                body: Box::new(body),
                min,
                max,
            },
        }
    }

    /// The items of a sequence; a node that is none counts as a sequence of itself.
    pub(super) fn items(&self) -> &[Node] {
        match self {
            Node::Empty => &[],
            Node::Concat(items) => items,
            other => std::slice::from_ref(other),
        }
    }

    /// Like [`Node::items`], by value.
    pub(super) fn into_items(self) -> Vec<Node> {
        match self {
            Node::Empty => Vec::new(),
            Node::Concat(items) => items,
            other => vec![other],
        }
    }

    /// Drops repetition that cannot change the verdict of an unanchored search.
    ///
    /// Where a match of `X{2,9}` may be followed by anything, `X{2}` already decides; the same holds at the front.
    /// `foo.*` becomes the literal `foo`, and `[0-9]{2,}` a much smaller automaton.
    pub(super) fn trimmed(self) -> Node {
        match self {
            Node::Alternate(branches) => {
                Node::Alternate(branches.into_iter().map(Node::trimmed).collect())
            }
            sequence => {
                let mut items = VecDeque::from(sequence.into_items());
                while let Some(edge) = items.pop_back() {
                    match edge.shortest() {
                        Edge::Items(inner) => items.extend(inner),
                        Edge::Fixed(node) => {
                            items.push_back(node);
                            break;
                        }
                    }
                }
                while let Some(edge) = items.pop_front() {
                    match edge.shortest() {
                        Edge::Items(inner) => {
                            inner.into_iter().rev().for_each(|n| items.push_front(n));
                        }
                        Edge::Fixed(node) => {
                            items.push_front(node);
                            break;
                        }
                    }
                }
                Node::concat(items.into())
            }
        }
    }

    /// The node with its repetition cut to the minimum.
    fn shortest(self) -> Edge {
        match self {
            Node::Repeat { min: 0, .. } | Node::Empty => Edge::Items(Vec::new()),
            Node::Repeat { body, min: 1, .. } => Edge::Items(body.into_items()),
            Node::Repeat { body, min, .. } => Edge::Fixed(Node::Repeat {
                body,
                min,
                max: Some(min),
            }),
            node => Edge::Fixed(node),
        }
    }
}

/// The outermost node of a sequence, cut short.
enum Edge {
    /// What takes its place; the next edge is among or behind these.
    Items(Vec<Node>),
    /// Nothing more to cut.
    Fixed(Node),
}
