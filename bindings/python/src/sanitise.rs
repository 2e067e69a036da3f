//! Cleaning one text.

use countersign_bindings::clean_text;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::detached;

/// Cleans a text: the clean text, the findings as JSON text, and whether it must not be passed on.
#[pyfunction]
#[pyo3(signature = (text, settings="{}"))]
pub(crate) fn sanitise(
    py: Python<'_>,
    text: &str,
    settings: &str,
) -> PyResult<(String, String, bool)> {
    let cleaned = detached(py, text.len(), || clean_text(text, settings));
    cleaned.map_err(|error| PyValueError::new_err((error.message, error.key, error.allowed)))
}
