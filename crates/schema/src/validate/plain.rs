//! The straight way through plain containers.
//!
//! Most schemas of real tools are objects and arrays of objects whose keywords only list members and items: nothing is
//! tried, merged or remembered. A whole subtree of such containers runs in one frame here, with a small level per
//! container instead of a frame. Whatever is not plain is asked for through the frame, as everywhere else.

use countersign_tape::{Kind, Node as TapeNode, Tape};

use super::frame::{Frame, Link, Stage};
use super::members::name_cost;
use super::{Flow, Halt, Machine};
use crate::keyword::Keyword;
use crate::program::{ArrayPlan, NONE, NodeId, ObjectPlan, Program, Target};

/// One open container.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    /// Objects: names seen, as bits.
    seen: u64,
    /// The object plan, or the array plan with [`ARRAY`] set.
    plan: u32,
    /// Next member or item on the tape.
    cursor: u32,
    end: u32,
    /// Objects: the name expected next. Arrays: the item's position.
    position: u32,
    node: NodeId,
    instance: u32,
}

/// Marks the plan of an array. There are never that many plans: a schema would have to be gigabytes long.
const ARRAY: u32 = 1 << 31;

/// How far a container was judged.
enum Step {
    /// It is valid.
    Done,
    /// A container inside it comes first: its subschema and its place on the tape.
    Inside(NodeId, u32),
    /// The same, and nothing is left to judge behind it.
    LastInside(NodeId, u32),
    /// The frame has to ask, and goes on with this container afterwards.
    Paused(Flow),
    /// It is not valid.
    Refused(Flow),
}

/// The outcome of a value inside a plain container.
enum PlainOutcome {
    /// It is valid.
    Fine,
    /// It is a plain container itself, to be judged by this subschema.
    Deeper(NodeId),
    /// The frame has to ask, or is done.
    Aside(Flow),
}

impl Machine<'_, '_> {
    pub(super) fn begin_plain(&mut self, frame: &mut Frame) -> Result<Flow, Halt> {
        frame.stage = Stage::Plain;
        frame.step = u32::try_from(self.buffers.levels.len()).unwrap_or(NONE);
        let outermost = Level::open(self.program, self.tape, frame.node, frame.instance);
        self.buffers.levels.push(outermost);
        self.resume_plain(frame)
    }

    /// Levels of a frame that ends early are dropped with it.
    pub(super) fn drop_levels(&mut self, frame: &Frame) {
        if frame.stage == Stage::Plain {
            self.buffers.levels.truncate(frame.step as usize);
        }
    }

    /// Goes on with the innermost container, at the beginning and after a judgement that had to succeed and did.
    /// Levels lie one inside another, so there are never more of them than the instance is deep. The innermost one is in a
    /// local: most containers have none inside that they would have to wait for.
    pub(super) fn resume_plain(&mut self, frame: &Frame) -> Result<Flow, Halt> {
        let program = self.program;
        while self.buffers.levels.len() > frame.step as usize
            && let Some(mut level) = self.buffers.levels.pop()
        {
            loop {
                let step = if level.plan & ARRAY == 0 {
                    let plan = &program.objects[level.plan as usize];
                    self.plain_members(frame, plan, &mut level)?
                } else {
                    let plan = &program.arrays[(level.plan & !ARRAY) as usize];
                    self.plain_items(frame, plan, &mut level)?
                };
                let (child, instance) = match step {
                    Step::Done => break,
                    Step::LastInside(child, instance) => (child, instance),
                    Step::Inside(child, instance) => {
                        self.buffers.levels.push(level);
                        (child, instance)
                    }
                    Step::Paused(flow) => {
                        self.buffers.levels.push(level);
                        return Ok(flow);
                    }
                    Step::Refused(flow) => return Ok(flow),
                };
                level = Level::open(program, self.tape, child, instance);
            }
        }
        Ok(Flow::Valid)
    }

    /// Goes on with an object until it ends or another container comes first. The fuel is counted in a local: this is
    /// the innermost loop.
    #[inline]
    fn plain_members(
        &mut self,
        frame: &Frame,
        plan: &ObjectPlan,
        level: &mut Level,
    ) -> Result<Step, Halt> {
        let tape = self.tape;
        let mut fuel = self.fuel.remaining();
        while level.cursor < level.end {
            let (key, instance) = (level.cursor, level.cursor + 1);
            // By reference: a copy would make the next member wait for it.
            let value = &tape.nodes()[instance as usize];
            level.cursor = value.next();
            fuel = self.fuel.subtract(fuel, member_cost(tape.node(key)))?;
            let mut target = &plan.other;
            if let Some((found, listed)) = plan.names.locate(level.position, tape, key) {
                level.position = found + 1;
                level.seen |= 1 << found;
                target = listed;
            }
            if target.passes.admits_value(*value) {
                continue;
            }
            self.fuel.set_remaining(fuel);
            match self.plain_value(frame, target, value, instance)? {
                PlainOutcome::Fine => fuel = self.fuel.remaining(),
                PlainOutcome::Deeper(child) => {
                    let is_done =
                        level.cursor >= level.end && plain_failure(plan, level, tape).is_none();
                    return Ok(Step::inside(is_done, child, instance));
                }
                PlainOutcome::Aside(flow) => return Ok(Step::Paused(flow)),
            }
        }
        self.fuel.set_remaining(fuel);
        match plain_failure(plan, level, tape) {
            None => Ok(Step::Done),
            Some((keyword, detail)) => self.plain_refusal(level, keyword, detail),
        }
    }

    /// Goes on with an array until it ends or another container comes first.
    #[inline]
    fn plain_items(
        &mut self,
        frame: &Frame,
        plan: &ArrayPlan,
        level: &mut Level,
    ) -> Result<Step, Halt> {
        let tape = self.tape;
        if level.position == 0 && plan.is_counted() {
            let count = u64::from(tape.node(level.instance).count());
            if count < plan.min_items {
                return self.plain_refusal(level, Keyword::MinItems, 0);
            }
            if count > plan.max_items {
                return self.plain_refusal(level, Keyword::MaxItems, 0);
            }
        }
        while level.cursor < level.end {
            let listed = plan.targets.get(level.position as usize);
            let target = listed.unwrap_or(&plan.other);
            if target.child == NONE {
                break;
            }
            let instance = level.cursor;
            let value = &tape.nodes()[instance as usize];
            level.cursor = value.next();
            level.position += 1;
            self.fuel.spend(1)?;
            if target.passes.admits_value(*value) {
                continue;
            }
            match self.plain_value(frame, target, value, instance)? {
                PlainOutcome::Fine => {}
                PlainOutcome::Deeper(child) => {
                    let is_done = level.cursor >= level.end;
                    return Ok(Step::inside(is_done, child, instance));
                }
                PlainOutcome::Aside(flow) => return Ok(Step::Paused(flow)),
            }
        }
        Ok(Step::Done)
    }

    /// The innermost container itself is wrong.
    #[cold]
    fn plain_refusal(
        &mut self,
        level: &Level,
        keyword: Keyword,
        detail: u32,
    ) -> Result<Step, Halt> {
        let place = Frame::new(level.node, level.instance, 0);
        self.tolerates(&place, keyword, detail)?;
        Ok(Step::Refused(Flow::Invalid))
    }

    /// A value of which more is asked than its type.
    #[expect(clippy::inline_always, reason = "the innermost step of validation")]
    #[inline(always)]
    fn plain_value(
        &mut self,
        frame: &Frame,
        target: &Target,
        value: &TapeNode,
        instance: u32,
    ) -> Result<PlainOutcome, Halt> {
        if target.plain.admits_value(*value) {
            return Ok(PlainOutcome::Deeper(target.child));
        }
        // Only a yes or no is asked here, and nothing is merged, so most values need no more than this.
        let answer = if target.simple.admits_value(*value) {
            Some(self.simple(target.child, instance)?)
        } else {
            self.try_quick_answer(target.child, instance)?
        };
        if answer == Some(true) {
            return Ok(PlainOutcome::Fine);
        }
        self.judge_unsettled(frame, target, instance, answer)
    }

    /// A value that is wrong, or takes a frame to judge.
    #[inline(never)]
    fn judge_unsettled(
        &mut self,
        frame: &Frame,
        target: &Target,
        instance: u32,
        answer: Option<bool>,
    ) -> Result<PlainOutcome, Halt> {
        let (child, link) = (target.child, Link::Child);
        let flow = self.flow_from_answer(answer, frame, child, instance, link, target.keyword)?;
        Ok(match flow {
            Flow::Valid => PlainOutcome::Fine,
            other => PlainOutcome::Aside(other),
        })
    }
}

impl Step {
    #[inline]
    fn inside(is_last: bool, child: NodeId, instance: u32) -> Self {
        if is_last {
            Self::LastInside(child, instance)
        } else {
            Self::Inside(child, instance)
        }
    }
}

impl Level {
    #[inline]
    fn open(program: &Program, tape: &Tape<'_>, child: NodeId, instance: u32) -> Self {
        let node = &program.nodes[child as usize];
        let value = tape.node(instance);
        let plan = if value.kind() == Kind::Object {
            node.object
        } else {
            node.array | ARRAY
        };
        Self {
            seen: 0,
            plan,
            cursor: instance + 1,
            end: value.next(),
            position: 0,
            node: child,
            instance,
        }
    }
}

/// What an object lacks once all its members are judged, with the detail of the failure.
#[inline]
fn plain_failure(plan: &ObjectPlan, level: &Level, tape: &Tape<'_>) -> Option<(Keyword, u32)> {
    let missing = plan.required_mask & !level.seen;
    if missing != 0 {
        return Some((Keyword::Required, missing.trailing_zeros()));
    }
    if !plan.is_counted() {
        return None;
    }
    let count = u64::from(tape.node(level.instance).count());
    if count < plan.min_properties {
        Some((Keyword::MinProperties, 0))
    } else if count > plan.max_properties {
        Some((Keyword::MaxProperties, 0))
    } else {
        None
    }
}

/// What a member costs: a look at its name and one at its value.
#[inline]
fn member_cost(name: TapeNode) -> u64 {
    name_cost(name) + 1
}
