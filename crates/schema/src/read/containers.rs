//! How a reader goes into containers and out of them.
#![expect(
    clippy::inline_always,
    reason = "the walk asks these for every container; as calls they cost as much as they do"
)]

use countersign_tape::{Container, Kind, ParseError};

use super::choice::{Choice, choose};
use super::level::{Level, Place};
use super::reader::Reader;
use super::tally::Tally;
use crate::program::{Flags, NONE, NodeId, ObjectPlan};

impl Reader<'_, '_, '_> {
    /// Goes inside a plain container with children.
    #[inline(always)]
    pub(super) fn enter(&mut self, node: NodeId, container: Container) {
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
    pub(super) fn load_plan(&mut self) {
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
    pub(super) fn expect_item(&mut self) {
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
    pub(super) fn open_other(
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
    pub(super) fn is_complete(&self) -> bool {
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

pub(super) fn kind_of(container: Container) -> Kind {
    match container {
        Container::Object => Kind::Object,
        Container::Array => Kind::Array,
    }
}
