//! A server's stdout: one message a line. Lines stop at `max_message_bytes`; what is longer is refused, and the rest of
//! the line is thrown away.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::Boundary;

use crate::config::OnStoreError;
use crate::delivery::Delivery;
use crate::engine::Engine;
use crate::fidelity::Fidelity;

/// Filters one connection's stdout.
pub struct LineFilter {
    boundary: Arc<Boundary>,
    on_store_error: OnStoreError,
    fidelity: Fidelity,
    /// One byte more than a line may have.
    most: usize,
    line: Vec<u8>,
}

impl LineFilter {
    /// A filter at the beginning of a connection.
    pub(crate) fn new(engine: &Engine, boundary: Arc<Boundary>, fidelity: Fidelity) -> Self {
        Self {
            boundary,
            on_store_error: engine.on_store_error(),
            fidelity,
            most: engine
                .inspector()
                .base_policy()
                .max_message_bytes
                .saturating_add(1),
            line: Vec::new(),
        }
    }

    /// Takes the next bytes, and gives what the client may read.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes.split_at(end);
            self.extend(line);
            deliveries.extend(self.finish_line());
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.extend(bytes);
        deliveries
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = self.most.saturating_sub(self.line.len());
        self.line
            .extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// Judges the line. White space alone is none.
    fn finish_line(&mut self) -> Option<Delivery> {
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        let passed = self.boundary.received(line.into());
        let frame = |message: &Bytes| [message.as_ref(), b"\n"].concat().into();
        Delivery::new(&passed, self.on_store_error, self.fidelity, frame)
    }
}
