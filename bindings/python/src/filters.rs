//! The boundary and its filters, which adapters feed with the bytes of a connection.

use std::sync::{Mutex, PoisonError};

use countersign_bindings::{Connection, Delivery, Fidelity, HttpExchange};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::detached;
use crate::inspector::Inspector;

/// Bytes, the records to be handed over before they go on, and what takes their place if that fails.
type Piece<'py> = (
    Bound<'py, PyBytes>,
    Vec<String>,
    Option<Bound<'py, PyBytes>>,
);

fn piece(py: Python<'_>, delivery: Delivery) -> Piece<'_> {
    let refusal = delivery.refusal.map(|bytes| PyBytes::new(py, &bytes));
    (PyBytes::new(py, &delivery.bytes), delivery.records, refusal)
}

fn pieces(py: Python<'_>, deliveries: Vec<Delivery>) -> Vec<Piece<'_>> {
    let pieces = deliveries.into_iter().map(|delivery| piece(py, delivery));
    pieces.collect()
}

/// Stands between one server and its clients.
#[pyclass(frozen, module = "countersign_mcp._native")]
pub(crate) struct Boundary {
    connection: Connection,
}

#[pymethods]
impl Boundary {
    #[new]
    #[pyo3(signature = (inspector, is_value=false))]
    fn new(inspector: &Inspector, is_value: bool) -> Self {
        Self {
            connection: Connection::new(&inspector.engine, Fidelity::new(is_value)),
        }
    }

    /// A client's message towards a server on stdio.
    fn sent<'py>(&self, py: Python<'py>, message: &[u8]) -> Bound<'py, PyBytes> {
        let sent = detached(py, message.len(), || self.connection.sent(message));
        PyBytes::new(py, &sent)
    }

    /// A filter for one connection's stdout.
    fn lines(&self) -> LineFilter {
        LineFilter {
            filter: Mutex::new(self.connection.lines()),
        }
    }

    /// An HTTP exchange: its request's body, or `None` if it listens.
    #[pyo3(signature = (request, last_event=None))]
    fn exchange(&self, request: Option<&[u8]>, last_event: Option<&[u8]>) -> BodyFilter {
        let exchange = match request {
            Some(request) => self.connection.exchange(request),
            None => self.connection.listen(last_event),
        };
        BodyFilter {
            exchange: Mutex::new(exchange),
        }
    }
}

/// Filters the stdout of one connection.
#[pyclass(frozen, module = "countersign_mcp._native")]
pub(crate) struct LineFilter {
    filter: Mutex<countersign_bindings::LineFilter>,
}

#[pymethods]
impl LineFilter {
    fn feed<'py>(&self, py: Python<'py>, bytes: &[u8]) -> Vec<Piece<'py>> {
        let deliveries = detached(py, bytes.len(), || {
            let mut filter = self.filter.lock().unwrap_or_else(PoisonError::into_inner);
            filter.feed(bytes)
        });
        pieces(py, deliveries)
    }
}

/// Filters the body of one HTTP response.
#[pyclass(frozen, module = "countersign_mcp._native")]
pub(crate) struct BodyFilter {
    exchange: Mutex<HttpExchange>,
}

#[pymethods]
impl BodyFilter {
    /// The response has begun.
    fn open(&self, status: u16, content_type: &str) {
        self.with(|exchange| exchange.open(status, content_type));
    }

    fn feed<'py>(&self, py: Python<'py>, bytes: &[u8]) -> Vec<Piece<'py>> {
        let feed = || self.with(|exchange| exchange.feed(bytes));
        pieces(py, detached(py, bytes.len(), feed))
    }

    fn finish<'py>(&self, py: Python<'py>) -> Option<Piece<'py>> {
        let finish = || self.with(HttpExchange::finish);
        let delivery = detached(py, crate::DETACH_FROM, finish);
        delivery.map(|delivery| piece(py, delivery))
    }
}

impl BodyFilter {
    fn with<T>(&self, work: impl FnOnce(&mut HttpExchange) -> T) -> T {
        let mut exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut exchange)
    }
}
