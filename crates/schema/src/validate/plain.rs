//! The straight way through plain containers.
//!
//! Most schemas of real tools are objects and arrays of objects whose keywords only list members and items: nothing is
//! tried, merged or remembered. A whole subtree of such containers runs in one frame here, with a small level per
//! container instead of a frame. Whatever is not plain is asked for through the frame, as everywhere else.

use countersign_tape::{Kind, Node as TapeNode, Tape};

use super::frame::{Frame, Link, Stage};
use super::members::name_cost;
use super::{Applied, Flow, Halt, Machine};
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

/// What going on with a level came to.
enum Step {
    /// All its members or items are judged.
    Finished,
    /// A plain container inside it comes first.
    Deeper(NodeId, u32),
    /// A plain container inside it is all that is left.
    Instead(NodeId, u32),
    /// The frame has to ask, or is done.
    Aside(Flow),
    /// The container itself fails, with the detail of the failure.
    Failed(Keyword, u32),
}

impl Machine<'_, '_> {
    pub(super) fn begin_plain(&mut self, frame: &mut Frame) -> Result<Flow, Halt> {
        frame.stage = Stage::Plain;
        frame.step = u32::try_from(self.buffers.levels.len()).unwrap_or(NONE);
        let level = Level::open(self.program, self.tape, frame.node, frame.instance);
        self.plain_from(frame, level)
    }

    /// Goes on after a judgement that had to succeed and did.
    pub(super) fn resume_plain(&mut self, frame: &mut Frame) -> Result<Flow, Halt> {
        match self.buffers.levels.pop() {
            Some(level) => self.plain_from(frame, level),
            None => Ok(Flow::Valid),
        }
    }

    /// Levels of a frame that ends early are dropped with it.
    pub(super) fn drop_levels(&mut self, frame: &Frame) {
        if frame.stage == Stage::Plain {
            self.buffers.levels.truncate(frame.step as usize);
        }
    }

    /// Levels lie one inside another, so there are never more of them than the instance is deep.
    fn plain_from(&mut self, frame: &Frame, mut level: Level) -> Result<Flow, Halt> {
        let program = self.program;
        loop {
            let step = if level.plan & ARRAY == 0 {
                self.plain_members(frame, &program.objects[level.plan as usize], &mut level)?
            } else {
                let plan = &program.arrays[(level.plan & !ARRAY) as usize];
                self.plain_items(frame, plan, &mut level)?
            };
            match step {
                Step::Deeper(child, instance) => {
                    self.buffers.levels.push(level);
                    level = Level::open(program, self.tape, child, instance);
                }
                Step::Instead(child, instance) => {
                    level = Level::open(program, self.tape, child, instance);
                }
                Step::Finished if self.buffers.levels.len() <= frame.step as usize => {
                    return Ok(Flow::Valid);
                }
                Step::Finished => match self.buffers.levels.pop() {
                    Some(outer) => level = outer,
                    None => return Ok(Flow::Valid),
                },
                Step::Aside(flow) => {
                    self.buffers.levels.push(level);
                    return Ok(flow);
                }
                Step::Failed(keyword, detail) => {
                    let place = Frame::new(level.node, level.instance, 0);
                    self.tolerates(&place, keyword, detail)?;
                    return Ok(Flow::Invalid);
                }
            }
        }
    }

    /// Goes on with an object. The fuel is counted in a local: this is the innermost loop.
    #[inline]
    fn plain_members(
        &mut self,
        frame: &Frame,
        plan: &ObjectPlan,
        level: &mut Level,
    ) -> Result<Step, Halt> {
        let tape = self.tape;
        let Level {
            mut cursor,
            end,
            mut position,
            mut seen,
            ..
        } = *level;
        let mut fuel = self.fuel.remaining();
        while cursor < end {
            let (key, instance) = (cursor, cursor + 1);
            let value = tape.node(instance);
            cursor = value.next();
            fuel = self.fuel.less(fuel, member_cost(tape.node(key)))?;
            let mut target = plan.other;
            if let Some((found, listed)) = plan.names.locate(position, tape, key) {
                position = found + 1;
                seen |= 1 << found;
                target = listed;
            }
            if target.passes.admits_value(value) {
                continue;
            }
            self.fuel.settle(fuel);
            if let Some(step) = self.plain_value(frame, target, value, instance)? {
                if cursor >= end
                    && let Step::Deeper(child, instance) = step
                    && plan.required_mask & !seen == 0
                    && !plan.is_counted()
                {
                    return Ok(Step::Instead(child, instance));
                }
                level.cursor = cursor;
                level.position = position;
                level.seen = seen;
                return Ok(step);
            }
            fuel = self.fuel.remaining();
        }
        self.fuel.settle(fuel);
        Ok(plain_object_end(plan, seen, || {
            tape.node(level.instance).count()
        }))
    }

    /// Goes on with an array.
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
                return Ok(Step::Failed(Keyword::MinItems, 0));
            }
            if count > plan.max_items {
                return Ok(Step::Failed(Keyword::MaxItems, 0));
            }
        }
        while level.cursor < level.end {
            let listed = plan.targets.get(level.position as usize);
            let target = *listed.unwrap_or(&plan.other);
            if target.child == NONE {
                break;
            }
            let instance = level.cursor;
            let value = tape.node(instance);
            level.cursor = value.next();
            level.position += 1;
            self.fuel.spend(1)?;
            if !target.passes.admits_value(value)
                && let Some(step) = self.plain_value(frame, target, value, instance)?
            {
                return Ok(match step {
                    Step::Deeper(child, instance) if level.cursor >= level.end => {
                        Step::Instead(child, instance)
                    }
                    step => step,
                });
            }
        }
        Ok(Step::Finished)
    }

    /// A value of which more is asked than its type. `None`: it is fine, go on.
    #[expect(clippy::inline_always, reason = "the innermost step of validation")]
    #[inline(always)]
    fn plain_value(
        &mut self,
        frame: &Frame,
        target: Target,
        value: TapeNode,
        instance: u32,
    ) -> Result<Option<Step>, Halt> {
        if target.plain.admits_value(value) {
            return Ok(Some(Step::Deeper(target.child, instance)));
        }
        // Only a yes or no is asked here, and nothing is merged, so most values need no more than this.
        let answer = if target.simple.admits_value(value) {
            self.simple(target.child, value, instance)?
        } else {
            self.quick(target.child, instance)?
        };
        if answer == Some(true) {
            return Ok(None);
        }
        self.unsettled(frame, target, instance, answer)
    }

    /// A value that is wrong, or takes a frame to judge.
    #[inline(never)]
    fn unsettled(
        &mut self,
        frame: &Frame,
        target: Target,
        instance: u32,
        answer: Option<bool>,
    ) -> Result<Option<Step>, Halt> {
        let (child, link) = (target.child, Link::Child);
        let applied = self.answered(answer, frame, child, instance, link, target.keyword)?;
        Ok(match applied {
            Applied::Pass => None,
            Applied::Fail => Some(Step::Aside(Flow::Invalid)),
            Applied::Call => Some(Step::Aside(Flow::Call {
                child,
                instance,
                link,
            })),
        })
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

/// What an object must have once all its members are judged.
#[inline]
fn plain_object_end(plan: &ObjectPlan, seen: u64, count: impl Fn() -> u32) -> Step {
    let missing = plan.required_mask & !seen;
    if missing != 0 {
        return Step::Failed(Keyword::Required, missing.trailing_zeros());
    }
    if plan.is_counted() {
        let count = u64::from(count());
        if count < plan.min_properties {
            return Step::Failed(Keyword::MinProperties, 0);
        }
        if count > plan.max_properties {
            return Step::Failed(Keyword::MaxProperties, 0);
        }
    }
    Step::Finished
}

/// What a member costs: a look at its name and one at its value.
#[inline]
fn member_cost(name: TapeNode) -> u64 {
    name_cost(name) + 1
}
