//! `ReadContents`: what the files of a configuration said when they were read last.

use countersign_config::{ConfigError, Source};
use countersign_inspect::Digest;

use super::blocking;

/// What was read last.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReadContents {
    /// What the file says, or why it cannot be read.
    pub(super) file: Result<Option<String>, String>,
    /// A digest of the env file, whose text is not kept.
    pub(super) variables: Option<Digest>,
}

/// Reads the file, and looks at the env file beside it.
pub(super) async fn read(source: &Source) -> (ReadContents, Result<Option<String>, ConfigError>) {
    let source = source.clone();
    blocking(move || {
        let text = source.read();
        let seen = ReadContents {
            file: text.as_ref().map(Clone::clone).map_err(ToString::to_string),
            variables: source.variables(text.as_ref().ok().and_then(Option::as_deref)),
        };
        (seen, text)
    })
    .await
}
