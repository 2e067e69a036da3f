//! The straight way through plain containers.
//!
//! Most schemas of real tools are objects and arrays of objects whose keywords only list members and items: nothing is
//! tried, merged or remembered. A whole subtree of such containers runs in one frame here, with a small level per
//! container instead of a frame. Whatever is not plain is asked for through the frame, as everywhere else.

use countersign_tape::Kind;

use super::frame::{Frame, Link, Stage};
use super::{Applied, Flow, Halt, Machine};
use crate::keyword::Keyword;
use crate::program::{ArrayPlan, Flags, NONE, NodeId, ObjectPlan};

/// One open container.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    node: NodeId,
    instance: u32,
    /// Next member or item on the tape.
    cursor: u32,
    end: u32,
    /// Objects: the name expected next. Arrays: the item's position.
    position: u32,
    /// Objects: names seen, as bits.
    seen: u64,
}

/// Why a level was left.
enum Left {
    /// All its members or items are judged.
    Finished,
    /// A plain container inside it comes first.
    Deeper(NodeId, u32),
    Flow(Flow),
}

impl Machine<'_, '_> {
    /// Whether a value can be judged here: the node is plain, and the value is a container it has a plan for.
    #[inline]
    pub(super) fn is_plain(&self, node: NodeId, instance: u32) -> bool {
        let node = &self.program.nodes[node as usize];
        let kind = self.tape.node(instance).kind();
        node.flags.has(Flags::PLAIN)
            && node.types.admits(kind)
            && match kind {
                Kind::Object => node.object != NONE,
                Kind::Array => node.array != NONE,
                _ => false,
            }
    }

    pub(super) fn begin_plain(&mut self, frame: &mut Frame) -> Result<Flow, Halt> {
        frame.stage = Stage::Plain;
        frame.step = u32::try_from(self.buffers.levels.len()).unwrap_or(NONE);
        let level = self.level(frame.node, frame.instance)?;
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

    fn plain_from(&mut self, frame: &mut Frame, mut level: Level) -> Result<Flow, Halt> {
        let program = self.program;
        loop {
            let node = &program.nodes[level.node as usize];
            let left = match program.objects.get(node.object as usize) {
                Some(plan) if self.tape.node(level.instance).kind() == Kind::Object => {
                    self.plain_members(frame, &mut level, plan)?
                }
                _ => self.plain_items(frame, &mut level, &program.arrays[node.array as usize])?,
            };
            match left {
                Left::Finished if self.buffers.levels.len() <= frame.step as usize => {
                    return Ok(Flow::Valid);
                }
                Left::Finished => match self.buffers.levels.pop() {
                    Some(outer) => level = outer,
                    None => return Ok(Flow::Valid),
                },
                Left::Deeper(child, instance) => {
                    self.buffers.levels.push(level);
                    level = self.level(child, instance)?;
                }
                Left::Flow(flow) => {
                    self.buffers.levels.push(level);
                    return Ok(flow);
                }
            }
        }
    }

    #[inline]
    fn level(&mut self, node: NodeId, instance: u32) -> Result<Level, Halt> {
        self.fuel.spend(1)?;
        if self.buffers.levels.len() >= self.max_frames {
            return Err(Halt::Exhausted);
        }
        let end = self.tape.node(instance).next();
        Ok(Level {
            node,
            instance,
            cursor: instance + 1,
            end,
            position: 0,
            seen: 0,
        })
    }

    #[inline]
    fn plain_members(
        &mut self,
        frame: &Frame,
        level: &mut Level,
        plan: &ObjectPlan,
    ) -> Result<Left, Halt> {
        let tape = self.tape;
        while level.cursor < level.end {
            let key = level.cursor;
            let name = tape.node(key);
            level.cursor = tape.node(key + 1).next();
            self.fuel
                .spend(1 + u64::from((name.end() - name.start()) / 16))?;
            let found = if plan.names.is_key(level.position, tape, key) {
                Some(level.position)
            } else {
                plan.names.find_key(tape, key)
            };
            let mut child = plan.additional;
            let mut keyword = Keyword::AdditionalProperties;
            if let Some(found) = found {
                level.position = found + 1;
                level.seen |= 1 << found;
                let listed = plan.schemas[found as usize];
                if listed != NONE {
                    child = listed;
                    keyword = Keyword::Properties;
                }
            }
            if child != NONE
                && let Some(left) = self.plain_child(frame, child, key + 1, keyword)?
            {
                return Ok(left);
            }
        }
        self.plain_object_end(level, plan)
    }

    #[inline]
    fn plain_items(
        &mut self,
        frame: &Frame,
        level: &mut Level,
        plan: &ArrayPlan,
    ) -> Result<Left, Halt> {
        if level.position == 0 && !self.plain_count(level, plan)? {
            return Ok(Left::Flow(Flow::Invalid));
        }
        while level.cursor < level.end {
            let (child, keyword) = match plan.prefix.get(level.position as usize) {
                Some(schema) => (*schema, plan.prefix_keyword),
                None => (plan.rest, plan.rest_keyword),
            };
            if child == NONE {
                break;
            }
            let instance = level.cursor;
            level.cursor = self.tape.node(instance).next();
            level.position += 1;
            if let Some(left) = self.plain_child(frame, child, instance, keyword)? {
                return Ok(left);
            }
        }
        Ok(Left::Finished)
    }

    /// Judges a member or item. `None`: it is fine, go on.
    #[inline]
    fn plain_child(
        &mut self,
        frame: &Frame,
        child: NodeId,
        instance: u32,
        keyword: Keyword,
    ) -> Result<Option<Left>, Halt> {
        if self.is_plain(child, instance) {
            return Ok(Some(Left::Deeper(child, instance)));
        }
        Ok(
            match self.apply(frame, child, instance, Link::Child, keyword)? {
                Applied::Pass => None,
                Applied::Fail => Some(Left::Flow(Flow::Invalid)),
                Applied::Call => Some(Left::Flow(Flow::Call {
                    child,
                    instance,
                    link: Link::Child,
                })),
            },
        )
    }

    fn plain_count(&mut self, level: &Level, plan: &ArrayPlan) -> Result<bool, Halt> {
        let count = u64::from(self.tape.node(level.instance).count());
        let keyword = if count < plan.min_items {
            Keyword::MinItems
        } else if count > plan.max_items {
            Keyword::MaxItems
        } else {
            return Ok(true);
        };
        self.tolerates(&Frame::new(level.node, level.instance, 0), keyword, 0)
    }

    #[inline]
    fn plain_object_end(&mut self, level: &Level, plan: &ObjectPlan) -> Result<Left, Halt> {
        let count = u64::from(self.tape.node(level.instance).count());
        let missing = plan.required_mask & !level.seen;
        let (keyword, detail) = if missing != 0 {
            (Keyword::Required, missing.trailing_zeros())
        } else if count < plan.min_properties {
            (Keyword::MinProperties, 0)
        } else if count > plan.max_properties {
            (Keyword::MaxProperties, 0)
        } else {
            return Ok(Left::Finished);
        };
        let tolerated =
            self.tolerates(&Frame::new(level.node, level.instance, 0), keyword, detail)?;
        Ok(if tolerated {
            Left::Finished
        } else {
            Left::Flow(Flow::Invalid)
        })
    }
}
