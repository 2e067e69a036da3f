//! What is asked of an array: its items by position, and the array as a whole.

use crate::keyword::Keyword;

use super::{NONE, NodeId, Target};

#[derive(Debug)]
pub(crate) struct ArrayPlan {
    pub(crate) prefix: Vec<NodeId>,
    /// The same with shortcuts, when the plan is plain.
    pub(crate) targets: Vec<Target>,
    /// What other items meet.
    pub(crate) other: Target,
    /// The keyword that `prefix` came from.
    pub(crate) prefix_keyword: Keyword,
    pub(crate) rest: NodeId,
    /// The keyword that `rest` came from.
    pub(crate) rest_keyword: Keyword,
    pub(crate) contains: NodeId,
    pub(crate) min_contains: u64,
    pub(crate) max_contains: u64,
    /// 2020-12: an item that matches `contains` counts as evaluated.
    pub(crate) contains_evaluates: bool,
    pub(crate) min_items: u64,
    pub(crate) max_items: u64,
    pub(crate) unique: bool,
}

impl ArrayPlan {
    /// Whether the number of items matters.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        self.min_items != 0 || self.max_items != u64::MAX
    }

    /// Whether each item has at most one schema.
    pub(crate) fn is_plain(&self) -> bool {
        self.contains == NONE && !self.unique
    }

    pub(crate) fn asserts_nothing(&self) -> bool {
        self.prefix.is_empty()
            && self.rest == NONE
            && self.contains == NONE
            && self.min_items == 0
            && self.max_items == u64::MAX
            && !self.unique
    }
}
