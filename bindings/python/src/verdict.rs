//! What was decided about one result.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A verdict. It holds the bytes that may be passed on, never those of a blocked result.
#[pyclass(frozen, module = "countersign_mcp._native")]
pub(crate) struct Verdict {
    pub(crate) verdict: countersign_bindings::Verdict,
}

#[pymethods]
impl Verdict {
    #[getter]
    fn decision(&self) -> &'static str {
        self.verdict.decision()
    }

    #[getter]
    fn reason(&self) -> Option<&str> {
        self.verdict.reason()
    }

    #[getter]
    fn mode(&self) -> &'static str {
        self.verdict.mode()
    }

    #[getter]
    fn tool(&self) -> String {
        self.verdict.tool()
    }

    #[getter]
    fn fidelity(&self) -> &'static str {
        self.verdict.fidelity()
    }

    #[getter]
    fn is_changed(&self) -> bool {
        self.verdict.is_changed()
    }

    /// The findings as JSON text.
    fn findings_json(&self) -> String {
        self.verdict.findings_json()
    }

    /// The bytes that may be passed on, in the form they came: a response or a bare result.
    fn emitted<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.verdict.emitted())
    }

    /// The structured content as JSON text; `None` if there is none or the result was blocked.
    fn structured_text(&self) -> Option<&str> {
        self.verdict.structured_text()
    }
}
