//! The first words with a server: which era it speaks, and what it says about itself. A modern
//! request goes first; whoever does not understand it, or does not answer, is greeted the legacy way.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_inspect::{Era, Listing, Refusal};
use countersign_tape::{Envelope, Hard, Kind, Span, elements, scan};
use thiserror::Error;
use tokio::time::timeout;

use super::wire::Wire;
use crate::json::{member, path};
use crate::upstream::NoteSink;
use crate::upstream::request::{self, LEGACY, MODERN};

/// A legacy server may keep silent about a method it does not know.
const PROBE: Duration = Duration::from_secs(3);

/// What a server said about itself.
#[derive(Debug)]
pub(super) struct Hello {
    pub(super) era: Era,
    pub(super) version: String,
    pub(super) instructions: Option<Listing>,
    /// It can say when its tools change.
    pub(super) tells_changes: bool,
}

/// Why there was no handshake.
#[derive(Debug, Error)]
pub(super) enum HandshakeError {
    #[error("the server went away")]
    Lost,
    #[error("the server answered with an error or with something that is not MCP")]
    Refused,
    #[error("the server speaks protocol version {0:?}, which is not supported")]
    Version(String),
}

/// Greets the server. `known` is what it spoke the last time.
pub(super) async fn greet(wire: &Arc<Wire>, known: Option<Era>) -> Result<Hello, HandshakeError> {
    if known != Some(Era::Legacy)
        && let Some(hello) = discover(wire).await?
    {
        return Ok(hello);
    }
    initialize(wire).await
}

/// The modern way; nothing if the server does not know it.
async fn discover(wire: &Arc<Wire>) -> Result<Option<Hello>, HandshakeError> {
    let asked = ask(
        wire,
        "server/discover",
        request::own_params(Era::Modern, ""),
    );
    let answer = match timeout(PROBE, asked).await {
        Err(_) => return Ok(None),
        Ok(Err(Refusal::Lost)) => return Err(HandshakeError::Lost),
        Ok(answer) => answer.ok(),
    };
    let hello = answer.and_then(|bytes| {
        let result = result(&bytes)?;
        let versions = member(&bytes, result, "supportedVersions")?;
        elements(&bytes, versions)
            .any(|version| version.string(&bytes).is_some_and(|text| text == MODERN))
            .then(|| Hello::read(&bytes, result, Era::Modern, MODERN.to_owned()))
    });
    Ok(hello)
}

async fn initialize(wire: &Arc<Wire>) -> Result<Hello, HandshakeError> {
    let params = format!(
        r#"{{"protocolVersion":"{}","capabilities":{{}},"clientInfo":{{"name":"countersign","version":"{}"}}}}"#,
        LEGACY[0],
        env!("CARGO_PKG_VERSION")
    );
    let bytes = ask(wire, "initialize", params)
        .await
        .map_err(|refusal| match refusal {
            Refusal::Lost => HandshakeError::Lost,
            _ => HandshakeError::Refused,
        })?;
    let result = result(&bytes).ok_or(HandshakeError::Refused)?;
    let version = member(&bytes, result, "protocolVersion")
        .and_then(|version| version.string(&bytes))
        .ok_or(HandshakeError::Refused)?
        .into_owned();
    if !LEGACY.contains(&version.as_str()) {
        return Err(HandshakeError::Version(version));
    }
    wire.tell(&request::notification("notifications/initialized"));
    Ok(Hello::read(&bytes, result, Era::Legacy, version))
}

async fn ask(wire: &Arc<Wire>, method: &str, params: String) -> Result<Bytes, Refusal> {
    let slot = wire.ask(&NoteSink::closed(), |id| {
        Ok(request::line(id, method, params.as_bytes()))
    })?;
    slot.answer().await
}

/// The result object of an answer that has one.
fn result(bytes: &[u8]) -> Option<Span> {
    let envelope: Envelope = scan(bytes, &Hard::default()).ok()?;
    let result = envelope.result()?;
    (result.kind(bytes) == Some(Kind::Object)).then_some(result)
}

impl Hello {
    fn read(bytes: &Bytes, result: Span, era: Era, version: String) -> Self {
        let instructions = member(bytes, result, "instructions")
            .filter(|value| value.kind(bytes) == Some(Kind::String))
            .map(|value| Listing::admit(Bytes::copy_from_slice(value.bytes(bytes))));
        let changes = path(bytes, result, &["capabilities", "tools", "listChanged"]);
        Self {
            era,
            version,
            instructions,
            tells_changes: changes.is_some_and(|value| value.kind(bytes) == Some(Kind::True)),
        }
    }
}
