//! What validation may decide with a quick check: values that pass by their type, and containers it may run straight through.

use countersign_tape::Kind;

use crate::keyword::Keyword;
use crate::program::{ArrayPlan, Flags, NONE, Node, ObjectPlan, Operation, Program, Target};
use crate::types::TypeSet;

/// Notes the shortcuts of every node, then brings them to the plans that lead there.
pub(super) fn mark(program: &mut Program) {
    for node in &mut program.nodes {
        if is_choice(node, &program.operations) {
            node.flags.set(Flags::CHOICE);
        }
        if !node.operations.is_empty() || node.flags.has(Flags::FALSE) {
            continue;
        }
        node.simple = simple(node);
        if !node.values.is_empty() {
            continue;
        }
        node.passes = passes(node);
        if !node.flags.has(Flags::MEMO) && !node.flags.has(Flags::BITS) {
            let object = program.objects.get(node.object as usize);
            let array = program.arrays.get(node.array as usize);
            node.plain = plain_containers(node.types, object, array);
        }
    }
    mark_alternatives(program);
    let nodes = &program.nodes;
    for plan in program.objects.iter_mut().filter(|plan| plan.is_plain()) {
        plan.other = Target::new(nodes, plan.additional, Keyword::AdditionalProperties);
        let other = plan.other;
        let listed = |schema: &u32| match *schema {
            NONE => other,
            schema => Target::new(nodes, schema, Keyword::Properties),
        };
        plan.names.set_targets(plan.schemas.iter().map(listed));
    }
    for plan in program.arrays.iter_mut().filter(|plan| plan.is_plain()) {
        let listed = |schema: &u32| Target::new(nodes, *schema, plan.prefix_keyword);
        plan.targets = plan.prefix.iter().map(listed).collect();
        plan.other = Target::new(nodes, plan.rest, plan.rest_keyword);
    }
}

/// A node that asks for one of several types, as optional values are often written, passes what one of those passes.
fn mark_alternatives(program: &mut Program) {
    for index in 0..program.nodes.len() {
        let node = &program.nodes[index];
        let [Operation::Any(branches)] = node.operations.slice(&program.operations) else {
            continue;
        };
        if !node.values.is_empty() || node.flags.has(Flags::FALSE) {
            continue;
        }
        let branches = branches.slice(&program.branches).iter();
        let branches = branches.map(|branch| &program.nodes[*branch as usize]);
        let one_of_them = branches
            .filter(|branch| branch.operations.is_empty())
            .fold(TypeSet::EMPTY, |types, branch| types.union(branch.passes));
        // Of a container, another alternative may evaluate members or items.
        let scalars = one_of_them.without(Kind::Object).without(Kind::Array);
        program.nodes[index].passes = passes(node).intersection(scalars);
    }
}

/// Whether all that is asked of an object is that some alternative holds.
fn is_choice(node: &Node, operations: &[Operation]) -> bool {
    let [Operation::Any(_) | Operation::One(_)] = node.operations.slice(operations) else {
        return false;
    };
    let asks_more = node.object != NONE
        || node.unevaluated_properties != NONE
        || node.unevaluated_items != NONE
        || !node.values.is_empty();
    !asks_more && !node.flags.has(Flags::FALSE) && !node.flags.has(Flags::MEMO)
}

/// The types of a node without `enum` or applicators, less those of which it asks more.
fn passes(node: &Node) -> TypeSet {
    let asked = [
        (Kind::Object, node.object),
        (Kind::Object, node.unevaluated_properties),
        (Kind::Array, node.array),
        (Kind::Array, node.unevaluated_items),
        (Kind::String, node.string),
        (Kind::Key, node.string),
        (Kind::Number, node.number),
    ];
    asked
        .iter()
        .filter(|(_, part)| *part != NONE)
        .fold(node.types, |types, (kind, _)| types.without(*kind))
}

/// The numbers and strings of which a node asks one thing beside their type.
fn simple(node: &Node) -> TypeSet {
    let mut simple = TypeSet::EMPTY;
    if node.number != NONE && node.values.is_empty() {
        simple = simple.union(node.types.only(Kind::Number));
    }
    let things = u32::from(node.string != NONE) + node.values.len();
    if things == 1 {
        simple = simple.union(node.types.only(Kind::String));
    }
    simple
}

/// The containers of which nothing is asked but what a plain plan lists.
fn plain_containers(
    types: TypeSet,
    object: Option<&ObjectPlan>,
    array: Option<&ArrayPlan>,
) -> TypeSet {
    let mut plain = types.containers();
    if !object.is_some_and(ObjectPlan::is_plain) {
        plain = plain.without(Kind::Object);
    }
    if !array.is_some_and(ArrayPlan::is_plain) {
        plain = plain.without(Kind::Array);
    }
    plain
}
