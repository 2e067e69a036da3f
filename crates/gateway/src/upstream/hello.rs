//! What a server says about itself when it is greeted, in either era. It only reads; who greets,
//! and over what, is the transports' business.

use bytes::Bytes;
use countersign_inspect::{Era, Listing};
use countersign_tape::{Envelope, Hard, Kind, Span, elements, scan};
use thiserror::Error;

use super::request::{LEGACY, MODERN};
use crate::ability::Abilities;
use crate::checkup::Trouble;
use crate::json::{member, path};

/// So much of a version that is none is kept.
const LONGEST_VERSION: usize = 64;

/// What a server said about itself.
#[derive(Debug)]
pub(super) struct Hello {
    pub(super) era: Era,
    pub(super) version: String,
    pub(super) instructions: Option<Listing>,
    /// It can say when its tools change.
    pub(super) tells_changes: bool,
    pub(super) abilities: Abilities,
}

/// Why there was no handshake.
#[derive(Debug, Error)]
pub(super) enum HandshakeError {
    #[error("the server went away")]
    Lost,
    #[error("the server answered with an error or with something that is not MCP")]
    Refused,
    #[error("the server answered with the HTTP status {0}")]
    Status(u16),
    #[error("the server speaks protocol version {0:?}, which is not supported")]
    Version(String),
}

impl HandshakeError {
    /// What it means for whoever looks into it.
    pub(super) fn trouble(&self) -> Trouble {
        match self {
            Self::Lost => Trouble::Unreachable,
            Self::Refused => Trouble::NotMcp,
            Self::Status(status) => Trouble::Status(*status),
            Self::Version(version) => Trouble::Version(version.clone()),
        }
    }
}

/// The `params` of an `initialize` request; `capabilities` is an object.
pub(super) fn initialize_params(capabilities: &[u8]) -> String {
    let capabilities = String::from_utf8_lossy(capabilities);
    format!(
        r#"{{"protocolVersion":"{}","capabilities":{capabilities},"clientInfo":{{"name":"countersign","version":"{}"}}}}"#,
        LEGACY[0],
        env!("CARGO_PKG_VERSION")
    )
}

impl Hello {
    /// Reads the answer to `server/discover`; nothing if it is not that of a server we can talk to
    /// in the modern way.
    pub(super) fn discovered(bytes: &Bytes) -> Option<Self> {
        let result = result(bytes)?;
        let versions = member(bytes, result, "supportedVersions")?;
        elements(bytes, versions)
            .any(|version| version.string(bytes).is_some_and(|text| text == MODERN))
            .then(|| Self::read(bytes, result, Era::Modern, MODERN.to_owned()))
    }

    /// Reads the answer to `initialize`.
    pub(super) fn initialized(bytes: &Bytes) -> Result<Self, HandshakeError> {
        let result = result(bytes).ok_or(HandshakeError::Refused)?;
        let version = member(bytes, result, "protocolVersion")
            .and_then(|version| version.string(bytes))
            .ok_or(HandshakeError::Refused)?
            .into_owned();
        if !LEGACY.contains(&version.as_str()) {
            return Err(HandshakeError::Version(excerpt(&version)));
        }
        Ok(Self::read(bytes, result, Era::Legacy, version))
    }

    fn read(bytes: &Bytes, result: Span, era: Era, version: String) -> Self {
        let instructions = member(bytes, result, "instructions")
            .filter(|value| value.kind(bytes) == Some(Kind::String))
            .map(|value| Listing::admit(Bytes::copy_from_slice(value.bytes(bytes))));
        let changes = path(bytes, result, &["capabilities", "tools", "listChanged"]);
        Self {
            era,
            version,
            instructions,
            abilities: member(bytes, result, "capabilities")
                .map(|capabilities| Abilities::read(bytes, capabilities))
                .unwrap_or_default(),
            tells_changes: changes.is_some_and(|value| value.kind(bytes) == Some(Kind::True)),
        }
    }
}

/// The beginning of what a server says, for a log: it may say very much.
fn excerpt(text: &str) -> String {
    match text.get(..text.floor_char_boundary(LONGEST_VERSION)) {
        Some(start) if start.len() < text.len() => format!("{start}\u{2026}"),
        _ => text.to_owned(),
    }
}

/// The result object of an answer that has one.
fn result(bytes: &[u8]) -> Option<Span> {
    let envelope: Envelope = scan(bytes, &Hard::default()).ok()?;
    let result = envelope.result()?;
    (result.kind(bytes) == Some(Kind::Object)).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_is_none_is_not_logged_whole() {
        let version = "\u{e9}".repeat(150_000);
        let answer =
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{version}"}}}}"#);
        let refused = Hello::initialized(&Bytes::from(answer)).expect_err("not a version");
        let said = refused.to_string();
        assert!(
            said.contains("\u{e9}\u{2026}\"") && said.len() < 200,
            "{said}"
        );
    }
}
