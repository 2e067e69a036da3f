//! The settings in force for the file, a server or a tool: what it inherits, put together with its own. `config show`
//! prints these instead of what is written there.

use std::collections::BTreeMap;
use std::time::Duration;

use countersign_audit::Redactor;
use countersign_inspect::config::{InputValidation, OutputSanitisation, OutputValidation};

/// The settings in force for the file, a server or a tool.
#[derive(Debug, Default)]
pub(crate) struct EffectiveSettings {
    pub(crate) output: OutputValidation,
    pub(crate) input: InputValidation,
    pub(crate) sanitisation: OutputSanitisation,
    pub(crate) max_message_depth: u32,
    /// How long a call may take.
    pub(crate) timeout: Duration,
    /// The classifiers that may see results.
    pub(crate) classify: Vec<String>,
    /// Knows every secret of the file.
    pub(crate) redactor: Redactor,
    /// The same for each server of the file, or for each tool of a server, by its name.
    pub(crate) inner: BTreeMap<String, EffectiveSettings>,
}
