//! What was decided about one result.

use std::sync::Arc;

use countersign_bindings::{Contract, Fidelity, Inspected};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A verdict. It holds the bytes that may be passed on, never those of a blocked result.
#[pyclass(frozen, module = "countersign_mcp._native")]
pub(crate) struct Verdict {
    pub(crate) inspected: Inspected,
    pub(crate) contract: Arc<Contract>,
    pub(crate) fidelity: Fidelity,
}

#[pymethods]
impl Verdict {
    #[getter]
    fn decision(&self) -> &'static str {
        self.inspected.decision().as_str()
    }

    #[getter]
    fn reason(&self) -> Option<&str> {
        self.inspected.reason()
    }

    #[getter]
    fn mode(&self) -> &'static str {
        self.inspected.mode().as_str()
    }

    #[getter]
    fn tool(&self) -> String {
        self.contract.tool().to_string()
    }

    #[getter]
    fn fidelity(&self) -> &'static str {
        self.fidelity.as_str()
    }

    #[getter]
    fn is_changed(&self) -> bool {
        self.inspected.is_changed()
    }

    /// The findings as JSON text.
    fn findings_json(&self) -> String {
        serde_json::to_string(self.inspected.findings()).unwrap_or_else(|_| "[]".to_owned())
    }

    /// The bytes that may be passed on, in the form they came: a response or a bare result.
    fn emitted<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inspected.emitted().into_bytes())
    }

    /// The structured content as JSON text; `None` if there is none or the result was blocked.
    fn structured_text(&self) -> Option<&str> {
        self.inspected.structured_text()
    }
}
