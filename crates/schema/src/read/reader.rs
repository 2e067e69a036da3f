//! What a walk over the text reports to: it follows the schema from container to container, and gives up at the first thing
//! that does not conform or is not plain.
#![expect(
    clippy::inline_always,
    reason = "the walk asks these for every value; as calls they cost as much as they do"
)]

use countersign_tape::{Container, Excerpts, Kind, Node, ParseError, ShortName, Sink, fingerprint};

use super::FRAME;
use super::choice::{Choice, choose};
use crate::fuel::for_name;
use crate::program::{ArrayPlan, Flags, NONE, NodeId, ObjectPlan, Program, Target};
use crate::types::TypeSet;

/// A container around the innermost one. Two words, each written and read whole: a processor waits when it reads at once
/// what was written in parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    /// Objects: the listed names that it has had, as bits.
    seen: u64,
    place: Place,
}

/// The subschema of a container, in the upper half, and how far it was read, in the lower half: of an object the name that is
/// expected next, of an array the position of the item.
#[derive(Debug, Clone, Copy)]
struct Place(u64);

/// Marks the subschema of an array. There are never that many subschemas: a schema would have to be gigabytes long.
const ARRAY: NodeId = 1 << 31;

impl Place {
    #[inline(always)]
    fn begin(node: NodeId, container: Container) -> Self {
        let mark = if container == Container::Array {
            ARRAY
        } else {
            0
        };
        Self(u64::from(node | mark) << 32)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
    const fn position(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    fn set_position(&mut self, position: u32) {
        self.0 = self.0 >> 32 << 32 | u64::from(position);
    }

    #[inline(always)]
    const fn node(self) -> NodeId {
        (self.0 >> 32) as NodeId & !ARRAY
    }

    #[inline(always)]
    const fn container(self) -> Container {
        if self.0 >> 63 == 1 {
            Container::Array
        } else {
            Container::Object
        }
    }
}

/// The names of an open object that its schema does not list.
#[derive(Debug, Clone, Copy)]
pub(super) struct OtherNames {
    /// How many containers are open where the object is the innermost.
    open: u32,
    count: u32,
    /// Fingerprints of the names, one bit for each of 128 groups.
    groups: u128,
}

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

/// What a tape would have and a judgement of it would cost: nodes in the lower half, fuel in the upper half. Neither is more
/// than the text has bytes, and a text has fewer than 2^32.
#[derive(Debug, Clone, Copy)]
struct Tally(u64);

impl Tally {
    /// The root and its frame.
    const ROOT: Self = Self::new(1, FRAME);
    /// A member with a name that is spelt in 16 bytes.
    const SHORT_MEMBER: Self = Self::member(15);

    const fn new(nodes: u64, fuel: u64) -> Self {
        Self(fuel << 32 | nodes)
    }

    /// Name and value of a member. `quoted` is the length of the name with its quotes.
    const fn member(quoted: usize) -> Self {
        Self::new(2, for_name(quoted as u64) + 1)
    }

    /// An item. Items of which nothing is asked are not visited.
    #[inline(always)]
    fn item(target: &Target) -> Self {
        Self::new(1, u64::from(target.child != NONE))
    }

    fn nodes_only(nodes: u32) -> Self {
        Self::new(u64::from(nodes), 0)
    }

    #[inline(always)]
    fn add(&mut self, other: Self) {
        self.0 += other.0;
    }

    const fn nodes(self) -> u64 {
        self.0 & u32::MAX as u64
    }

    const fn fuel(self) -> u64 {
        self.0 >> 32
    }
}

/// Follows the schema while a walk reads the text.
pub(super) struct Reader<'p, 'a, 'b> {
    program: &'p Program,
    text: &'a str,
    excerpts: Excerpts<'a>,
    pending: &'b mut Vec<Pending>,
    /// The containers around the innermost one.
    outer: &'b mut Vec<Level>,
    /// Of open objects that have any, the innermost last.
    others: &'b mut Vec<OtherNames>,
    /// As in [`Level`], of the innermost container.
    place: Place,
    /// The plan of the innermost container; the other one is nothing.
    object: Option<&'p ObjectPlan>,
    array: Option<&'p ArrayPlan>,
    /// What the next value meets.
    target: &'p Target,
    tally: Tally,
    /// Fuel of choices between kinds.
    choice_fuel: u64,
    /// Containers that are open.
    open: u32,
    depth: u32,
    max_depth: u32,
    has_failed: bool,
    root: NodeId,
    seen: u64,
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

    fn put_aside(&mut self, target: &Target, index: u32, is_simple: bool) {
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

    /// Goes inside a plain container with children.
    #[inline(always)]
    fn enter(&mut self, node: NodeId, container: Container) {
        if self.open > 0 {
            let (seen, place) = (self.seen, self.place);
            self.outer.push(Level { seen, place });
        }
        self.open += 1;
        self.depth = self.depth.max(self.open + 1);
        (self.seen, self.place) = (0, Place::begin(node, container));
        self.load_plan();
        self.expect_item();
    }

    /// Brings the plan of the innermost container to hand.
    #[inline(always)]
    fn load_plan(&mut self) {
        let node = self.program.nodes.get(self.place.node() as usize);
        let (object, array) = match (node, self.place.container()) {
            (None, _) => (NONE, NONE),
            (Some(node), Container::Object) => (node.object, NONE),
            (Some(node), Container::Array) => (NONE, node.array),
        };
        self.object = self.program.objects.get(object as usize);
        self.array = self.program.arrays.get(array as usize);
    }

    /// In an array, sets what the next item meets.
    #[inline(always)]
    fn expect_item(&mut self) {
        if let Some(plan) = self.array {
            let listed = plan.targets.get(self.place.position() as usize);
            self.target = listed.unwrap_or(&plan.other);
            self.tally.add(Tally::item(self.target));
        }
    }

    /// Lays out a container that is not plain, and puts it aside if anything is asked of it.
    #[inline(never)]
    fn lay_out(&mut self, start: usize, is_judged: bool) -> Result<Option<usize>, ParseError> {
        let excerpt = self.excerpts.read(start, self.max_depth - self.open)?;
        // The container itself is counted already.
        self.tally.add(Tally::nodes_only(excerpt.nodes - 1));
        self.depth = self.depth.max(self.open + excerpt.depth);
        if is_judged {
            let target = *self.target;
            self.put_aside(&target, excerpt.index, false);
        } else {
            self.excerpts.truncate(excerpt.index);
        }
        Ok(Some(excerpt.end))
    }

    /// Begins with a container that may not be plain.
    #[inline(never)]
    fn open_other(
        &mut self,
        start: usize,
        container: Container,
    ) -> Result<Option<usize>, ParseError> {
        let kind = kind_of(container);
        if self.open == 0 {
            let root = self.program.nodes.get(self.root as usize);
            if !root.is_some_and(|root| root.plain.admits(kind)) {
                return Err(ParseError::stopped(start));
            }
            self.enter(self.root, container);
        } else if self.target.passes.admits(kind) {
            return self.lay_out(start, false);
        } else if kind == Kind::Object
            && let Some(choice) = self.choice(start)
        {
            self.choice_fuel += choice.fuel;
            self.enter(choice.branch, container);
        } else {
            return self.lay_out(start, true);
        }
        Ok(None)
    }

    /// Of an object that must be one of several kinds: the one that its first member names.
    fn choice(&self, start: usize) -> Option<Choice> {
        let node = self.program.nodes.get(self.target.child as usize)?;
        if !node.flags.has(Flags::CHOICE) {
            return None;
        }
        choose(self.program, node, self.text, start)
    }

    /// Whether the innermost container has all it needs, once it ends.
    #[inline(always)]
    fn is_complete(&self) -> bool {
        match (self.object, self.array) {
            (Some(plan), _) => {
                plan.required_mask & !self.seen == 0
                    && (!plan.is_counted() || self.has_enough_members(plan))
            }
            (_, Some(plan)) => {
                let count = u64::from(self.place.position()) + 1;
                plan.min_items <= count && count <= plan.max_items
            }
            _ => false,
        }
    }

    fn has_enough_members(&self, plan: &ObjectPlan) -> bool {
        let others = self.others.last();
        let others = others.filter(|others| others.open == self.open);
        let count = u64::from(self.seen.count_ones() + others.map_or(0, |others| others.count));
        (plan.min_properties..=plan.max_properties).contains(&count)
    }
}

fn kind_of(container: Container) -> Kind {
    match container {
        Container::Object => Kind::Object,
        Container::Array => Kind::Array,
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
