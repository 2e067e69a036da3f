//! Properties of the whole graph of subschemas: cycles, how much work one instance value can cause, and what to remember.
//!
//! "In place" means: judged against the same instance value. A cycle of in-place edges would never end, so it is a
//! schema error; a long chain or a large fan-out is refused by the limits, and bounded again by fuel when they are
//! lifted.

mod cycles;
mod shortcuts;

use super::index::position;
use crate::limits::Limits;
use crate::program::{Flags, NONE, Node, NodeId, Operation, Program, Range};
use crate::unenforceable::Unenforceable;

/// Applicators up to this height and weight are decided natively, without frames.
const SHALLOW_HEIGHT: u32 = 3;
const SHALLOW_WEIGHT: u64 = 24;

/// Judges and finishes the program. Gives the root, which may have been an alias.
pub(super) fn analyse(
    program: &mut Program,
    root: NodeId,
    limits: &Limits,
) -> Result<NodeId, Unenforceable> {
    let measures = measure(program)?;
    let is_short = |measure: &Measure| measure.height as usize <= limits.max_in_place_chain;
    Unenforceable::check_limit(measures.iter().all(is_short), "chained applicators")?;
    let is_light = |measure: &Measure| measure.weight <= limits.max_in_place_weight;
    Unenforceable::check_limit(measures.iter().all(is_light), "applicators on one value")?;
    let root = skip_aliases(program, root);
    mark_shallow(program)?;
    mark_memo(program, root);
    shortcuts::mark(program);
    Ok(root)
}

/// How much judging one value by a subschema can set off.
#[derive(Debug, Clone, Copy, Default)]
struct Measure {
    /// In-place edges on the longest way down.
    height: u32,
    /// In-place visits, counted with repetition.
    weight: u64,
    /// Some edge below is decided at run time.
    dynamic: bool,
    /// It or some node below judges members or items.
    looks_inside: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Unseen,
    Open,
    Done,
}

/// Measures every node, or finds an in-place cycle.
fn measure(program: &Program) -> Result<Vec<Measure>, Unenforceable> {
    let count = program.nodes.len();
    let mut measures = vec![Measure::default(); count];
    let mut progress = vec![Progress::Unseen; count];
    let mut work: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
    for start in 0..position(count) {
        if progress[start as usize] != Progress::Unseen {
            continue;
        }
        work.push((start, in_place(program, start)));
        progress[start as usize] = Progress::Open;
        while let Some((node, targets)) = work.last_mut() {
            let node = *node;
            let Some(next) = targets.pop() else {
                measures[node as usize] = combine(program, &measures, node);
                progress[node as usize] = Progress::Done;
                work.pop();
                continue;
            };
            match progress[next as usize] {
                Progress::Done => {}
                Progress::Open => {
                    return Err(Unenforceable::Invalid {
                        pointer: String::new(),
                        reason: "references lead back to themselves without descending",
                    });
                }
                Progress::Unseen => {
                    progress[next as usize] = Progress::Open;
                    work.push((next, in_place(program, next)));
                }
            }
        }
    }
    Ok(measures)
}

fn combine(program: &Program, measures: &[Measure], node: NodeId) -> Measure {
    let own = &program.nodes[node as usize];
    let parts = [
        own.object,
        own.array,
        own.unevaluated_items,
        own.unevaluated_properties,
    ];
    let is_dynamic = |operation: &Operation| matches!(operation, Operation::DynamicRef { .. });
    let mut total = Measure {
        height: 0,
        weight: 1,
        dynamic: program.operations_of(node).iter().any(is_dynamic),
        looks_inside: parts.iter().any(|part| *part != NONE),
    };
    for target in in_place(program, node) {
        let below = measures[target as usize];
        total.height = total.height.max(below.height + 1);
        total.weight = total.weight.saturating_add(below.weight);
        total.dynamic |= below.dynamic;
        total.looks_inside |= below.looks_inside;
    }
    total
}

/// The subschemas a node applies to the value it judges.
fn in_place(program: &Program, node: NodeId) -> Vec<NodeId> {
    let mut targets = Vec::new();
    for mut operation in program.operations_of(node).iter().copied() {
        targets.extend(operation.targets_mut().map(|target| *target));
        match operation {
            Operation::DynamicRef { anchor, .. } => {
                let definers = program.dynamic_anchors.get(anchor as usize);
                targets.extend(definers.into_iter().flatten().map(|(_, target)| *target));
            }
            Operation::All(range) | Operation::Any(range) | Operation::One(range) => {
                targets.extend(range.slice(&program.branches));
            }
            _ => {}
        }
    }
    targets.retain(|target| *target != NONE);
    targets
}

/// The subschemas a node applies to the members or items of the value it judges.
fn descending(program: &Program, node: NodeId) -> Vec<NodeId> {
    let node = &program.nodes[node as usize];
    let mut targets = vec![node.unevaluated_items, node.unevaluated_properties];
    if let Some(plan) = program.objects.get(node.object as usize) {
        targets.extend(&plan.schemas);
        targets.extend(plan.patterns.iter().map(|(_, schema)| *schema));
        targets.push(plan.additional);
    }
    if let Some(plan) = program.arrays.get(node.array as usize) {
        targets.extend(&plan.prefix);
        targets.extend([plan.rest, plan.contains]);
    }
    targets.retain(|target| *target != NONE);
    targets
}

/// Every subschema a node applies.
fn all_targets(program: &Program, node: NodeId) -> Vec<NodeId> {
    let mut targets = in_place(program, node);
    targets.extend(descending(program, node));
    targets
}

/// Lets everything that points at a bare `$ref` point at its target instead. Where the dynamic scope matters, the
/// resource passed through matters too, and nothing is skipped.
fn skip_aliases(program: &mut Program, root: NodeId) -> NodeId {
    if !program.dynamic_anchors.is_empty() {
        return root;
    }
    let aliases = aliases(program);
    let follow = |id: &mut NodeId| {
        if let Some(target) = aliases.get(*id as usize) {
            *id = *target;
        }
    };
    program.branches.iter_mut().for_each(follow);
    let operations = program.operations.iter_mut();
    operations.flat_map(Operation::targets_mut).for_each(follow);
    for plan in &mut program.objects {
        let patterns = plan.patterns.iter_mut().map(|(_, schema)| schema);
        plan.schemas.iter_mut().chain(patterns).for_each(follow);
        follow(&mut plan.additional);
        follow(&mut plan.property_names);
    }
    for plan in &mut program.arrays {
        plan.prefix.iter_mut().for_each(follow);
        follow(&mut plan.rest);
        follow(&mut plan.contains);
    }
    for node in &mut program.nodes {
        follow(&mut node.unevaluated_items);
        follow(&mut node.unevaluated_properties);
    }
    let mut root = root;
    follow(&mut root);
    root
}

/// For each node, the node that judges exactly the same.
fn aliases(program: &Program) -> Vec<NodeId> {
    let direct = |id: NodeId| -> Option<NodeId> {
        let [Operation::Ref(target)] = program.operations_of(id) else {
            return None;
        };
        let bare = Node {
            operations: Range::default(),
            ..program.nodes[id as usize]
        };
        bare.asserts_nothing().then_some(*target)
    };
    let mut aliases: Vec<NodeId> = (0..position(program.nodes.len())).collect();
    let mut path = Vec::new();
    for start in 0..position(program.nodes.len()) {
        // In-place cycles were refused, so following ends; what is already settled ends it early.
        let mut end = start;
        while let Some(next) = direct(end) {
            path.push(end);
            let settled = aliases[next as usize];
            if settled != next {
                end = settled;
                break;
            }
            end = next;
        }
        for id in path.drain(..) {
            aliases[id as usize] = end;
        }
    }
    aliases
}

fn mark_shallow(program: &mut Program) -> Result<(), Unenforceable> {
    let measures = measure(program)?;
    let objects = &program.objects;
    for (node, measure) in program.nodes.iter_mut().zip(measures) {
        if measure.height <= SHALLOW_HEIGHT && measure.weight <= SHALLOW_WEIGHT && !measure.dynamic
        {
            node.flags.set(Flags::SHALLOW);
            if !measure.looks_inside {
                node.flags.set(Flags::SHALLOW_EVERYWHERE);
            }
        }
        let wide = objects
            .get(node.object as usize)
            .is_some_and(|plan| !plan.is_narrow());
        if wide || node.unevaluated_items != NONE || node.unevaluated_properties != NONE {
            node.flags.set(Flags::BITS);
        }
    }
    Ok(())
}

/// What validation can come to. Skipped aliases and unused definitions are left out.
fn reachable(program: &Program, root: NodeId) -> Vec<NodeId> {
    let mut seen = vec![false; program.nodes.len()];
    seen[root as usize] = true;
    let mut found = vec![root];
    let mut next = 0;
    while let Some(node) = found.get(next).copied() {
        next += 1;
        for target in all_targets(program, node) {
            if !seen[target as usize] {
                seen[target as usize] = true;
                found.push(target);
            }
        }
    }
    found
}

/// Marks what several ways may lead to on the same value: in-place targets with more than one parent, and whatever
/// lies on a cycle that also branches.
fn mark_memo(program: &mut Program, root: NodeId) {
    let mut parents = vec![0u32; program.nodes.len()];
    for node in reachable(program, root) {
        for target in in_place(program, node) {
            parents[target as usize] += 1;
        }
    }
    let branching = cycles::branching(program);
    for (id, node) in program.nodes.iter_mut().enumerate() {
        let trivial = node.flags.has(Flags::TRUE) || node.flags.has(Flags::FALSE);
        if !trivial && (parents[id] > 1 || branching[id]) {
            node.flags.set(Flags::MEMO);
        }
    }
}
