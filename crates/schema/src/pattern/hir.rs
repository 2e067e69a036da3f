//! Turns the tree into the form `regex_automata` compiles.
//!
//! Built node by node: no pattern text is rewritten, so nothing can be quoted wrongly. Every class is a set of
//! characters, so the automaton only ever walks whole UTF-8 sequences. Serves schema compilation.

use regex_syntax::hir::{Class, Hir, Look, Repetition};

use super::ast::Node;
use super::set::CodeSet;

/// Translates a whole pattern.
pub(super) fn translate(node: &Node) -> Hir {
    let hir = build(node);
    let properties = hir.properties();
    let splits = properties.look_set().contains(Look::WordAsciiNegate)
        && properties.minimum_len() == Some(0);
    if splits { on_characters(hir) } else { hir }
}

/// Pins the search to character boundaries.
///
/// `\B` holds between the bytes of one character, so an empty match could be found where ECMA-262 has no position. The
/// engines can skip such matches, but by searching again from the next byte: quadratic on a text of our opponent's
/// choosing. Walking from the start of the text over whole characters costs one pass.
fn on_characters(hir: Hir) -> Hir {
    let any = Hir::class(Class::Unicode(CodeSet::default().negated().to_class()));
    Hir::concat(vec![Hir::look(Look::Start), repetition(any, 0, None), hir])
}

fn build(node: &Node) -> Hir {
    match node {
        Node::Empty => Hir::empty(),
        Node::Char(code) => match char::from_u32(*code) {
            Some(character) => Hir::literal(character.encode_utf8(&mut [0; 4]).as_bytes()),
            None => Hir::fail(),
        },
        Node::Set(set) => Hir::class(Class::Unicode(set.to_class())),
        Node::Look(look) => Hir::look(*look),
        Node::Repeat { body, min, max } => repetition(build(body), *min, *max),
        Node::Concat(items) => Hir::concat(items.iter().map(build).collect()),
        Node::Alternate(branches) => Hir::alternation(branches.iter().map(build).collect()),
    }
}

fn repetition(sub: Hir, min: u32, max: Option<u32>) -> Hir {
    Hir::repetition(Repetition {
        min,
        max,
        greedy: true,
        sub: Box::new(sub),
    })
}
