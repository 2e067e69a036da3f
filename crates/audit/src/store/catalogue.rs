//! The types of the catalogue: tools as their servers declared them.

use crate::time::Timestamp;

/// A tool's declaration, to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolDeclaration<'a> {
    /// The tool's own name.
    pub tool: &'a str,
    /// The digest of `raw`; another digest is another generation.
    pub digest: &'a str,
    /// The tool object exactly as received.
    pub raw: &'a [u8],
}

/// One tool as its server declared it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedTool {
    /// The server's name.
    pub server: String,
    /// The tool's own name.
    pub tool: String,
    /// Counts up with every change of the digest, from 1.
    pub generation: u64,
    /// The digest the caller gave.
    pub digest: String,
    /// The tool object exactly as received.
    pub raw: Vec<u8>,
    /// When this generation was first seen.
    pub captured_at: Timestamp,
}

/// The generation a captured tool has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation {
    /// Its number, from 1.
    pub number: u64,
    /// It was not there before.
    pub is_new: bool,
}
