//! The boundary and its filters, which adapters feed with the bytes of a connection.

use countersign_bindings::{Connection, Delivery, Fidelity, HttpExchange, LineFilter};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::inspector::NativeInspector;

/// Bytes, the records to be handed over before they go on, and what takes their place if that fails.
#[napi(object)]
pub struct NativePiece {
    /// The bytes.
    pub bytes: Buffer,
    /// Records as JSON objects.
    pub records: Vec<String>,
    /// What takes the place of the bytes.
    pub refusal: Option<Buffer>,
}

impl From<Delivery> for NativePiece {
    fn from(delivery: Delivery) -> Self {
        Self {
            bytes: delivery.bytes.to_vec().into(),
            records: delivery.records,
            refusal: delivery.refusal.map(|bytes| bytes.to_vec().into()),
        }
    }
}

/// Stands between one server and its clients.
#[napi]
pub struct NativeBoundary {
    connection: Connection,
}

#[napi]
impl NativeBoundary {
    /// A boundary that has seen nothing yet.
    #[napi(constructor)]
    pub fn new(inspector: &NativeInspector, is_value: bool) -> Self {
        Self {
            connection: Connection::new(&inspector.engine, Fidelity::new(is_value)),
        }
    }

    /// A client's message towards a server on stdio.
    #[napi]
    pub fn sent(&self, message: &[u8]) -> Buffer {
        self.connection.sent(message).to_vec().into()
    }

    /// A filter for one connection's stdout.
    #[napi]
    pub fn lines(&self) -> NativeLineFilter {
        let filter = self.connection.lines();
        NativeLineFilter { filter }
    }

    /// An HTTP exchange that begins with this request.
    #[napi]
    pub fn exchange(&self, request: &[u8]) -> NativeExchange {
        let exchange = self.connection.exchange(request);
        NativeExchange { exchange }
    }

    /// An HTTP exchange that listens, or goes on after an event.
    #[napi]
    pub fn listen(&self, last_event: Option<String>) -> NativeExchange {
        let exchange = self
            .connection
            .listen(last_event.as_deref().map(str::as_bytes));
        NativeExchange { exchange }
    }
}

/// Filters the stdout of one connection.
#[napi]
pub struct NativeLineFilter {
    filter: LineFilter,
}

#[napi]
impl NativeLineFilter {
    /// Takes the next bytes.
    #[napi]
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<NativePiece> {
        self.filter
            .feed(bytes)
            .into_iter()
            .map(Into::into)
            .collect()
    }
}

/// Filters the body of one HTTP response.
#[napi]
pub struct NativeExchange {
    exchange: HttpExchange,
}

#[napi]
impl NativeExchange {
    /// The response has begun.
    #[napi]
    pub fn open(&mut self, status: u16, content_type: String) {
        self.exchange.open(status, &content_type);
    }

    /// Takes the next bytes.
    #[napi]
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<NativePiece> {
        self.exchange
            .feed(bytes)
            .into_iter()
            .map(Into::into)
            .collect()
    }

    /// The body is over.
    #[napi]
    pub fn finish(&mut self) -> Option<NativePiece> {
        self.exchange.finish().map(Into::into)
    }
}
