//! The protocol eras. MCP changed what a tool result may hold with version 2026-07-28; everything before is legacy.

use crate::word_enum;

word_enum! {
    /// The protocol era a peer negotiated.
    #[derive(Default)]
    pub enum Era {
        /// 2025-11-25 or earlier: structured content is an object or absent.
        Legacy = "legacy",
        /// 2026-07-28 or later: structured content is any JSON value.
        #[default]
        Modern = "modern",
    }
}

/// What the client at the other end negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClientEra {
    /// It negotiated 2025-11-25 or earlier.
    Legacy,
    /// It negotiated 2026-07-28 or later.
    Modern,
    /// It negotiated nothing, like a bare `curl`: it gets what the upstream sent.
    #[default]
    Unnegotiated,
}

impl From<Era> for ClientEra {
    fn from(era: Era) -> Self {
        match era {
            Era::Legacy => Self::Legacy,
            Era::Modern => Self::Modern,
        }
    }
}
