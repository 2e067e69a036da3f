//! Where validation goes from a member or an item.

use crate::keyword::Keyword;
use crate::types::TypeSet;

use super::{NONE, Node, NodeId};

/// A subschema with its shortcuts at hand, for the straight way through plain containers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) child: NodeId,
    pub(crate) passes: TypeSet,
    pub(crate) plain: TypeSet,
    pub(crate) simple: TypeSet,
    /// The keyword that leads there.
    pub(crate) keyword: Keyword,
}

impl Target {
    /// Asks nothing.
    pub(crate) const NONE: Target = Target {
        child: NONE,
        passes: TypeSet::ANY,
        plain: TypeSet::EMPTY,
        simple: TypeSet::EMPTY,
        keyword: Keyword::FalseSchema,
    };

    /// The subschema of this number, or nothing.
    pub(crate) fn new(nodes: &[Node], child: NodeId, keyword: Keyword) -> Self {
        nodes.get(child as usize).map_or(Self::NONE, |node| Self {
            child,
            passes: node.passes,
            plain: node.plain,
            simple: node.simple,
            keyword,
        })
    }
}
