//! One subschema: what it asks of a value, by kind of value, and its flags.

use crate::types::TypeSet;

use super::{NONE, NodeId, Range};

/// One subschema. Fields are ordered by how often validation reads them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// Values that pass by what they are: nothing more is asked of them.
    pub(crate) passes: TypeSet,
    /// Containers that validation may run straight through: members or items are listed, and nothing else is asked.
    pub(crate) plain: TypeSet,
    /// Scalars of which one plan, or one list of values, is all that is asked.
    pub(crate) simple: TypeSet,
    pub(crate) types: TypeSet,
    pub(crate) flags: Flags,
    pub(crate) object: u32,
    pub(crate) array: u32,
    pub(crate) string: u32,
    pub(crate) number: u32,
    /// `enum` and `const`: a range of [`Program::values`](super::Program::values).
    pub(crate) values: Range,
    /// Applicators on the same instance value: a range of [`Program::operations`](super::Program::operations).
    pub(crate) operations: Range,
    pub(crate) unevaluated_items: NodeId,
    pub(crate) unevaluated_properties: NodeId,
    /// The schema resource it belongs to, for the dynamic scope.
    pub(crate) resource: u32,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            passes: TypeSet::EMPTY,
            plain: TypeSet::EMPTY,
            simple: TypeSet::EMPTY,
            types: TypeSet::ANY,
            flags: Flags::default(),
            object: NONE,
            array: NONE,
            string: NONE,
            number: NONE,
            values: Range::default(),
            operations: Range::default(),
            unevaluated_items: NONE,
            unevaluated_properties: NONE,
            resource: 0,
        }
    }
}

impl Node {
    /// Whether any instance passes.
    pub(crate) fn asserts_nothing(&self) -> bool {
        self.types == TypeSet::ANY
            && self.values.is_empty()
            && self.operations.is_empty()
            && [
                self.object,
                self.array,
                self.string,
                self.number,
                self.unevaluated_items,
                self.unevaluated_properties,
            ]
            .iter()
            .all(|part| *part == NONE)
    }
}

/// Properties of a node that are known once the whole program is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// Accepts everything.
    pub(crate) const TRUE: Flags = Flags(1);
    /// Accepts nothing: the boolean schema `false`.
    pub(crate) const FALSE: Flags = Flags(2);
    /// Reached on the same value by several ways: worth remembering.
    pub(crate) const MEMO: Flags = Flags(4);
    /// Its applicators nest so little that they may be decided without a frame, on a scalar.
    pub(crate) const SHALLOW: Flags = Flags(8);

    /// The same for any value: none of them looks into objects or arrays.
    pub(crate) const SHALLOW_EVERYWHERE: Flags = Flags(16);
    /// A frame may need bits: for many names, or for what is evaluated.
    pub(crate) const BITS: Flags = Flags(32);
    /// Draft-04: an `integer` is a number written without fraction and exponent, so `1.0` is none.
    pub(crate) const INTEGER_LITERALS: Flags = Flags(64);
    /// Of an object, one `anyOf` or `oneOf` is all that is asked.
    pub(crate) const CHOICE: Flags = Flags(128);

    #[inline]
    pub(crate) fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    pub(crate) fn set(&mut self, flag: Flags) {
        self.0 |= flag.0;
    }
}
