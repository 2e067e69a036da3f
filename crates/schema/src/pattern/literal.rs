//! Patterns that are plain text with or without anchors.
//!
//! `^x-`, `\.json$`, `foo` and `^exact$` are a string comparison; so is the empty pattern, which matches everything.
//! Anything else is left to the others. Serves validation.

use regex_syntax::hir::Look;

use super::ast::Node;

/// A piece of text and where it must stand.
#[derive(Debug)]
pub(super) struct Literal {
    text: Box<str>,
    start: bool,
    end: bool,
}

impl Literal {
    /// The pattern as a literal, if it is one.
    pub(super) fn new(tree: &Node) -> Option<Self> {
        let mut items = tree.items();
        let start = matches!(items, [Node::Look(Look::Start), ..]);
        items = items.get(usize::from(start)..)?;
        let end = matches!(items, [.., Node::Look(Look::End)]);
        items = items.get(..items.len() - usize::from(end))?;
        let characters = items.iter().map(|item| match item {
            Node::Char(code) => char::from_u32(*code),
            _ => None,
        });
        let text = characters.collect::<Option<String>>()?.into_boxed_str();
        Some(Self { text, start, end })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        let literal = &*self.text;
        match (self.start, self.end) {
            (true, true) => text == literal,
            (true, false) => text.starts_with(literal),
            (false, true) => text.ends_with(literal),
            (false, false) => text.contains(literal),
        }
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.text.len()
    }
}
