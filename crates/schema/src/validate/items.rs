//! Arrays: item by item, then `contains`.

use super::frame::{Frame, Link, Stage};
use super::{Flow, Halt, Machine};
use crate::keyword::Keyword;
use crate::program::NONE;

impl Machine<'_, '_> {
    /// Lengths and uniqueness, then the items.
    pub(super) fn begin_items(&mut self, frame: &mut Frame) -> Result<Flow, Halt> {
        let program = self.program;
        let plan = &program.arrays[program.nodes[frame.node as usize].array as usize];
        let count = u64::from(self.tape.node(frame.instance).count());
        if count < plan.min_items && !self.tolerates(frame, Keyword::MinItems, 0)? {
            return Ok(Flow::Invalid);
        }
        if count > plan.max_items && !self.tolerates(frame, Keyword::MaxItems, 0)? {
            return Ok(Flow::Invalid);
        }
        if plan.unique
            && !self.is_unique(frame.instance)?
            && !self.tolerates(frame, Keyword::UniqueItems, 0)?
        {
            return Ok(Flow::Invalid);
        }
        frame.stage = Stage::Items;
        self.items(frame)
    }

    pub(super) fn items(&mut self, frame: &mut Frame) -> Result<Flow, Halt> {
        let program = self.program;
        let plan = &program.arrays[program.nodes[frame.node as usize].array as usize];
        let end = self.tape.node(frame.instance).next();
        while frame.cursor < end {
            let (child, keyword) = match plan.prefix.get(frame.ordinal as usize) {
                Some(schema) => (*schema, plan.prefix_keyword),
                None if plan.rest == NONE => break,
                None => (plan.rest, plan.rest_keyword),
            };
            let instance = frame.cursor;
            frame.cursor = self.tape.node(instance).next();
            self.mark_evaluated(frame, frame.ordinal);
            frame.ordinal += 1;
            match self.apply(frame, child, instance, Link::Child, keyword)? {
                Flow::Valid => {}
                other => return Ok(other),
            }
        }
        if plan.contains == NONE {
            return self.begin_operations(frame);
        }
        frame.stage = Stage::Contains;
        frame.cursor = frame.instance + 1;
        frame.ordinal = 0;
        self.contains(frame, None)
    }

    /// Counts the items `contains` accepts, no further than the answer needs.
    pub(super) fn contains(
        &mut self,
        frame: &mut Frame,
        mut answer: Option<bool>,
    ) -> Result<Flow, Halt> {
        let program = self.program;
        let plan = &program.arrays[program.nodes[frame.node as usize].array as usize];
        let end = self.tape.node(frame.instance).next();
        let needs_all = plan.max_contains != u64::MAX || (frame.tracked && plan.contains_evaluates);
        loop {
            // The answer belongs to the item before the cursor.
            if answer.take() == Some(true) {
                frame.matches += 1;
                if plan.contains_evaluates {
                    self.mark_evaluated(frame, frame.ordinal - 1);
                }
            }
            let enough = u64::from(frame.matches) >= plan.min_contains;
            if frame.cursor >= end || (enough && !needs_all) {
                break;
            }
            let instance = frame.cursor;
            frame.cursor = self.tape.node(instance).next();
            frame.ordinal += 1;
            let (schema, link) = (plan.contains, Link::Trial);
            answer = match self.apply(frame, schema, instance, link, Keyword::Contains)? {
                Flow::Valid => Some(true),
                Flow::Invalid => Some(false),
                call @ Flow::Call(..) => return Ok(call),
            };
        }
        let matches = u64::from(frame.matches);
        let keyword = if matches < plan.min_contains {
            if plan.min_contains == 1 {
                Keyword::Contains
            } else {
                Keyword::MinContains
            }
        } else if matches > plan.max_contains {
            Keyword::MaxContains
        } else {
            return self.begin_operations(frame);
        };
        if self.tolerates(frame, keyword, 0)? {
            return self.begin_operations(frame);
        }
        Ok(Flow::Invalid)
    }
}
