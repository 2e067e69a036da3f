//! What a server says about itself when it is greeted, in either era. It only reads; who greets,
//! and over what, is the transports' business.

mod versions;

use std::borrow::Cow;
use std::sync::LazyLock;

use bytes::Bytes;
use countersign_inspect::{Era, Listing};
use countersign_tape::{Envelope, Kind, ScanLimits, Span, scan};
use countersign_wire::Capabilities;
use countersign_wire::json::{member, path};
use countersign_wire::meta::SERVER_INFO;
use countersign_wire::version::{LEGACY, MODERN};
use memchr::memmem;

use crate::server_error::ServerError;
use versions::{Versions, excerpt};

/// The errors of the modern era, which no legacy server sends: headers and body differ, the client lacks a capability.
const MODERN_ERRORS: [&str; 2] = ["-32020", "-32021"];
/// The modern error of a server that does not speak the version of the request. Its `data` names those that it speaks.
const UNSUPPORTED_VERSION: &str = "-32022";

/// What a server said about itself.
#[derive(Debug)]
pub(crate) struct Hello {
    pub(crate) era: Era,
    pub(crate) version: String,
    pub(crate) instructions: Option<Listing>,
    /// It can say when its tools change.
    pub(crate) tells_changes: bool,
    pub(crate) capabilities: Capabilities,
    pub(crate) identity: Identity,
}

/// What a server calls itself; empty if it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What the answer to `server/discover` says about the server.
#[derive(Debug)]
pub(crate) enum Discovery {
    /// It speaks the modern version that we speak.
    Modern(Hello),
    /// It is to be greeted with `initialize`, in this version: the newest that it names and we speak, or the newest that
    /// we speak if it does not know `server/discover` at all.
    Legacy(&'static str),
}

/// The `params` of an `initialize` request; `capabilities` is an object.
pub(crate) fn initialize_params(version: &str, capabilities: &[u8]) -> Vec<u8> {
    let capabilities = String::from_utf8_lossy(capabilities);
    format!(
        r#"{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"countersign","version":"{}"}}}}"#,
        env!("CARGO_PKG_VERSION")
    )
    .into_bytes()
}

impl Discovery {
    /// Reads the answer to `server/discover`. An error that only modern servers send is never taken for the answer of
    /// a legacy server.
    pub(crate) fn read(bytes: &Bytes) -> Result<Self, ServerError> {
        if let Some(result) = result(bytes) {
            let Some(versions) = member(bytes, result, "supportedVersions") else {
                return Ok(Self::Legacy(LEGACY[0]));
            };
            let versions = Versions::read(bytes, versions);
            if versions.contains(MODERN) {
                let hello = Hello::read(bytes, result, Era::Modern, MODERN.to_owned());
                return Ok(Self::Modern(hello));
            }
            return versions.shared();
        }
        Self::read_error(bytes)
    }

    /// Reads an error that answers `server/discover`, whichever id it carries.
    pub(crate) fn read_error(bytes: &Bytes) -> Result<Self, ServerError> {
        let Some(code) = error_code(bytes) else {
            return Ok(Self::Legacy(LEGACY[0]));
        };
        if code == UNSUPPORTED_VERSION {
            let envelope = scan(bytes, &ScanLimits::default()).ok();
            let error = envelope.and_then(|envelope| envelope.error());
            let supported = error.and_then(|error| path(bytes, error, &["data", "supported"]));
            let versions = supported.map(|supported| Versions::read(bytes, supported));
            return versions.unwrap_or_default().shared();
        }
        match MODERN_ERRORS.into_iter().find(|known| code == *known) {
            Some(code) => Err(ServerError::ModernError(code)),
            None => Ok(Self::Legacy(LEGACY[0])),
        }
    }
}

impl Hello {
    /// Reads the answer to `initialize`.
    pub(crate) fn initialized(bytes: &Bytes) -> Result<Self, ServerError> {
        let result = result(bytes).ok_or(ServerError::NotMcp)?;
        let version = member(bytes, result, "protocolVersion")
            .and_then(|version| version.string(bytes))
            .ok_or(ServerError::NotMcp)?
            .into_owned();
        if !LEGACY.contains(&version.as_str()) {
            return Err(ServerError::Version(excerpt(&version)));
        }
        Ok(Self::read(bytes, result, Era::Legacy, version))
    }

    /// What a modern server is to be subscribed to: the lists whose changes it can tell. Nothing if it can tell none.
    pub(crate) fn subscription(&self) -> Option<String> {
        let lists = [
            (self.tells_changes, "toolsListChanged"),
            (self.capabilities.prompt_changes, "promptsListChanged"),
            (self.capabilities.resource_changes, "resourcesListChanged"),
        ];
        let told = lists.into_iter().filter(|(is_told, _)| *is_told);
        let told: Vec<String> = told.map(|(_, name)| format!(r#""{name}":true"#)).collect();
        (!told.is_empty()).then(|| format!(r#""notifications":{{{}}}"#, told.join(",")))
    }

    fn read(bytes: &Bytes, result: Span, era: Era, version: String) -> Self {
        let instructions = member(bytes, result, "instructions")
            .filter(|value| value.kind(bytes) == Some(Kind::String))
            .map(|value| Listing::admit(Bytes::copy_from_slice(value.bytes(bytes))));
        let changes = path(bytes, result, &["capabilities", "tools", "listChanged"]);
        Self {
            era,
            version,
            identity: Identity::read(bytes, result, era),
            instructions,
            capabilities: member(bytes, result, "capabilities")
                .map(|capabilities| Capabilities::read(bytes, capabilities))
                .unwrap_or_default(),
            tells_changes: changes.is_some_and(|value| value.kind(bytes) == Some(Kind::True)),
        }
    }
}

impl Identity {
    fn read(bytes: &[u8], result: Span, era: Era) -> Self {
        let info = match era {
            Era::Legacy => member(bytes, result, "serverInfo"),
            Era::Modern => path(bytes, result, &["_meta", SERVER_INFO]),
        };
        let text = |name| {
            let value = member(bytes, info?, name)?;
            value.string(bytes).map(Cow::into_owned)
        };
        Self {
            name: text("name").unwrap_or_default(),
            version: text("version").unwrap_or_default(),
        }
    }
}

/// The result object of an answer that has one.
fn result(bytes: &[u8]) -> Option<Span> {
    let envelope: Envelope = scan(bytes, &ScanLimits::default()).ok()?;
    let result = envelope.result()?;
    (result.kind(bytes) == Some(Kind::Object)).then_some(result)
}

/// The code of the JSON-RPC error in a message, as it is written.
pub(crate) fn error_code(message: &Bytes) -> Option<Bytes> {
    let envelope = scan(message, &ScanLimits::default()).ok()?;
    let code = member(message, envelope.error()?, "code")?;
    (code.kind(message) == Some(Kind::Number)).then(|| message.slice_ref(code.bytes(message)))
}

/// How a modern server says that headers and body differ, and in how many bytes it may say so.
const HEADER_MISMATCH: &[u8] = b"-32020";
const MISMATCH_BYTES: usize = 4096;

/// Finds it. Kept, because making one costs more than a search in most answers.
static MISMATCH_FINDER: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(HEADER_MISMATCH));

/// Whether an answer says that headers and body differ.
pub(crate) fn is_header_mismatch(answer: &Bytes) -> bool {
    answer.len() < MISMATCH_BYTES
        && MISMATCH_FINDER.find(answer).is_some()
        && error_code(answer).is_some_and(|code| code == HEADER_MISMATCH)
}

#[cfg(test)]
mod tests;
