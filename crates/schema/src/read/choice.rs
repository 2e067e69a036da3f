//! Which of several kinds an object is, when each kind says so by a constant in one member and that member comes first. Then
//! the other kinds are known to fail at it, and the object is judged as the one kind only.

use countersign_tape::{Kind, first_text_member};

use super::FRAME;
use crate::fuel::{for_bytes, for_name};
use crate::program::{Node, NodeId, Operation, Program, Values};

/// More alternatives than this are not looked through.
const MOST_BRANCHES: usize = 16;

/// The kind of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    /// The plain subschema of the kind.
    pub(super) branch: NodeId,
    /// The fuel that the other kinds, and the choice itself, would have used.
    pub(super) fuel: u64,
}

/// The kind of the object at `start`; nothing unless the first member fits one alternative of `node`, and each of the others
/// lists other constants for it.
pub(super) fn choose(program: &Program, node: &Node, text: &str, start: usize) -> Option<Choice> {
    let (range, takes_first) = match node.operations.slice(&program.operations) {
        [Operation::Any(range)] => (range, true),
        [Operation::One(range)] => (range, false),
        _ => return None,
    };
    let branches = range.slice(&program.branches);
    if branches.len() > MOST_BRANCHES || !node.types.admits(Kind::Object) {
        return None;
    }
    let (name, value) = first_text_member(text, start)?;
    let quoted = name.len() as u64 + 2;
    // The member, and the constants that it is compared with.
    let refusal = for_name(quoted) + 1 + 1 + for_bytes(value.len());
    let mut fuel = FRAME;
    let mut chosen = None;
    for branch in branches {
        let constants = constants_of(program, *branch, name)?;
        let is_one_of_them = constants.strings.find(value).is_some();
        if is_one_of_them && chosen.replace(*branch).is_some() {
            return None;
        }
        // Once an alternative of `anyOf` holds, the others are not tried.
        if !(takes_first && chosen.is_some_and(|chosen| chosen != *branch)) {
            fuel += FRAME + if is_one_of_them { 0 } else { refusal };
        }
    }
    Some(Choice {
        branch: chosen?,
        fuel,
    })
}

/// The constants that a plain alternative lists for the member of this name, if that is all it asks of it.
fn constants_of<'p>(program: &'p Program, branch: NodeId, name: &str) -> Option<&'p Values> {
    let node = program.nodes.get(branch as usize)?;
    if !node.plain.admits(Kind::Object) {
        return None;
    }
    let plan = program.objects.get(node.object as usize)?;
    let target = plan.names.target(plan.names.find(name)?)?;
    let asked = program.nodes.get(target.child as usize)?;
    if !target.simple.admits(Kind::String) {
        return None;
    }
    match asked.values.slice(&program.values) {
        [values] => Some(values),
        _ => None,
    }
}
