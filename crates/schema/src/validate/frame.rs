//! The state of one judgement: an instance value, a subschema, and how far it has come.

use crate::program::NodeId;

/// Where a frame goes on when a judgement it asked for is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// A subtree of plain containers; `step` is where its levels start.
    Plain,
    Members,
    Items,
    Contains,
    Operations,
    Unevaluated,
}

/// How a judgement hangs on the one that asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// A value that must be valid.
    Child,
    /// An item that `contains` tries.
    Trial,
    /// The same value again. Speculative: a "no" is not yet a failure. Merging: what it evaluates counts for the asker.
    InPlace { speculative: bool, merging: bool },
}

impl Link {
    /// Whether what is evaluated over this link must be handed to the frame that asks.
    #[inline]
    pub(super) fn merges_into(self, parent: &Frame) -> bool {
        parent.tracked && matches!(self, Link::InPlace { merging: true, .. })
    }

    #[inline]
    pub(super) fn is_speculative(self) -> bool {
        matches!(
            self,
            Link::Trial
                | Link::InPlace {
                    speculative: true,
                    ..
                }
        )
    }
}

#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the state of a machine, not an interface"
)]
pub(super) struct Frame {
    pub(super) node: NodeId,
    pub(super) instance: u32,
    /// The dynamic scope.
    pub(super) scope: u32,
    pub(super) stage: Stage,
    pub(super) speculative: bool,
    /// What it evaluates is handed to its parent.
    pub(super) merges: bool,
    /// Its answer is worth remembering.
    pub(super) memo: bool,
    /// Evaluated members or items are noted in `bits`.
    pub(super) tracked: bool,
    /// The current member was judged by `properties` or a pattern.
    pub(super) matched: bool,
    /// Frames below it on the same instance value.
    pub(super) in_place: u8,
    /// Next member or item on the tape.
    pub(super) cursor: u32,
    /// Its position among its siblings.
    pub(super) ordinal: u32,
    /// Step within a member, or the operation at hand.
    pub(super) step: u32,
    /// The branch at hand, or the name expected next.
    pub(super) branch: u32,
    /// Branches or items that matched.
    pub(super) matches: u32,
    /// Names seen, as bits; or, for a wide object, where their bits start.
    pub(super) seen: u64,
    /// Start of this frame's bits.
    pub(super) bits: u32,
    /// Start of the evaluated bits among them.
    pub(super) evaluated: u32,
}

impl Frame {
    pub(super) fn new(node: NodeId, instance: u32, scope: u32) -> Self {
        Self {
            node,
            instance,
            scope,
            stage: Stage::Members,
            speculative: false,
            merges: false,
            memo: false,
            tracked: false,
            matched: false,
            in_place: 0,
            cursor: instance + 1,
            ordinal: 0,
            step: 0,
            branch: 0,
            matches: 0,
            seen: 0,
            bits: 0,
            evaluated: 0,
        }
    }
}
