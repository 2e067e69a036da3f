//! Everything a verdict depends on beside the bytes and the contract, as it holds for one tool.

pub(crate) mod sanitisation;

use crate::config::{InputValidation, OutputValidation};
use crate::era::ClientEra;
use crate::policy::sanitisation::Sanitisation;

/// How deep a message may nest where the operator says nothing. It is above the guard on `structuredContent` (64, and
/// two levels of envelope) and below what readers in the field take: `serde_json` stops at 127 levels, pydantic at 200,
/// Python's own reader at about 990.
pub const MAX_MESSAGE_DEPTH: u32 = 120;

/// Everything a verdict depends on beside the bytes and the contract.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// `output_validation` as it holds for the tool.
    pub output: OutputValidation,
    /// `input_validation` as it holds for the tool.
    pub input: InputValidation,
    /// `output_sanitisation` as it holds for the tool, compiled.
    pub sanitisation: Sanitisation,
    /// Whether a result that conforms may carry free text; `None`: what its schema says.
    pub free_text: Option<bool>,
    /// Who will read the result.
    pub client: ClientEra,
    /// The largest message that is handled at all.
    pub max_message_bytes: usize,
    /// The deepest message that is handled at all.
    pub max_message_depth: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            output: OutputValidation::default(),
            input: InputValidation::default(),
            sanitisation: Sanitisation::default(),
            free_text: None,
            client: ClientEra::default(),
            max_message_bytes: 16 * 1024 * 1024,
            max_message_depth: MAX_MESSAGE_DEPTH,
        }
    }
}
