//! The protocol versions that a server names. The list is the server's text: it is compared with the versions we know, and
//! only the beginning of it is kept for a log.

use bytes::Bytes;
use countersign_tape::{Span, elements};
use countersign_wire::version::{LEGACY, MODERN};

use super::Discovery;
use crate::diagnostics;
use crate::server_error::ServerError;

/// So many bytes of a version that is not known are kept.
const LONGEST_VERSION: usize = 64;
/// So many versions that are not known are kept.
const MOST_NAMED: usize = 8;
/// What stands for the versions of a server that names none.
const UNNAMED: &str = "another than 2026-07-28";

/// The versions that a server says it speaks.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    /// Those of the list that we speak.
    known: Vec<&'static str>,
    /// The first of the others.
    unknown: Vec<String>,
    /// Whether there are more of the others.
    has_more: bool,
}

impl Versions {
    /// Reads an array of versions; anything in it that is not a string is passed over.
    pub(crate) fn read(bytes: &Bytes, array: Span) -> Self {
        let mut versions = Self::default();
        for version in elements(bytes, array) {
            let Some(text) = version.string(bytes) else {
                continue;
            };
            let known = std::iter::once(MODERN).chain(LEGACY);
            match known.into_iter().find(|known| *known == text) {
                Some(known) if versions.known.contains(&known) => {}
                Some(known) => versions.known.push(known),
                None if versions.unknown.len() < MOST_NAMED => {
                    versions.unknown.push(excerpt(&text));
                }
                None => versions.has_more = true,
            }
        }
        versions
    }

    pub(crate) fn contains(&self, version: &str) -> bool {
        self.known.contains(&version)
    }

    /// How to go on with a server that does not speak our modern version: with the newest legacy version that both
    /// speak, if there is one.
    pub(crate) fn shared(&self) -> Result<Discovery, ServerError> {
        if let Some(version) = LEGACY.into_iter().find(|version| self.contains(version)) {
            return Ok(Discovery::Legacy(version));
        }
        if self.contains(MODERN) {
            // It names the version that it has just refused.
            return Err(ServerError::NotMcp);
        }
        Err(ServerError::Version(self.shown()))
    }

    fn shown(&self) -> String {
        if self.unknown.is_empty() {
            return UNNAMED.to_owned();
        }
        let more = if self.has_more { ", \u{2026}" } else { "" };
        format!("{}{more}", self.unknown.join(", "))
    }
}

/// The beginning of a version, for a log: a server may send very much.
pub(crate) fn excerpt(text: &str) -> String {
    diagnostics::excerpt(text, LONGEST_VERSION)
}
