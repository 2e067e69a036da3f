//! A connection to a server that is a child process: one message a line over its standard streams.

pub(crate) mod handshake;
pub(crate) mod outbox;
pub(crate) mod peer;
pub(crate) mod program;
pub(crate) mod wire;

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::{Era, Listing};
use countersign_wire::{Capabilities, message};

use wire::{Slot, Wire};

use crate::error::Error;
use crate::hello::Hello;
use crate::notes::NoteSink;

/// A connection to a child that has been greeted.
#[derive(Debug)]
pub struct Connection {
    wire: Arc<Wire>,
    pub(crate) era: Era,
    pub(crate) version: String,
    instructions: Option<Listing>,
    pub(crate) abilities: Capabilities,
}

impl Connection {
    pub(crate) fn new(wire: &Arc<Wire>, hello: Hello) -> Self {
        Self {
            wire: Arc::clone(wire),
            era: hello.era,
            version: hello.version,
            instructions: hello.instructions,
            abilities: hello.abilities,
        }
    }

    /// The server's instructions, as a JSON string.
    pub fn instructions(&self) -> Option<&Listing> {
        self.instructions.as_ref()
    }

    /// Sends a request; `params` are written for the id it goes out under.
    pub fn ask(
        &self,
        method: &str,
        params: impl FnOnce(Era, u64) -> Result<Vec<u8>, Error>,
        notes: &NoteSink,
    ) -> Result<StdioRequest, Error> {
        let era = self.era;
        let slot = self
            .wire
            .ask(notes, |id| Ok(message::line(id, method, &params(era, id)?)))?;
        Ok(StdioRequest { slot })
    }

    /// Waits until the server says that its tools have changed.
    pub async fn list_changed(&self) {
        self.wire.list_changed.notified().await;
    }
}

/// A request under way; dropping it cancels it.
#[derive(Debug)]
pub struct StdioRequest {
    slot: Slot,
}

impl StdioRequest {
    pub(crate) fn id(&self) -> u64 {
        self.slot.id()
    }

    /// Waits for the answer.
    pub(crate) async fn answer(self) -> Result<Bytes, Error> {
        self.slot.answer().await
    }
}
