//! What a walk over the text reports to: it follows the schema from container to container, and gives up at the first thing
//! that does not conform or is not plain.
#![expect(
    clippy::inline_always,
    reason = "the walk asks these for every value; as calls they cost as much as they do"
)]

use countersign_tape::{Container, Excerpts, Kind, Node, ParseError, ShortName, Sink, fingerprint};

use super::containers::kind_of;
use super::level::{Level, OtherNames, Place};
use super::tally::Tally;
use crate::program::{ArrayPlan, NodeId, ObjectPlan, Program, Target};
use crate::types::TypeSet;

/// A value that was put aside, and what it is judged by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    pub(super) schema: NodeId,
    /// Its place on the tape of values put aside.
    pub(super) index: u32,
    /// One thing is asked of it beside its type.
    pub(super) is_simple: bool,
}

/// What a reading came to, apart from the values put aside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Summary {
    /// Nodes that a tape of the whole value would have.
    pub(super) nodes: u64,
    pub(super) depth: u32,
    pub(super) fuel: u64,
}

/// Follows the schema while a walk reads the text.
pub(super) struct Reader<'p, 'a, 'b> {
    pub(super) program: &'p Program,
    pub(super) text: &'a str,
    pub(super) excerpts: Excerpts<'a>,
    pub(super) pending: &'b mut Vec<Pending>,
    /// The containers around the innermost one.
    pub(super) outer: &'b mut Vec<Level>,
    /// Of open objects that have any, the innermost last.
    pub(super) others: &'b mut Vec<OtherNames>,
    /// As in [`Level`], of the innermost container.
    pub(super) place: Place,
    /// The plan of the innermost container, if that is an object.
    pub(super) object: Option<&'p ObjectPlan>,
    /// The same, if that is an array.
    pub(super) array: Option<&'p ArrayPlan>,
    /// What the next value meets.
    pub(super) target: &'p Target,
    pub(super) tally: Tally,
    /// Fuel of choices between kinds.
    pub(super) choice_fuel: u64,
    /// Containers that are open.
    pub(super) open: u32,
    pub(super) depth: u32,
    pub(super) max_depth: u32,
    pub(super) has_failed: bool,
    pub(super) root: NodeId,
    pub(super) seen: u64,
}

/// Before the root is open: a root that is no container with children is not judged here.
static BEFORE_ROOT: Target = Target {
    passes: TypeSet::EMPTY,
    ..Target::NONE
};

impl<'p, 'a, 'b> Reader<'p, 'a, 'b> {
    pub(super) fn new(
        (program, root): (&'p Program, NodeId),
        (text, max_depth): (&'a str, u32),
        excerpts: Excerpts<'a>,
        (outer, others): (&'b mut Vec<Level>, &'b mut Vec<OtherNames>),
        pending: &'b mut Vec<Pending>,
    ) -> Self {
        Self {
            program,
            text,
            excerpts,
            pending,
            outer,
            others,
            place: Place::begin(root, Container::Array),
            object: None,
            array: None,
            target: &BEFORE_ROOT,
            tally: Tally::ROOT,
            choice_fuel: 0,
            open: 0,
            depth: 1,
            max_depth,
            has_failed: false,
            root,
            seen: 0,
        }
    }

    /// The values put aside, and what the reading came to; nothing if it gave up.
    pub(super) fn finish(self) -> (Excerpts<'a>, Option<Summary>) {
        let is_settled = !self.has_failed && self.open == 0 && !self.excerpts.has_reports();
        let summary = is_settled.then_some(Summary {
            nodes: self.tally.nodes(),
            depth: self.depth,
            fuel: self.tally.fuel() + self.choice_fuel,
        });
        (self.excerpts, summary)
    }

    #[inline(always)]
    fn value(&mut self, value: Node) {
        if !self.target.passes.admits_value(value) {
            self.judge(value);
        }
    }

    /// A scalar or an empty container of which more is asked than its type.
    fn judge(&mut self, value: Node) {
        let target = *self.target;
        if self.open == 0 {
            self.has_failed = true;
        } else if target.plain.admits_value(value) {
            self.has_failed |= !self.admits_empty(target.child, value.kind());
        } else {
            let index = self.excerpts.push(value);
            self.put_aside(&target, index, target.simple.admits_value(value));
        }
    }

    pub(super) fn put_aside(&mut self, target: &Target, index: u32, is_simple: bool) {
        self.pending.push(Pending {
            schema: target.child,
            index,
            is_simple,
        });
    }

    /// Whether a plain container may be empty.
    fn admits_empty(&self, node: NodeId, kind: Kind) -> bool {
        let Some(node) = self.program.nodes.get(node as usize) else {
            return false;
        };
        if kind == Kind::Object {
            let plan = self.program.objects.get(node.object as usize);
            plan.is_some_and(|plan| plan.required_mask == 0 && plan.min_properties == 0)
        } else {
            let plan = self.program.arrays.get(node.array as usize);
            plan.is_some_and(|plan| plan.min_items == 0)
        }
    }

    /// A member whose name the schema lists, and what it costs.
    #[inline(always)]
    fn note_listed(&mut self, name: u32, target: &'p Target, cost: Tally) {
        let bit = 1 << (name & 63);
        self.has_failed |= self.seen & bit != 0;
        self.seen |= bit;
        self.place.set_position(name + 1);
        self.target = target;
        self.tally.add(cost);
    }

    /// A member with a name that is not where the schema's order has it.
    #[inline(never)]
    fn note_key(&mut self, start: usize, length: usize) {
        let name = self.text.get(start + 1..start + 1 + length);
        let (Some(plan), Some(name)) = (self.object, name) else {
            self.has_failed = true;
            return;
        };
        let cost = Tally::member(length + 2);
        if let Some(index) = plan.names.find(name)
            && let Some(target) = plan.names.target(index)
        {
            return self.note_listed(index, target, cost);
        }
        self.note_other(name);
        self.target = &plan.other;
        self.tally.add(cost);
    }

    /// A name that the schema does not list. Two such names that share a group may be one name.
    fn note_other(&mut self, name: &str) {
        // The highest bits of a fingerprint are its best.
        let bit = 1 << (fingerprint(name.as_bytes()) >> 17 & 127);
        let open = self.open;
        match self.others.last_mut().filter(|others| others.open == open) {
            Some(others) => {
                self.has_failed |= others.groups & bit != 0;
                others.groups |= bit;
                others.count += 1;
            }
            None => self.others.push(OtherNames {
                open,
                count: 1,
                groups: bit,
            }),
        }
    }
}

impl Sink for Reader<'_, '_, '_> {
    #[inline(always)]
    fn leaf(&mut self, start: usize, end: usize, meta: u32) {
        self.value(Node::leaf(start, end, meta));
    }

    #[inline(always)]
    fn string(&mut self, start: usize, end: usize, flags: u32) {
        let value = Node::string(start, end, flags);
        self.has_failed |= value.has_lone_surrogate();
        self.value(value);
    }

    #[inline(always)]
    fn expected_key(&mut self, rest: &[u8]) -> Option<usize> {
        let plan = self.object?;
        let name = self.place.position();
        let (length, target) = plan.names.recognise(name, rest)?;
        self.note_listed(name, target, Tally::SHORT_MEMBER);
        Some(length)
    }

    fn key(&mut self, start: usize, name: &[u8], flags: u32) {
        // Names with escapes are too few to be worth decoding here.
        self.has_failed |= Node::string(0, 0, flags).is_escaped();
        self.note_key(start, name.len());
    }

    fn short_key(&mut self, start: usize, name: ShortName) {
        self.note_key(start, name.length());
    }

    #[inline(always)]
    fn open(&mut self, start: usize, container: Container) -> Result<Option<usize>, ParseError> {
        if self.has_failed || self.open + 1 >= self.max_depth {
            return Err(ParseError::stopped(start));
        }
        if self.target.plain.admits(kind_of(container)) {
            self.enter(self.target.child, container);
            return Ok(None);
        }
        self.open_other(start, container)
    }

    #[inline(always)]
    fn comma(&mut self) -> Result<(), ParseError> {
        if self.has_failed {
            return Err(ParseError::stopped(0));
        }
        if self.array.is_some() {
            self.place.set_position(self.place.position() + 1);
            self.expect_item();
        }
        Ok(())
    }

    #[inline(always)]
    fn close(&mut self, _end: usize) -> Option<Container> {
        self.has_failed |= !self.is_complete();
        if self.has_failed {
            return None;
        }
        self.others.pop_if(|others| others.open == self.open);
        self.open -= 1;
        let outer = self.outer.pop()?;
        (self.seen, self.place) = (outer.seen, outer.place);
        self.load_plan();
        Some(self.place.container())
    }
}
