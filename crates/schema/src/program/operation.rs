//! Applicators: keywords that hand the same value to another subschema.

use crate::keyword::Keyword;

use super::{NodeId, Range};

/// An applicator that judges the same instance value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation {
    /// `$ref`, and `$dynamicRef` with one candidate.
    Ref(NodeId),
    /// A reference that the dynamic scope decides, with the target when the scope has none.
    DynamicRef {
        anchor: u32,
        fallback: NodeId,
    },
    All(Range),
    Any(Range),
    One(Range),
    Not(NodeId),
    If {
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
    },
    /// `dependentSchemas`: applies when the object has the property with this index in its plan's names.
    Dependent {
        property: u32,
        schema: NodeId,
    },
}

impl Operation {
    pub(crate) fn keyword(self) -> Keyword {
        match self {
            Self::Ref(_) => Keyword::Ref,
            Self::DynamicRef { .. } => Keyword::DynamicRef,
            Self::All(_) => Keyword::AllOf,
            Self::Any(_) => Keyword::AnyOf,
            Self::One(_) => Keyword::OneOf,
            Self::Not(_) => Keyword::Not,
            Self::If { .. } => Keyword::If,
            Self::Dependent { .. } => Keyword::DependentSchemas,
        }
    }

    /// The subschemas that it names one by one, with [`NONE`](super::NONE) for an absent one. Branches are elsewhere.
    pub(crate) fn targets_mut(&mut self) -> impl Iterator<Item = &mut NodeId> {
        let targets = match self {
            Self::Ref(id)
            | Self::Not(id)
            | Self::DynamicRef { fallback: id, .. }
            | Self::Dependent { schema: id, .. } => [Some(id), None, None],
            Self::If {
                condition,
                then,
                otherwise,
            } => [Some(condition), Some(then), Some(otherwise)],
            Self::All(_) | Self::Any(_) | Self::One(_) => [None, None, None],
        };
        targets.into_iter().flatten()
    }
}
