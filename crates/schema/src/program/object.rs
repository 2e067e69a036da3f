//! What is asked of an object: its members by name, and the object as a whole.

use crate::keyword::Keyword;

use super::{NONE, Names, NodeId, Target};

#[derive(Debug)]
pub(crate) struct ObjectPlan {
    /// Every property name some keyword of this subschema mentions.
    pub(crate) names: Names,
    /// Per name: the schema of `properties`, or [`NONE`].
    pub(crate) schemas: Vec<NodeId>,
    /// What a member of another name meets, when the plan is plain; `names` knows it for the others.
    pub(crate) other: Target,
    /// Name indexes.
    pub(crate) required: Vec<u32>,
    /// The same as bits, when all names fit in 64 of them.
    pub(crate) required_mask: u64,
    pub(crate) dependent_required: Vec<DependentRequired>,
    /// Pattern index and schema.
    pub(crate) patterns: Vec<(u32, NodeId)>,
    pub(crate) additional: NodeId,
    pub(crate) property_names: NodeId,
    pub(crate) min_properties: u64,
    pub(crate) max_properties: u64,
}

impl ObjectPlan {
    pub(super) fn shrink(&mut self) {
        self.names.shrink();
        self.schemas.shrink_to_fit();
        self.required.shrink_to_fit();
        self.dependent_required.shrink_to_fit();
        self.patterns.shrink_to_fit();
    }

    /// Whether the names seen in one object fit in a word.
    #[inline]
    pub(crate) fn is_narrow(&self) -> bool {
        self.schemas.len() <= 64
    }

    /// Whether the number of members matters.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        self.min_properties != 0 || self.max_properties != u64::MAX
    }

    /// Whether each member has at most one schema, and names fit in a word.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_narrow()
            && self.patterns.is_empty()
            && self.property_names == NONE
            && self.dependent_required.is_empty()
    }

    pub(crate) fn asserts_nothing(&self) -> bool {
        self.names.len() == 0
            && self.patterns.is_empty()
            && self.additional == NONE
            && self.property_names == NONE
            && self.min_properties == 0
            && self.max_properties == u64::MAX
    }
}

#[derive(Debug)]
pub(crate) struct DependentRequired {
    pub(crate) keyword: Keyword,
    pub(crate) when: u32,
    pub(crate) then: Vec<u32>,
}
