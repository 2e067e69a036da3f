//! The same tree given to `regex_automata`, whose simulation is slow but independent of everything here.

use regex_automata::nfa::thompson::{Compiler, pikevm::PikeVM};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, Repetition};

use crate::pattern::ast::Node;

/// Whether the tree matches anywhere in each of `texts`.
pub(super) fn matches(tree: &Node, texts: &[String]) -> Vec<bool> {
    let nfa = Compiler::new()
        .build_from_hir(&build(tree))
        .expect("a small pattern");
    let machine = PikeVM::new_from_nfa(nfa).expect("a valid automaton");
    let mut cache = machine.create_cache();
    texts
        .iter()
        .map(|text| machine.is_match(&mut cache, text.as_str()))
        .collect()
}

fn build(node: &Node) -> Hir {
    match node {
        Node::Empty => Hir::empty(),
        Node::Char(code) => match char::from_u32(*code) {
            Some(character) => Hir::literal(character.encode_utf8(&mut [0; 4]).as_bytes()),
            None => Hir::fail(),
        },
        Node::Set(set) => Hir::class(Class::Unicode(ClassUnicode::new(
            set.chars()
                .map(|(low, high)| ClassUnicodeRange::new(low, high)),
        ))),
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
