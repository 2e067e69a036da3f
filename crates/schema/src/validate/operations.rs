//! Applicators on the value itself: references, `allOf` and its relatives, `not`, `if`, `dependentSchemas`.

use super::frame::{Frame, Link, Stage};
use super::{Flow, Halt, Machine};
use crate::program::{NONE, NodeId, Operation, Range};

/// The next step of an operation, given the answers so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextStep {
    Judge(NodeId, Link),
    Satisfied,
    /// A judgement that had to succeed did not; it has been reported where it failed.
    Failed,
    /// The operation itself fails: no branch matched, or too many.
    Refused,
}

const REQUIRED: Link = Link::InPlace {
    speculative: false,
    merging: true,
};
const TRY: Link = Link::InPlace {
    speculative: true,
    merging: true,
};
const TRY_APART: Link = Link::InPlace {
    speculative: true,
    merging: false,
};

impl Machine<'_, '_> {
    pub(super) fn begin_operations(&mut self, frame: &mut Frame) -> Result<Flow, Halt> {
        let node = &self.program.nodes[frame.node as usize];
        if node.operations.is_empty() {
            return self.begin_unevaluated(frame);
        }
        frame.stage = Stage::Operations;
        frame.step = 0;
        frame.branch = 0;
        frame.matches = 0;
        self.operations(frame, None)
    }

    pub(super) fn operations(
        &mut self,
        frame: &mut Frame,
        mut answer: Option<bool>,
    ) -> Result<Flow, Halt> {
        let program = self.program;
        let operations = program.operations_of(frame.node);
        while let Some(operation) = operations.get(frame.step as usize) {
            if let Operation::Dependent { .. } = operation {
                self.fuel.spend(1)?;
            }
            match self.next_step(frame, *operation, answer.take()) {
                NextStep::Judge(child, link) => {
                    let instance = frame.instance;
                    answer = match self.apply(frame, child, instance, link, operation.keyword())? {
                        Flow::Valid => Some(true),
                        Flow::Invalid => Some(false),
                        call @ Flow::Call(..) => return Ok(call),
                    };
                    continue;
                }
                NextStep::Satisfied => {}
                NextStep::Failed => return Ok(Flow::Invalid),
                NextStep::Refused => {
                    if !self.tolerates(frame, operation.keyword(), frame.matches)? {
                        return Ok(Flow::Invalid);
                    }
                }
            }
            frame.step += 1;
            frame.branch = 0;
            frame.matches = 0;
        }
        self.begin_unevaluated(frame)
    }

    fn next_step(&self, frame: &mut Frame, operation: Operation, answer: Option<bool>) -> NextStep {
        match operation {
            Operation::Ref(target) => require(target, answer),
            Operation::DynamicRef { anchor, fallback } => {
                require(self.dynamic_target(frame, anchor, fallback), answer)
            }
            Operation::All(range) => self.all(frame, range, answer),
            Operation::Any(range) => self.any(frame, range, answer),
            Operation::One(range) => self.one(frame, range, answer),
            Operation::Not(target) => match answer {
                None => NextStep::Judge(target, TRY_APART),
                Some(true) => NextStep::Refused,
                Some(false) => NextStep::Satisfied,
            },
            Operation::If {
                condition,
                then,
                otherwise,
            } => conditional(frame, condition, then, otherwise, answer),
            Operation::Dependent { property, schema } => {
                let node = &self.program.nodes[frame.node as usize];
                let plan = self.program.objects.get(node.object as usize);
                let is_object =
                    self.tape.node(frame.instance).kind() == countersign_tape::Kind::Object;
                match plan {
                    Some(plan) if is_object && self.was_seen(frame, plan, property) => {
                        require(schema, answer)
                    }
                    _ => NextStep::Satisfied,
                }
            }
        }
    }

    fn all(&self, frame: &mut Frame, range: Range, answer: Option<bool>) -> NextStep {
        if answer == Some(false) {
            return NextStep::Failed;
        }
        self.next_branch(frame, range, REQUIRED, NextStep::Satisfied)
    }

    /// One valid branch is enough, unless what the others evaluate matters too.
    fn any(&self, frame: &mut Frame, range: Range, answer: Option<bool>) -> NextStep {
        frame.matches += u32::from(answer == Some(true));
        if frame.matches > 0 && !frame.tracked {
            return NextStep::Satisfied;
        }
        let end = satisfied_if(frame.matches > 0);
        self.next_branch(frame, range, TRY, end)
    }

    fn one(&self, frame: &mut Frame, range: Range, answer: Option<bool>) -> NextStep {
        frame.matches += u32::from(answer == Some(true));
        if frame.matches > 1 {
            return NextStep::Refused;
        }
        let end = satisfied_if(frame.matches == 1);
        self.next_branch(frame, range, TRY, end)
    }

    /// Asks for the branch at hand; behind the last one, `end` is the answer.
    fn next_branch(&self, frame: &mut Frame, range: Range, link: Link, end: NextStep) -> NextStep {
        let branches = range.slice(&self.program.branches);
        let Some(child) = branches.get(frame.branch as usize) else {
            return end;
        };
        frame.branch += 1;
        NextStep::Judge(*child, link)
    }
}

fn satisfied_if(holds: bool) -> NextStep {
    if holds {
        NextStep::Satisfied
    } else {
        NextStep::Refused
    }
}

fn require(target: NodeId, answer: Option<bool>) -> NextStep {
    match answer {
        None => NextStep::Judge(target, REQUIRED),
        Some(true) => NextStep::Satisfied,
        Some(false) => NextStep::Failed,
    }
}

/// Branch 0 asks the condition, branch 1 what follows from it.
fn conditional(
    frame: &mut Frame,
    condition: NodeId,
    then: NodeId,
    otherwise: NodeId,
    answer: Option<bool>,
) -> NextStep {
    match (frame.branch, answer) {
        (0, None) => NextStep::Judge(condition, TRY),
        (0, Some(held)) => {
            frame.branch = 1;
            match if held { then } else { otherwise } {
                NONE => NextStep::Satisfied,
                target => NextStep::Judge(target, REQUIRED),
            }
        }
        (_, Some(false)) => NextStep::Failed,
        _ => NextStep::Satisfied,
    }
}
