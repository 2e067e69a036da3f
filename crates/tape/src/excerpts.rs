//! Single values of a text, laid out one after another as one tape: for a reader that judges most values on the way and
//! puts aside those that take a tape to judge.

use crate::error::ParseError;
use crate::node::Node;
use crate::parse::Builder;
use crate::tape::{Scratch, Tape};

/// A tape of single values, under construction.
pub struct Excerpts<'a> {
    builder: Builder<'a>,
}

/// A container that was laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excerpt {
    /// Its place on the tape.
    pub index: u32,
    /// Its nodes, member names included.
    pub nodes: u32,
    /// Offset just past it.
    pub end: usize,
    /// Its nesting, as [`Limits::max_depth`](crate::Limits::max_depth) counts it.
    pub depth: u32,
}

impl<'a> Excerpts<'a> {
    /// No value yet.
    pub fn new(text: &'a str, scratch: &mut Scratch) -> Self {
        Self {
            builder: scratch.builder_for_few(text),
        }
    }

    /// Adds a scalar or an empty container, and returns its place on the tape.
    #[inline]
    pub fn push(&mut self, value: Node) -> u32 {
        let index = self.next_index();
        let next = index + 1;
        self.builder.nodes.push(Node { next, ..value });
        index
    }

    /// Lays out the container at `at`, which may be `max_depth` deep.
    pub fn read(&mut self, at: usize, max_depth: u32) -> Result<Excerpt, ParseError> {
        let index = self.next_index();
        self.builder.begin_another(max_depth);
        let end = self.builder.run_at(at)?;
        Ok(Excerpt {
            index,
            nodes: self.next_index() - index,
            end,
            depth: self.builder.depth,
        })
    }

    /// Forgets the values from this place on.
    pub fn truncate(&mut self, index: u32) {
        self.builder.nodes.truncate(index as usize);
    }

    /// Whether some value repeats a member name or has a lone surrogate.
    pub fn has_reports(&self) -> bool {
        self.builder.reports.is_some()
    }

    /// The tape of all values; nothing if there are none. A value is at its place, and node 0 is the first of them.
    pub fn finish(self, scratch: &mut Scratch) -> Option<Tape<'a>> {
        if self.builder.nodes.is_empty() {
            scratch.give_up(self.builder);
            return None;
        }
        Some(Tape::finish(self.builder, scratch))
    }

    /// Gives the buffers back without making a tape.
    pub fn give_up(self, scratch: &mut Scratch) {
        scratch.give_up(self.builder);
    }

    fn next_index(&self) -> u32 {
        crate::grammar::narrow(self.builder.nodes.len())
    }
}

impl std::fmt::Debug for Excerpts<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nodes = self.builder.nodes.len();
        out.debug_struct("Excerpts")
            .field("nodes", &nodes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    const TEXT: &str = r#"[{"a":[1]},2,{"b":1,"b":2}]"#;

    #[test]
    fn values_stand_beside_each_other_on_one_tape() {
        let mut scratch = Scratch::default();
        let mut excerpts = Excerpts::new(TEXT, &mut scratch);
        let object = excerpts.read(1, 10).expect("JSON");
        let expected = Excerpt {
            index: 0,
            nodes: 4,
            end: 10,
            depth: 3,
        };
        assert_eq!(object, expected);
        let number = excerpts.push(Node::leaf(11, 12, Kind::Number as u32));
        assert!(!excerpts.has_reports());
        let tape = excerpts.finish(&mut scratch).expect("two values");
        assert_eq!(
            (tape.raw(object.index), tape.raw(number)),
            (r#"{"a":[1]}"#, "2")
        );
        assert_eq!(tape.index_after(number), 5);
        assert_eq!(
            tape.get(object.index, "a").map(|place| tape.raw(place)),
            Some("[1]")
        );
    }

    #[test]
    fn what_is_too_deep_or_repeats_a_name_is_told() {
        let mut scratch = Scratch::default();
        let mut excerpts = Excerpts::new(TEXT, &mut scratch);
        assert!(excerpts.read(1, 2).is_err_and(|error| error.is_too_deep()));
        excerpts.truncate(0);
        assert_eq!(excerpts.read(13, 2).map(|read| read.depth), Ok(2));
        assert!(excerpts.has_reports());
        excerpts.truncate(0);
        assert!(excerpts.finish(&mut scratch).is_none());
    }
}
