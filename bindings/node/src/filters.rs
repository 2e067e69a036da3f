//! The boundary and its filters, which adapters feed with the bytes of a connection.

use std::sync::Arc;

use bytes::Bytes;
use countersign_bindings::{
    BodyFilter, BodyFormat, Boundary, Delivery, Engine, Exchange, Fidelity, LineFilter,
};
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
    engine: Engine,
    boundary: Arc<Boundary>,
    fidelity: Fidelity,
}

#[napi]
impl NativeBoundary {
    /// A boundary that has seen nothing yet.
    #[napi(constructor)]
    pub fn new(inspector: &NativeInspector, is_value: bool) -> Self {
        Self {
            engine: inspector.engine.clone(),
            boundary: inspector.engine.boundary(),
            fidelity: if is_value {
                Fidelity::Value
            } else {
                Fidelity::Bytes
            },
        }
    }

    /// A client's message towards a server on stdio.
    #[napi]
    pub fn sent(&self, message: &[u8]) -> Buffer {
        let sent = self.boundary.sent(Bytes::copy_from_slice(message));
        sent.to_vec().into()
    }

    /// A filter for one connection's stdout.
    #[napi]
    pub fn lines(&self) -> NativeLineFilter {
        let boundary = Arc::clone(&self.boundary);
        NativeLineFilter {
            filter: LineFilter::new(&self.engine, boundary, self.fidelity),
        }
    }

    /// An HTTP exchange that begins with this request.
    #[napi]
    pub fn exchange(&self, request: &[u8]) -> NativeExchange {
        let exchange = self.boundary.exchange(&Bytes::copy_from_slice(request));
        self.opened(exchange)
    }

    /// An HTTP exchange that listens, or goes on after an event.
    #[napi]
    pub fn listen(&self, last_event: Option<String>) -> NativeExchange {
        let exchange = self
            .boundary
            .listen(last_event.as_deref().map(str::as_bytes));
        self.opened(exchange)
    }

    fn opened(&self, exchange: Exchange) -> NativeExchange {
        NativeExchange {
            engine: self.engine.clone(),
            exchange: Some(exchange),
            filter: None,
        }
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
            .map(NativePiece::from)
            .collect()
    }
}

/// Filters the body of one HTTP response.
#[napi]
pub struct NativeExchange {
    engine: Engine,
    exchange: Option<Exchange>,
    filter: Option<BodyFilter>,
}

#[napi]
impl NativeExchange {
    /// The response has begun.
    #[napi]
    pub fn open(&mut self, status: u16, content_type: String) {
        if let Some(exchange) = self.exchange.take() {
            let format = BodyFormat::new(status, &content_type);
            self.filter = Some(BodyFilter::new(&self.engine, exchange, format));
        }
    }

    /// Takes the next bytes.
    #[napi]
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<NativePiece> {
        let Some(filter) = &mut self.filter else {
            return Vec::new();
        };
        filter
            .feed(bytes)
            .into_iter()
            .map(NativePiece::from)
            .collect()
    }

    /// The body is over.
    #[napi]
    pub fn finish(&mut self) -> Option<NativePiece> {
        self.filter.as_mut()?.finish().map(NativePiece::from)
    }
}
