//! The boundary and its filters, which adapters feed with the bytes of a connection.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use countersign_bindings::{BodyFormat, Delivery, Engine, Exchange, Fidelity};
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

/// Stands between one server and its clients.
#[pyclass(frozen, module = "countersign_mcp._native")]
pub(crate) struct Boundary {
    engine: Engine,
    inner: Arc<countersign_bindings::Boundary>,
    fidelity: Fidelity,
}

#[pymethods]
impl Boundary {
    #[new]
    #[pyo3(signature = (inspector, is_value=false))]
    fn new(inspector: &Inspector, is_value: bool) -> Self {
        Self {
            engine: inspector.engine.clone(),
            inner: inspector.engine.boundary(),
            fidelity: if is_value {
                Fidelity::Value
            } else {
                Fidelity::Bytes
            },
        }
    }

    /// A client's message towards a server on stdio.
    fn sent<'py>(&self, py: Python<'py>, message: &[u8]) -> Bound<'py, PyBytes> {
        let message = Bytes::copy_from_slice(message);
        let sent = detached(py, message.len(), || self.inner.sent(message));
        PyBytes::new(py, &sent)
    }

    /// A filter for one connection's stdout.
    fn lines(&self) -> LineFilter {
        let boundary = Arc::clone(&self.inner);
        let filter = countersign_bindings::LineFilter::new(&self.engine, boundary, self.fidelity);
        LineFilter {
            filter: Mutex::new(filter),
        }
    }

    /// An HTTP exchange: its request's body, or `None` if it listens.
    #[pyo3(signature = (request, last_event=None))]
    fn exchange(&self, request: Option<&[u8]>, last_event: Option<&[u8]>) -> BodyFilter {
        let exchange = match request {
            Some(request) => self.inner.exchange(&Bytes::copy_from_slice(request)),
            None => self.inner.listen(last_event),
        };
        BodyFilter {
            engine: self.engine.clone(),
            state: Mutex::new(State::Waiting(Some(exchange))),
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
        let owned = bytes.to_vec();
        let deliveries = detached(py, owned.len(), || {
            let mut filter = self.filter.lock().unwrap_or_else(PoisonError::into_inner);
            filter.feed(&owned)
        });
        deliveries
            .into_iter()
            .map(|delivery| piece(py, delivery))
            .collect()
    }
}

enum State {
    Waiting(Option<Exchange>),
    Open(countersign_bindings::BodyFilter),
}

/// Filters the body of one HTTP response.
#[pyclass(frozen, module = "countersign_mcp._native")]
pub(crate) struct BodyFilter {
    engine: Engine,
    state: Mutex<State>,
}

#[pymethods]
impl BodyFilter {
    /// The response has begun.
    fn open(&self, status: u16, content_type: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Waiting(exchange) = &mut *state
            && let Some(exchange) = exchange.take()
        {
            let format = BodyFormat::new(status, content_type);
            let filter = countersign_bindings::BodyFilter::new(&self.engine, exchange, format);
            *state = State::Open(filter);
        }
    }

    fn feed<'py>(&self, py: Python<'py>, bytes: &[u8]) -> Vec<Piece<'py>> {
        let owned = bytes.to_vec();
        let deliveries = detached(py, owned.len(), || match self.filter() {
            Some(filter) => filter.with(|filter| filter.feed(&owned)),
            None => Vec::new(),
        });
        deliveries
            .into_iter()
            .map(|delivery| piece(py, delivery))
            .collect()
    }

    fn finish<'py>(&self, py: Python<'py>) -> Option<Piece<'py>> {
        let delivery = detached(py, crate::DETACH_FROM, || match self.filter() {
            Some(filter) => filter.with(countersign_bindings::BodyFilter::finish),
            None => None,
        });
        delivery.map(|delivery| piece(py, delivery))
    }
}

struct Opened<'a>(std::sync::MutexGuard<'a, State>);

impl Opened<'_> {
    fn with<T: Default>(
        mut self,
        work: impl FnOnce(&mut countersign_bindings::BodyFilter) -> T,
    ) -> T {
        match &mut *self.0 {
            State::Open(filter) => work(filter),
            State::Waiting(_) => T::default(),
        }
    }
}

impl BodyFilter {
    fn filter(&self) -> Option<Opened<'_>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(*state, State::Open(_)).then_some(Opened(state))
    }
}
