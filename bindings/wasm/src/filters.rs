//! The boundary and its filters, which adapters feed with the bytes of a connection.

use countersign_bindings::{Connection, Delivery, Fidelity, HttpExchange, LineFilter};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::inspector::NativeInspector;

/// Bytes, the records to be handed over before they go on, and what takes their place if that fails.
#[wasm_bindgen(getter_with_clone)]
pub struct NativePiece {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Records as JSON objects.
    pub records: Vec<String>,
    /// What takes the place of the bytes.
    pub refusal: Option<Vec<u8>>,
}

impl From<Delivery> for NativePiece {
    fn from(delivery: Delivery) -> Self {
        Self {
            bytes: delivery.bytes.to_vec(),
            records: delivery.records,
            refusal: delivery.refusal.map(|bytes| bytes.to_vec()),
        }
    }
}

/// Stands between one server and its clients.
#[wasm_bindgen]
pub struct NativeBoundary {
    connection: Connection,
}

#[wasm_bindgen]
impl NativeBoundary {
    /// A boundary that has seen nothing yet.
    #[wasm_bindgen(constructor)]
    pub fn new(inspector: &NativeInspector, is_value: bool) -> Self {
        Self {
            connection: Connection::new(&inspector.engine, Fidelity::new(is_value)),
        }
    }

    /// A client's message towards a server on stdio.
    pub fn sent(&self, message: &[u8]) -> Vec<u8> {
        self.connection.sent(message).to_vec()
    }

    /// A filter for one connection's lines.
    pub fn lines(&self) -> NativeLineFilter {
        let filter = self.connection.lines();
        NativeLineFilter { filter }
    }

    /// An HTTP exchange that begins with this request.
    pub fn exchange(&self, request: &[u8]) -> NativeExchange {
        let exchange = self.connection.exchange(request);
        NativeExchange { exchange }
    }

    /// An HTTP exchange that listens, or goes on after an event.
    pub fn listen(&self, last_event: Option<String>) -> NativeExchange {
        let exchange = self
            .connection
            .listen(last_event.as_deref().map(str::as_bytes));
        NativeExchange { exchange }
    }
}

/// Filters the lines of one connection.
#[wasm_bindgen]
pub struct NativeLineFilter {
    filter: LineFilter,
}

#[wasm_bindgen]
impl NativeLineFilter {
    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<NativePiece> {
        self.filter
            .feed(bytes)
            .into_iter()
            .map(Into::into)
            .collect()
    }
}

/// Filters the body of one HTTP response.
#[wasm_bindgen]
pub struct NativeExchange {
    exchange: HttpExchange,
}

#[wasm_bindgen]
impl NativeExchange {
    /// The response has begun.
    pub fn open(&mut self, status: u16, content_type: &str) {
        self.exchange.open(status, content_type);
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<NativePiece> {
        self.exchange
            .feed(bytes)
            .into_iter()
            .map(Into::into)
            .collect()
    }

    /// The body is over.
    pub fn finish(&mut self) -> Option<NativePiece> {
        self.exchange.finish().map(Into::into)
    }
}
