//! Arrays: item by item, then `contains`.

use super::frame::{Link, Stage};
use super::{Applied, Flow, Halt, Machine};
use crate::keyword::Keyword;
use crate::program::NONE;

impl Machine<'_, '_> {
    pub(super) fn items(&mut self, answer: Option<bool>) -> Result<Flow, Halt> {
        if answer == Some(false) {
            return Ok(Flow::Fail);
        }
        let program = self.program;
        let mut frame = *self.top();
        let plan = &program.arrays[program.nodes[frame.node as usize].array as usize];
        let value = self.tape.node(frame.instance);
        if !frame.begun {
            frame.begun = true;
            if self.whole_array()? == Flow::Fail {
                return Ok(Flow::Fail);
            }
        }
        while frame.cursor < value.next() {
            let (schema, keyword) = match plan.prefix.get(frame.ordinal as usize) {
                Some(schema) => (*schema, plan.prefix_keyword),
                None if plan.rest == NONE => break,
                None => (plan.rest, plan.rest_keyword),
            };
            let child = frame.cursor;
            frame.cursor = self.tape.node(child).next();
            self.mark_evaluated(&frame, frame.ordinal);
            frame.ordinal += 1;
            match self.apply(schema, child, Link::Child, keyword)? {
                Applied::Pass => {}
                Applied::Fail => return Ok(Flow::Fail),
                Applied::Call => return self.descend(&frame, schema, child, Link::Child),
            }
        }
        frame.begun = false;
        frame.cursor = frame.instance + 1;
        frame.ordinal = 0;
        *self.top() = frame;
        Ok(Flow::Next(if plan.contains == NONE {
            Stage::Operations
        } else {
            Stage::Contains
        }))
    }

    /// Lengths and uniqueness.
    fn whole_array(&mut self) -> Result<Flow, Halt> {
        let program = self.program;
        let frame = *self.top();
        let plan = &program.arrays[program.nodes[frame.node as usize].array as usize];
        let count = u64::from(self.tape.node(frame.instance).count());
        let broken = [
            (count < plan.min_items, Keyword::MinItems),
            (count > plan.max_items, Keyword::MaxItems),
            (
                plan.unique && !self.is_unique(frame.instance)?,
                Keyword::UniqueItems,
            ),
        ];
        for (is_broken, keyword) in broken {
            if is_broken && !self.tolerates(frame.node, keyword, frame.instance, 0)? {
                return Ok(Flow::Fail);
            }
        }
        Ok(Flow::Next(Stage::Items))
    }

    /// Counts the items `contains` accepts, no further than the answer needs.
    pub(super) fn contains(&mut self, mut answer: Option<bool>) -> Result<Flow, Halt> {
        let program = self.program;
        let mut frame = *self.top();
        let plan = &program.arrays[program.nodes[frame.node as usize].array as usize];
        let end = self.tape.node(frame.instance).next();
        let needs_all = plan.max_contains != u64::MAX || (frame.tracked && plan.contains_evaluates);
        loop {
            // The answer belongs to the item before the cursor.
            if answer.take() == Some(true) {
                frame.matches += 1;
                if plan.contains_evaluates {
                    self.mark_evaluated(&frame, frame.ordinal - 1);
                }
            }
            let enough = u64::from(frame.matches) >= plan.min_contains;
            if frame.cursor >= end || (enough && !needs_all) {
                break;
            }
            let child = frame.cursor;
            frame.cursor = self.tape.node(child).next();
            frame.ordinal += 1;
            answer = match self.apply(plan.contains, child, Link::Trial, Keyword::Contains)? {
                Applied::Pass => Some(true),
                Applied::Fail => Some(false),
                Applied::Call => return self.descend(&frame, plan.contains, child, Link::Trial),
            };
        }
        let matches = u64::from(frame.matches);
        frame.matches = 0;
        *self.top() = frame;
        let keyword = if matches < plan.min_contains {
            if plan.min_contains == 1 {
                Keyword::Contains
            } else {
                Keyword::MinContains
            }
        } else if matches > plan.max_contains {
            Keyword::MaxContains
        } else {
            return Ok(Flow::Next(Stage::Operations));
        };
        if self.tolerates(frame.node, keyword, frame.instance, 0)? {
            return Ok(Flow::Next(Stage::Operations));
        }
        Ok(Flow::Fail)
    }
}
