//! One HTTP exchange: its request is known before its response begins.

use countersign_inspect::Exchange;

use crate::body::{BodyFilter, BodyFormat};
use crate::delivery::Delivery;
use crate::engine::Engine;

/// Filters the body of one response, once it has begun.
pub struct HttpExchange {
    engine: Engine,
    state: State,
}

enum State {
    Waiting(Option<Exchange>),
    Open(BodyFilter),
}

impl HttpExchange {
    pub(crate) fn new(engine: Engine, exchange: Exchange) -> Self {
        let state = State::Waiting(Some(exchange));
        Self { engine, state }
    }

    /// The response has begun.
    pub fn open(&mut self, status: u16, content_type: &str) {
        if let State::Waiting(exchange) = &mut self.state
            && let Some(exchange) = exchange.take()
        {
            let format = BodyFormat::new(status, content_type);
            self.state = State::Open(BodyFilter::new(&self.engine, exchange, format));
        }
    }

    /// Takes the next bytes, and gives what the client may read.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Delivery> {
        match &mut self.state {
            State::Open(filter) => filter.feed(bytes),
            State::Waiting(_) => Vec::new(),
        }
    }

    /// The body is over.
    pub fn finish(&mut self) -> Option<Delivery> {
        match &mut self.state {
            State::Open(filter) => filter.finish(),
            State::Waiting(_) => None,
        }
    }
}
