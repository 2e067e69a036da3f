//! From a failed assertion to a violation a person can act on.
//!
//! Only invalid instances come here. One run collects the failures no alternative could have repaired; where all
//! branches of an `anyOf` or `oneOf` failed, the branch that came closest is asked for its own failure. All of it is
//! paid from the fuel that is left, and without fuel the plainer answer stands.

mod words;

use countersign_tape::{Kind, Tape};

use super::Schema;
use crate::fuel::{Exhausted, Fuel};
use crate::keyword::Keyword;
use crate::outcome::{Segment, Violation, Violations};
use crate::program::{Flags, NodeId, Operation, Program};
use crate::validate::{Buffers, Failure, Halt, Machine, Purpose};

/// Violations collected at most.
const MOST: usize = 16;
/// Alternatives within alternatives that are followed.
const MAX_REFINEMENTS: usize = 8;

/// Explains an instance that was found invalid. `decisive` is the failure that decided it.
pub(crate) fn explain(
    schema: &Schema,
    tape: &Tape<'_>,
    fuel: &mut Fuel,
    buffers: &mut Buffers,
    decisive: Failure,
) -> Violations {
    let program = schema.program();
    let mut explanation = Explanation {
        program,
        tape,
        fuel,
        buffers,
    };
    let mut machine = explanation.machine(Purpose::Collect(MOST));
    // Whether it ended, found enough or ran dry: what was collected is true.
    let _ended: Result<bool, Halt> = machine.run(schema.root(), 0);
    let mut failures = machine.failures;
    if failures.is_empty() {
        failures.push(decisive);
    }
    let mut violations: Vec<Violation> = Vec::new();
    for failure in failures {
        let violation = describe(schema, tape, explanation.refine(failure));
        if !violations.contains(&violation) {
            violations.push(violation);
        }
    }
    let first = violations.remove(0);
    Violations::new(first, violations)
}

/// What further runs on the same instance need.
struct Explanation<'m, 'a> {
    program: &'m Program,
    tape: &'m Tape<'a>,
    fuel: &'m mut Fuel,
    buffers: &'m mut Buffers,
}

impl<'a> Explanation<'_, 'a> {
    fn machine(&mut self, purpose: Purpose) -> Machine<'_, 'a> {
        Machine::new(self.program, self.tape, self.fuel, self.buffers, purpose)
    }

    /// Replaces "no branch matched" by the failure of the branch that came closest.
    fn refine(&mut self, mut failure: Failure) -> Failure {
        let program = self.program;
        // Scopes do not outlive a run, so where they matter the alternative itself is reported.
        if !program.dynamic_anchors.is_empty() {
            return failure;
        }
        for _ in 0..MAX_REFINEMENTS {
            let Some(branches) = unmatched(program, &failure) else {
                break;
            };
            let mut best: Option<(Score, Failure)> = None;
            for branch in branches {
                let Some((score, found)) = self.closeness(*branch, failure.instance) else {
                    return failure;
                };
                if best.is_none_or(|(known, _)| score > known) {
                    best = Some((score, found));
                }
            }
            match best {
                // Every branch wanted another type: the alternative says that best.
                Some((score, found)) if score.depth > 0 || found.keyword != Keyword::Type => {
                    failure = found;
                }
                _ => break,
            }
        }
        failure
    }

    fn closeness(&mut self, branch: NodeId, instance: u32) -> Option<(Score, Failure)> {
        let mut machine = self.machine(Purpose::Collect(1));
        if machine.run(branch, instance) == Err(Halt::Exhausted) {
            return None;
        }
        let found = *machine.failures.first()?;
        let progress = machine.progress;
        let depth = depth_between(self.tape, instance, found.instance, self.fuel).ok()?;
        let is_discriminator =
            depth == 1 && matches!(found.keyword, Keyword::Const | Keyword::Enum);
        let score = Score {
            is_meant: !is_discriminator,
            depth,
            progress,
        };
        Some((score, found))
    }
}

/// How far a branch came. Greater is closer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// A member that tells the branches apart did not say that this one is meant.
    is_meant: bool,
    depth: usize,
    progress: u32,
}

/// The branches of an alternative none of which matched.
fn unmatched<'p>(program: &'p Program, failure: &Failure) -> Option<&'p [NodeId]> {
    if failure.detail != 0 {
        return None;
    }
    let mut operations = program.operations_of(failure.node).iter();
    operations.find_map(|operation| match operation {
        Operation::Any(range) | Operation::One(range) if operation.keyword() == failure.keyword => {
            Some(range.slice(&program.branches))
        }
        _ => None,
    })
}

fn describe(schema: &Schema, tape: &Tape<'_>, failure: Failure) -> Violation {
    let node = &schema.program().nodes[failure.node as usize];
    let mut schema_pointer = schema.pointer(failure.node);
    // A `false` schema fails as a whole; the keyword that applied it ends its own pointer.
    if !node.flags.has(Flags::FALSE) {
        schema_pointer.push('/');
        schema_pointer.push_str(failure.keyword.as_str());
    }
    Violation {
        keyword: failure.keyword.as_str(),
        path: path(tape, failure.instance),
        schema_pointer,
        expected: words::expected(schema.program(), &failure),
        actual: tape.node(failure.instance).kind().type_name(),
    }
}

/// How many steps lead from a value to one inside it. There may be many siblings on the way, so it is paid for.
fn depth_between(
    tape: &Tape<'_>,
    from: u32,
    target: u32,
    fuel: &mut Fuel,
) -> Result<usize, Exhausted> {
    let mut depth = 0;
    let mut at = from;
    while at < target {
        // A key is as deep as its member, and both stand after the container.
        let mut child = at + 1;
        let mut siblings: u64 = 0;
        while child < target && tape.index_after(child) <= target {
            child = tape.index_after(child);
            siblings += 1;
        }
        fuel.spend(siblings / 16 + 1)?;
        depth += 1;
        at = child;
    }
    Ok(depth)
}

/// The way from the root to a node. A key leads to its member.
fn path(tape: &Tape<'_>, target: u32) -> Vec<Segment> {
    let mut path = Vec::new();
    let mut at = 0;
    while at < target {
        let node = tape.node(at);
        let holds = |child: u32| target < tape.node(child).next();
        let inside = match node.kind() {
            Kind::Array => (0..)
                .zip(tape.children(at))
                .find(|(_, child)| holds(*child))
                .map(|(index, child)| (Segment::Index(index), child)),
            Kind::Object => (0..)
                .zip(tape.members(at))
                .find(|(_, (_, value))| holds(*value))
                .map(|(ordinal, (key, value))| {
                    let name = tape.string(key).into();
                    (Segment::Property { name, ordinal }, value)
                }),
            _ => None,
        };
        let Some((segment, next)) = inside else { break };
        path.push(segment);
        at = next;
    }
    path
}
