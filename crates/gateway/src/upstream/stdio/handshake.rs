//! The first words with a child: which era it speaks, and what it says about itself. A modern
//! request goes first; whoever does not understand it, or does not answer, is greeted the legacy way.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_inspect::{Era, Refusal};
use tokio::time::timeout;

use super::wire::Wire;
use crate::upstream::NoteSink;
use crate::upstream::hello::{HandshakeError, Hello, initialize_params};
use crate::upstream::request;

/// A legacy server may keep silent about a method it does not know.
const PROBE: Duration = Duration::from_secs(3);

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
    match timeout(PROBE, asked).await {
        Err(_) => Ok(None),
        Ok(Err(Refusal::Lost)) => Err(HandshakeError::Lost),
        Ok(answer) => Ok(answer.ok().as_ref().and_then(Hello::discovered)),
    }
}

async fn initialize(wire: &Arc<Wire>) -> Result<Hello, HandshakeError> {
    let bytes =
        ask(wire, "initialize", initialize_params())
            .await
            .map_err(|refusal| match refusal {
                Refusal::Lost => HandshakeError::Lost,
                _ => HandshakeError::Refused,
            })?;
    let hello = Hello::initialized(&bytes)?;
    wire.tell(&request::notification("notifications/initialized"));
    Ok(hello)
}

async fn ask(wire: &Arc<Wire>, method: &str, params: String) -> Result<Bytes, Refusal> {
    let slot = wire.ask(&NoteSink::closed(), |id| {
        Ok(request::line(id, method, params.as_bytes()))
    })?;
    slot.answer().await
}
