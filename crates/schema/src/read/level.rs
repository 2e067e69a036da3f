//! What a reader knows of open containers, in as few words as it can: they are written and read for each container.
#![expect(
    clippy::inline_always,
    reason = "the reader asks these for every value; as calls they cost as much as they do"
)]

use countersign_tape::Container;

use crate::program::NodeId;

/// A container around the innermost one. Two words, each written and read whole: a processor waits when it reads at once
/// what was written in parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    /// Objects: the listed names that it has had, as bits.
    pub(super) seen: u64,
    pub(super) place: Place,
}

/// The subschema of a container, in the upper half, and how far it was read, in the lower half: of an object the name that is
/// expected next, of an array the position of the item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place(u64);

/// Marks the subschema of an array. There are never that many subschemas: a schema would have to be gigabytes long.
const ARRAY: NodeId = 1 << 31;

impl Place {
    #[inline(always)]
    pub(super) fn begin(node: NodeId, container: Container) -> Self {
        let mark = if container == Container::Array {
            ARRAY
        } else {
            0
        };
        Self(u64::from(node | mark) << 32)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
    pub(super) const fn position(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    pub(super) fn set_position(&mut self, position: u32) {
        self.0 = self.0 >> 32 << 32 | u64::from(position);
    }

    #[inline(always)]
    pub(super) const fn node(self) -> NodeId {
        (self.0 >> 32) as NodeId & !ARRAY
    }

    #[inline(always)]
    pub(super) const fn container(self) -> Container {
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
    pub(super) open: u32,
    pub(super) count: u32,
    /// Fingerprints of the names, one bit for each of 128 groups.
    pub(super) groups: u128,
}
