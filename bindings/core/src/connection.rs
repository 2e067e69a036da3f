//! The boundary between one server and its clients, with the filters that adapters feed.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::Boundary;

use crate::engine::Engine;
use crate::fidelity::Fidelity;
use crate::http_exchange::HttpExchange;
use crate::lines::LineFilter;

/// Stands between one server and its clients.
pub struct Connection {
    engine: Engine,
    boundary: Arc<Boundary>,
    fidelity: Fidelity,
}

impl Connection {
    /// A boundary that has seen nothing yet.
    pub fn new(engine: &Engine, fidelity: Fidelity) -> Self {
        Self {
            engine: engine.clone(),
            boundary: engine.boundary(),
            fidelity,
        }
    }

    /// A client's message towards a server on stdio.
    pub fn sent(&self, message: &[u8]) -> Bytes {
        self.boundary.sent(Bytes::copy_from_slice(message))
    }

    /// A filter for one connection's stdout.
    pub fn lines(&self) -> LineFilter {
        LineFilter::new(&self.engine, Arc::clone(&self.boundary), self.fidelity)
    }

    /// An HTTP exchange that begins with this request.
    pub fn exchange(&self, request: &[u8]) -> HttpExchange {
        let exchange = self.boundary.exchange(&Bytes::copy_from_slice(request));
        HttpExchange::new(self.engine.clone(), exchange)
    }

    /// An HTTP exchange that listens, or goes on after an event.
    pub fn listen(&self, last_event: Option<&[u8]>) -> HttpExchange {
        HttpExchange::new(self.engine.clone(), self.boundary.listen(last_event))
    }
}
