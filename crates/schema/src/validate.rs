//! Runs a program over a tape, within fuel.
//!
//! The machine keeps its own stack of frames: how deep a schema or an instance nests is data, never native recursion.
//! A frame judges one instance value by one subschema, in stages; where it needs another judgement it calls, and is
//! resumed with the answer. Most values are decided inline, without a frame (`leaf`).

mod buffers;
mod evaluated;
mod frame;
mod items;
mod leaf;
mod members;
mod memo;
mod operations;
mod scope;
mod unique;

use countersign_tape::{Kind, Tape};

use crate::fuel::{Exhausted, Fuel};
use crate::keyword::Keyword;
use crate::program::{Flags, NONE, NodeId, Program};

pub(crate) use buffers::Buffers;
use frame::{Frame, Link, Stage};

/// In-place frames allowed on one instance value, whatever the compile limits were.
const MAX_IN_PLACE: u8 = 64;
/// Frames allowed at all, or four per tape node where that is more.
const MIN_FRAMES: usize = 65_536;

/// Why a run stopped before its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Halt {
    Exhausted,
    /// As many failures were collected as were asked for.
    Enough,
}

impl From<Exhausted> for Halt {
    fn from(_: Exhausted) -> Self {
        Self::Exhausted
    }
}

/// An assertion that did not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) node: NodeId,
    pub(crate) keyword: Keyword,
    pub(crate) instance: u32,
    /// Depends on the keyword: a name's number, or how many branches matched.
    pub(crate) detail: u32,
    pub(crate) scope: u32,
}

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Stop at the first failure.
    Decide,
    /// Go on past failures that no alternative could have repaired, up to so many.
    Collect(usize),
}

pub(crate) struct Machine<'m, 'a> {
    program: &'m Program,
    tape: &'m Tape<'a>,
    fuel: &'m mut Fuel,
    buffers: &'m mut Buffers,
    purpose: Purpose,
    /// Frames on the stack whose failure an alternative may still repair.
    speculation: u32,
    max_frames: usize,
    /// Properties matched so far, by which branches are told apart.
    pub(crate) progress: u32,
    pub(crate) failures: Vec<Failure>,
}

/// How a subschema answered, or that it needs a frame to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Applied {
    Pass,
    Fail,
    Call,
}

/// What a stage of a frame came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next(Stage),
    Call,
    Fail,
}

impl<'m, 'a> Machine<'m, 'a> {
    pub(crate) fn new(
        program: &'m Program,
        tape: &'m Tape<'a>,
        fuel: &'m mut Fuel,
        buffers: &'m mut Buffers,
        purpose: Purpose,
    ) -> Self {
        buffers.reset();
        Self {
            program,
            tape,
            fuel,
            buffers,
            purpose,
            speculation: 0,
            max_frames: MIN_FRAMES.max(4 * tape.len() as usize),
            progress: 0,
            failures: Vec::new(),
        }
    }

    /// Judges one instance value by one subschema.
    pub(crate) fn run(&mut self, node: NodeId, instance: u32, scope: u32) -> Result<bool, Halt> {
        let link = Link::Root { scope };
        match self.apply(node, instance, link, Keyword::FalseSchema)? {
            Applied::Pass => return Ok(true),
            Applied::Fail => return Ok(false),
            Applied::Call => self.call(node, instance, link)?,
        }
        let mut answer = None;
        loop {
            answer = match self.advance(answer)? {
                None => None,
                Some(valid) => {
                    self.leave(valid);
                    if self.buffers.frames.is_empty() {
                        return Ok(valid);
                    }
                    Some(valid)
                }
            };
        }
    }

    /// Works on the top frame until it is decided, or calls another.
    fn advance(&mut self, mut answer: Option<bool>) -> Result<Option<bool>, Halt> {
        loop {
            let flow = match self.top().stage {
                Stage::Enter => self.enter()?,
                Stage::Members => self.members(answer.take())?,
                Stage::Items => self.items(answer.take())?,
                Stage::Contains => self.contains(answer.take())?,
                Stage::Operations => self.operations(answer.take())?,
                Stage::Unevaluated => self.unevaluated(answer.take())?,
                Stage::Done => return Ok(Some(true)),
            };
            match flow {
                Flow::Next(stage) => self.top().stage = stage,
                Flow::Call => return Ok(None),
                Flow::Fail => return Ok(Some(false)),
            }
        }
    }

    /// The assertions that need no other subschema.
    fn enter(&mut self) -> Result<Flow, Halt> {
        let frame = *self.top();
        let node = self.program.nodes[frame.node as usize];
        if node.flags.has(Flags::FALSE) {
            return Ok(
                if self.tolerates(frame.node, Keyword::FalseSchema, frame.instance, 0)? {
                    Flow::Next(Stage::Done)
                } else {
                    Flow::Fail
                },
            );
        }
        if let Some(keyword) = self.leaf_failure(&node, frame.instance)?
            && !self.tolerates(frame.node, keyword, frame.instance, 0)?
        {
            return Ok(Flow::Fail);
        }
        Ok(Flow::Next(match self.tape.node(frame.instance).kind() {
            Kind::Object if node.object != NONE => Stage::Members,
            Kind::Array if node.array != NONE => Stage::Items,
            _ => Stage::Operations,
        }))
    }

    /// Applies a subschema to a value: inline where that decides it, from memory where it is remembered.
    #[inline]
    fn apply(
        &mut self,
        child: NodeId,
        instance: u32,
        link: Link,
        keyword: Keyword,
    ) -> Result<Applied, Halt> {
        let flags = self.program.nodes[child as usize].flags;
        if flags.has(Flags::TRUE) {
            return Ok(Applied::Pass);
        }
        if self.only_decides(link) && !self.merges(link, instance) {
            if let Some(valid) = self.quick(child, instance)? {
                return Ok(if valid {
                    Applied::Pass
                } else {
                    self.refuse(child, instance, link, keyword)?
                });
            }
            if flags.has(Flags::MEMO)
                && let Some(valid) = self.remembered(child, instance, link)?
            {
                return Ok(if valid {
                    Applied::Pass
                } else {
                    self.refuse(child, instance, link, keyword)?
                });
            }
        }
        if flags.has(Flags::FALSE) {
            return self.refuse(child, instance, link, keyword);
        }
        Ok(Applied::Call)
    }

    /// Whether a yes or no is all that is asked, not every failure on the way.
    #[inline]
    fn only_decides(&self, link: Link) -> bool {
        self.purpose == Purpose::Decide || self.speculation > 0 || link.is_speculative()
    }

    /// A subschema said no without a frame: note why, if that is the end of it.
    #[cold]
    fn refuse(
        &mut self,
        child: NodeId,
        instance: u32,
        link: Link,
        keyword: Keyword,
    ) -> Result<Applied, Halt> {
        if self.speculation > 0 || link.is_speculative() {
            return Ok(Applied::Fail);
        }
        let node = self.program.nodes[child as usize];
        let keyword = if node.flags.has(Flags::FALSE) {
            keyword
        } else {
            self.leaf_failure(&node, instance)?.unwrap_or(keyword)
        };
        Ok(if self.tolerates(child, keyword, instance, 0)? {
            Applied::Pass
        } else {
            Applied::Fail
        })
    }

    /// Notes a failure. True: go on as if it had not happened, to collect more.
    #[cold]
    fn tolerates(
        &mut self,
        node: NodeId,
        keyword: Keyword,
        instance: u32,
        detail: u32,
    ) -> Result<bool, Halt> {
        if self.speculation > 0 {
            return Ok(false);
        }
        let scope = self.buffers.frames.last().map_or(0, |frame| frame.scope);
        self.failures.push(Failure {
            node,
            keyword,
            instance,
            detail,
            scope,
        });
        match self.purpose {
            Purpose::Decide => Ok(false),
            Purpose::Collect(most) if self.failures.len() < most => Ok(true),
            Purpose::Collect(_) => Err(Halt::Enough),
        }
    }

    #[inline]
    fn top(&mut self) -> &mut Frame {
        let last = self.buffers.frames.len() - 1;
        &mut self.buffers.frames[last]
    }

    /// Saves how far the top frame has come, and calls.
    fn descend(
        &mut self,
        frame: &Frame,
        child: NodeId,
        instance: u32,
        link: Link,
    ) -> Result<Flow, Halt> {
        *self.top() = *frame;
        self.call(child, instance, link)?;
        Ok(Flow::Call)
    }

    /// Puts a frame on the stack.
    fn call(&mut self, node: NodeId, instance: u32, link: Link) -> Result<(), Halt> {
        self.fuel.spend(1)?;
        if self.buffers.frames.len() >= self.max_frames {
            return Err(Halt::Exhausted);
        }
        let parent = self.buffers.frames.last().copied();
        let in_place = match (link, parent) {
            (Link::InPlace { .. }, Some(parent)) => parent.in_place + 1,
            _ => 0,
        };
        if in_place > MAX_IN_PLACE {
            return Err(Halt::Exhausted);
        }
        let scope = self.scope_for(node, link)?;
        let merges = self.merges(link, instance);
        let mut frame = Frame::new(node, instance, scope);
        frame.in_place = in_place;
        frame.speculative = link.is_speculative();
        frame.merges = merges;
        frame.memo = self.program.nodes[node as usize].flags.has(Flags::MEMO)
            && self.only_decides(link)
            && !merges;
        self.speculation += u32::from(frame.speculative);
        self.reserve_bits(&mut frame)?;
        self.buffers.frames.push(frame);
        Ok(())
    }

    /// Takes the top frame off, handing what it evaluated to its parent.
    fn leave(&mut self, valid: bool) {
        let Some(frame) = self.buffers.frames.pop() else {
            return;
        };
        self.speculation -= u32::from(frame.speculative);
        if frame.memo {
            self.remember(&frame, valid);
        }
        if valid && frame.merges {
            self.merge_into_parent(&frame);
        }
        self.buffers.bits.truncate(frame.bits as usize);
    }
}
