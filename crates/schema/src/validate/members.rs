//! Objects: `properties` and its relatives, member by member, then what the object as a whole must have.

use countersign_tape::Node as TapeNode;

use super::frame::{Frame, Link};
use super::{Flow, Halt, Machine};
use crate::fuel::for_name;
use crate::keyword::Keyword;
use crate::program::{NONE, NodeId, ObjectPlan};

/// The steps of one member when a plan has more than `properties` and `additionalProperties`.
const NAME: u32 = 0;
const LISTED: u32 = 1;
const PATTERNS: u32 = 2;

impl Machine<'_, '_> {
    pub(super) fn members(&mut self, frame: &mut Frame) -> Result<Flow, Halt> {
        let program = self.program;
        let plan = &program.objects[program.nodes[frame.node as usize].object as usize];
        if plan.patterns.is_empty() && plan.property_names == NONE {
            self.listed_members(frame, plan)
        } else {
            self.all_members(frame, plan)
        }
    }

    /// The usual plan: each member has at most one schema.
    fn listed_members(&mut self, frame: &mut Frame, plan: &ObjectPlan) -> Result<Flow, Halt> {
        let end = self.tape.node(frame.instance).next();
        while frame.cursor < end {
            let key = frame.cursor;
            frame.cursor = self.tape.node(key + 1).next();
            let (schema, keyword) = self.listed(frame, plan, key)?;
            let ordinal = frame.ordinal;
            frame.ordinal += 1;
            if schema == NONE {
                continue;
            }
            self.mark_evaluated(frame, ordinal);
            let instance = key + 1;
            match self.apply(frame, schema, instance, Link::Child, keyword)? {
                Flow::Valid => {}
                other => return Ok(other),
            }
        }
        self.whole_object(frame, plan)
    }

    /// Any plan: a member may meet its name's schema, a listed schema and several patterns.
    fn all_members(&mut self, frame: &mut Frame, plan: &ObjectPlan) -> Result<Flow, Halt> {
        let end = self.tape.node(frame.instance).next();
        while frame.cursor < end {
            let key = frame.cursor;
            let Some((schema, subject, keyword)) = self.next_application(frame, plan, key)? else {
                frame.cursor = self.tape.node(key + 1).next();
                frame.ordinal += 1;
                frame.step = NAME;
                frame.matched = false;
                continue;
            };
            match self.apply(frame, schema, subject, Link::Child, keyword)? {
                Flow::Valid => {}
                other => return Ok(other),
            }
        }
        self.whole_object(frame, plan)
    }

    /// The next schema a member meets, and what it judges: the name or the value.
    fn next_application(
        &mut self,
        frame: &mut Frame,
        plan: &ObjectPlan,
        key: u32,
    ) -> Result<Option<(NodeId, u32, Keyword)>, Halt> {
        let last = PATTERNS + u32::try_from(plan.patterns.len()).unwrap_or(NONE);
        while frame.step <= last {
            let step = frame.step;
            frame.step += 1;
            if step == NAME {
                if plan.property_names != NONE {
                    return Ok(Some((plan.property_names, key, Keyword::PropertyNames)));
                }
            } else if step == LISTED {
                let (schema, keyword) = self.listed(frame, plan, key)?;
                if schema != NONE && keyword == Keyword::Properties {
                    frame.matched = true;
                    self.mark_evaluated(frame, frame.ordinal);
                    return Ok(Some((schema, key + 1, keyword)));
                }
            } else if let Some((pattern, schema)) = plan.patterns.get((step - PATTERNS) as usize) {
                if self.matches(*pattern, key)? {
                    frame.matched = true;
                    self.mark_evaluated(frame, frame.ordinal);
                    return Ok(Some((*schema, key + 1, Keyword::PatternProperties)));
                }
            } else if !frame.matched && plan.additional != NONE {
                self.mark_evaluated(frame, frame.ordinal);
                return Ok(Some((
                    plan.additional,
                    key + 1,
                    Keyword::AdditionalProperties,
                )));
            }
        }
        Ok(None)
    }

    /// The schema `properties` lists for a member, or else `additionalProperties`. Notes that the name was seen.
    #[inline]
    fn listed(
        &mut self,
        frame: &mut Frame,
        plan: &ObjectPlan,
        key: u32,
    ) -> Result<(NodeId, Keyword), Halt> {
        let node = self.tape.node(key);
        self.fuel.spend(name_cost(node))?;
        let Some((name, _)) = plan.names.locate(frame.branch, self.tape, key) else {
            return Ok((plan.additional, Keyword::AdditionalProperties));
        };
        frame.branch = name + 1;
        if plan.is_narrow() {
            frame.seen |= 1 << name;
        } else {
            self.set_bit(seen_start(frame), name);
        }
        let schema = plan.schemas[name as usize];
        if schema == NONE {
            return Ok((plan.additional, Keyword::AdditionalProperties));
        }
        self.progress += 1;
        Ok((schema, Keyword::Properties))
    }

    /// Counts, `required` and `dependentRequired`, once all members are known.
    fn whole_object(&mut self, frame: &mut Frame, plan: &ObjectPlan) -> Result<Flow, Halt> {
        let count = u64::from(self.tape.node(frame.instance).count());
        if count < plan.min_properties && !self.tolerates(frame, Keyword::MinProperties, 0)? {
            return Ok(Flow::Invalid);
        }
        if count > plan.max_properties && !self.tolerates(frame, Keyword::MaxProperties, 0)? {
            return Ok(Flow::Invalid);
        }
        let has_all = plan.is_narrow() && frame.seen & plan.required_mask == plan.required_mask;
        if !has_all {
            for name in &plan.required {
                if !self.was_seen(frame, plan, *name)
                    && !self.tolerates(frame, Keyword::Required, *name)?
                {
                    return Ok(Flow::Invalid);
                }
            }
        }
        self.fuel.spend(plan.dependent_required.len() as u64 / 16)?;
        for rule in &plan.dependent_required {
            if !self.was_seen(frame, plan, rule.when) {
                continue;
            }
            for name in &rule.then {
                self.fuel.spend(1)?;
                if !self.was_seen(frame, plan, *name)
                    && !self.tolerates(frame, rule.keyword, *name)?
                {
                    return Ok(Flow::Invalid);
                }
            }
        }
        self.begin_operations(frame)
    }

    pub(super) fn was_seen(&self, frame: &Frame, plan: &ObjectPlan, name: u32) -> bool {
        if plan.is_narrow() {
            frame.seen >> name & 1 == 1
        } else {
            self.bit(seen_start(frame), name)
        }
    }
}

/// What looking at a member's name costs.
#[inline]
pub(super) fn name_cost(name: TapeNode) -> u64 {
    for_name(u64::from(name.end() - name.start()))
}

/// Where a wide object's bits start.
fn seen_start(frame: &Frame) -> u32 {
    u32::try_from(frame.seen).unwrap_or(NONE)
}
