//! An inspector of one server's results.

use bytes::Bytes;
use countersign_bindings::{Engine, Reading};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::detached;
use crate::text::with_text;
use crate::verdict::Verdict;

/// A declared tool.
#[pyclass(frozen, module = "countersign_mcp._native")]
pub(crate) struct Tool {
    tool: countersign_bindings::Tool,
}

#[pymethods]
impl Tool {
    #[getter]
    fn name(&self) -> &str {
        self.tool.name()
    }

    /// Why a declared schema cannot be enforced, in words for the operator.
    #[getter]
    fn diagnostics(&self) -> Vec<String> {
        self.tool.diagnostics()
    }
}

/// Contracts of one server's tools, and the settings they are held to.
#[pyclass(frozen, module = "countersign_mcp._native")]
pub(crate) struct Inspector {
    pub(crate) engine: Engine,
}

#[pymethods]
impl Inspector {
    #[new]
    #[pyo3(signature = (settings, server=None))]
    fn new(settings: &str, server: Option<&str>) -> PyResult<Self> {
        let engine = Engine::new(settings, server)
            .map_err(|error| PyValueError::new_err((error.message, error.key, error.allowed)))?;
        Ok(Self { engine })
    }

    fn declare(&self, tool: &Bound<'_, PyAny>) -> PyResult<Tool> {
        let captured = with_text(tool, |text, _| {
            detached(tool.py(), text.len(), || self.engine.declare(text))
        })?;
        let tool = captured.map_err(PyValueError::new_err)?;
        Ok(Tool { tool })
    }

    fn tool(&self, name: &str) -> Tool {
        Tool {
            tool: self.engine.tool(name),
        }
    }

    #[pyo3(signature = (tool, reply, is_legacy_server=false, is_legacy_client=None, id=None))]
    fn result(
        &self,
        tool: &Tool,
        reply: &Bound<'_, PyAny>,
        is_legacy_server: bool,
        is_legacy_client: Option<bool>,
        id: Option<&[u8]>,
    ) -> PyResult<Verdict> {
        let verdict = with_text(reply, |text, fidelity| {
            let reading = Reading {
                is_legacy_server,
                client: is_legacy_client,
                id: id.map(Bytes::copy_from_slice),
                fidelity,
            };
            // The bytes belong to Python, and the verdict outlives them: they are copied once.
            let text = Bytes::copy_from_slice(text);
            detached(reply.py(), text.len(), || {
                self.engine.result(&tool.tool, text, reading)
            })
        })?;
        Ok(Verdict { verdict })
    }

    /// The records of a verdict, as JSON objects.
    fn records(&self, verdict: &Verdict) -> Vec<String> {
        self.engine.records(&verdict.verdict)
    }

    /// Whether a result whose record could not be handed over is refused.
    fn refuses_unrecorded(&self, verdict: &Verdict) -> bool {
        self.engine.refuses_unrecorded(&verdict.verdict)
    }

    /// The error result that takes the place of one whose record could not be handed over.
    fn unrecorded<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.engine.unrecorded())
    }

    /// Judges arguments: decision, reason, findings as JSON text.
    fn arguments(
        &self,
        py: Python<'_>,
        tool: &Tool,
        arguments: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(&'static str, Option<String>, String)> {
        let judge = |text: Option<&[u8]>| {
            let length = text.map_or(0, <[u8]>::len);
            detached(py, length, || self.engine.arguments(&tool.tool, text))
        };
        let verdict = match arguments {
            Some(arguments) => with_text(arguments, |text, _| judge(Some(text)))?,
            None => judge(None),
        };
        Ok((verdict.decision, verdict.reason, verdict.findings_json))
    }

    #[getter]
    fn is_input_strict(&self) -> bool {
        self.engine.is_input_strict()
    }
}
