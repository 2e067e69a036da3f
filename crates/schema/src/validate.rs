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
mod plain;
mod quick_pass;
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

/// What working on a frame came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Valid,
    Invalid,
    /// Another judgement is needed first: of which instance value by which subschema.
    Call(NodeId, u32, Link),
}

impl From<bool> for Flow {
    fn from(valid: bool) -> Self {
        if valid { Flow::Valid } else { Flow::Invalid }
    }
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
    ///
    /// The frame at work is a local; the stack holds those that wait for it.
    pub(crate) fn run(&mut self, node: NodeId, instance: u32) -> Result<bool, Halt> {
        let root = Frame::new(node, instance, 0);
        let link = Link::Child;
        let plain = self.program.nodes[node as usize].plain;
        let (mut frame, mut flow);
        if self.purpose == Purpose::Decide && plain.admits_value(self.tape.node(instance)) {
            // A plain container takes a frame for sure, and one without extras.
            self.fuel.spend(2)?;
            frame = Frame::new(node, instance, self.scope_for(&root, node)?);
            flow = self.begin_plain(&mut frame)?;
        } else {
            match self.apply(&root, node, instance, link, Keyword::FalseSchema)? {
                Flow::Valid => return Ok(true),
                Flow::Invalid => return Ok(false),
                Flow::Call(..) => {}
            }
            frame = self.open(&root, node, instance, link)?;
            flow = self.begin(&mut frame)?;
        }
        loop {
            let valid = match flow {
                Flow::Call(child, instance, link) => {
                    let next = self.open(&frame, child, instance, link)?;
                    self.buffers.frames.push(frame);
                    frame = next;
                    flow = self.begin(&mut frame)?;
                    continue;
                }
                Flow::Valid => true,
                Flow::Invalid => false,
            };
            self.close(&frame, valid);
            match self.buffers.frames.pop() {
                None => return Ok(valid),
                Some(parent) => frame = parent,
            }
            flow = self.resume(&mut frame, valid)?;
        }
    }

    /// The assertions that need no other subschema, then whatever the kind of value calls for.
    fn begin(&mut self, frame: &mut Frame) -> Result<Flow, Halt> {
        let node = &self.program.nodes[frame.node as usize];
        if node.flags.has(Flags::FALSE) {
            return self
                .tolerates(frame, Keyword::FalseSchema, 0)
                .map(Flow::from);
        }
        if let Some(keyword) = self.leaf_failure(node, frame.instance)?
            && !self.tolerates(frame, keyword, 0)?
        {
            return Ok(Flow::Invalid);
        }
        let plain = !frame.tracked && node.plain.admits_value(self.tape.node(frame.instance));
        if plain && self.purpose == Purpose::Decide {
            return self.begin_plain(frame);
        }
        match self.tape.node(frame.instance).kind() {
            Kind::Object if node.object != NONE => self.members(frame),
            Kind::Array if node.array != NONE => self.begin_items(frame),
            _ => self.begin_operations(frame),
        }
    }

    /// Goes on with the answer to what the frame asked for.
    fn resume(&mut self, frame: &mut Frame, answer: bool) -> Result<Flow, Halt> {
        match frame.stage {
            Stage::Contains => self.contains(frame, Some(answer)),
            Stage::Operations => self.operations(frame, Some(answer)),
            _ if !answer => Ok(Flow::Invalid),
            Stage::Plain => self.resume_plain(frame),
            Stage::Members => self.members(frame),
            Stage::Items => self.items(frame),
            Stage::Unevaluated => self.unevaluated(frame),
        }
    }

    /// Applies a subschema to a value. Of most values nothing but a type is asked, so that is looked at first.
    #[inline]
    fn apply(
        &mut self,
        frame: &Frame,
        child: NodeId,
        instance: u32,
        link: Link,
        keyword: Keyword,
    ) -> Result<Flow, Halt> {
        let node = &self.program.nodes[child as usize];
        if node.passes.admits_value(self.tape.node(instance)) {
            self.fuel.spend(1)?;
            return Ok(Flow::Valid);
        }
        self.apply_in_full(frame, child, instance, link, keyword)
    }

    /// Decides inline where that is possible, from memory where it is remembered.
    fn apply_in_full(
        &mut self,
        frame: &Frame,
        child: NodeId,
        instance: u32,
        link: Link,
        keyword: Keyword,
    ) -> Result<Flow, Halt> {
        let flags = self.program.nodes[child as usize].flags;
        // Schemas that need no look at the value still cost their visit: there may be thousands of them.
        if flags.has(Flags::TRUE) {
            self.fuel.spend(1)?;
            return Ok(Flow::Valid);
        }
        if self.only_decides(link) && !link.merges_into(frame) {
            let answer = self.try_quick_answer(child, instance)?;
            return self.flow_from_answer(answer, frame, child, instance, link, keyword);
        }
        if flags.has(Flags::FALSE) {
            self.fuel.spend(1)?;
            return self.refuse(frame, child, instance, link, keyword);
        }
        Ok(Flow::Call(child, instance, link))
    }

    /// Turns the quick answer into the next step; without one, looks the answer up in the memo.
    fn flow_from_answer(
        &mut self,
        mut answer: Option<bool>,
        frame: &Frame,
        child: NodeId,
        instance: u32,
        link: Link,
        keyword: Keyword,
    ) -> Result<Flow, Halt> {
        let flags = self.program.nodes[child as usize].flags;
        if answer.is_none() && flags.has(Flags::MEMO) {
            answer = self.remembered(frame, child, instance)?;
        }
        match answer {
            None => Ok(Flow::Call(child, instance, link)),
            Some(true) => Ok(Flow::Valid),
            Some(false) => self.refuse(frame, child, instance, link, keyword),
        }
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
        frame: &Frame,
        child: NodeId,
        instance: u32,
        link: Link,
        keyword: Keyword,
    ) -> Result<Flow, Halt> {
        if self.speculation > 0 || link.is_speculative() {
            return Ok(Flow::Invalid);
        }
        let node = &self.program.nodes[child as usize];
        let keyword = if node.flags.has(Flags::FALSE) {
            keyword
        } else {
            self.leaf_failure(node, instance)?.unwrap_or(keyword)
        };
        let place = Frame::new(child, instance, frame.scope);
        self.tolerates(&place, keyword, 0).map(Flow::from)
    }

    /// Notes a failure. True: go on as if it had not happened, to collect more.
    #[cold]
    fn tolerates(&mut self, frame: &Frame, keyword: Keyword, detail: u32) -> Result<bool, Halt> {
        if self.speculation > 0 {
            return Ok(false);
        }
        let Frame { node, instance, .. } = *frame;
        self.failures.push(Failure {
            node,
            keyword,
            instance,
            detail,
        });
        match self.purpose {
            Purpose::Decide => Ok(false),
            Purpose::Collect(most) if self.failures.len() < most => Ok(true),
            Purpose::Collect(_) => Err(Halt::Enough),
        }
    }

    /// Makes the frame of a judgement.
    fn open(
        &mut self,
        parent: &Frame,
        node: NodeId,
        instance: u32,
        link: Link,
    ) -> Result<Frame, Halt> {
        self.fuel.spend(1)?;
        if self.buffers.frames.len() >= self.max_frames {
            return Err(Halt::Exhausted);
        }
        let flags = self.program.nodes[node as usize].flags;
        let mut frame = Frame::new(node, instance, self.scope_for(parent, node)?);
        if let Link::InPlace { .. } = link {
            frame.in_place = parent.in_place + 1;
            if frame.in_place > MAX_IN_PLACE {
                return Err(Halt::Exhausted);
            }
            frame.merges = link.merges_into(parent);
        }
        frame.memo = flags.has(Flags::MEMO) && !frame.merges && self.only_decides(link);
        frame.speculative = link.is_speculative();
        self.speculation += u32::from(frame.speculative);
        frame.bits = self.bits_len();
        if frame.merges || flags.has(Flags::BITS) {
            self.reserve_bits(&mut frame)?;
        }
        Ok(frame)
    }

    /// Ends a judgement, handing what it evaluated to the frame that asked.
    #[inline]
    fn close(&mut self, frame: &Frame, valid: bool) {
        self.speculation -= u32::from(frame.speculative);
        self.drop_levels(frame);
        if frame.memo {
            self.remember(frame, valid);
        }
        if valid && frame.merges {
            self.merge_into_parent(frame);
        }
        self.buffers.bits.truncate(frame.bits as usize);
    }
}
