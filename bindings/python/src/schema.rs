//! JSON Schema for untrusted schemas and values.

use countersign_bindings::{CompiledSchema, SchemaOutcome};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::detached;

/// A compiled schema.
#[pyclass(frozen, module = "countersign_mcp._native")]
pub(crate) struct Schema {
    schema: CompiledSchema,
}

#[pymethods]
impl Schema {
    #[staticmethod]
    fn compile(
        py: Python<'_>,
        schema: &[u8],
        dialect: &str,
        assert_formats: bool,
    ) -> PyResult<Self> {
        let compiled = py.detach(|| CompiledSchema::compile(schema, dialect, assert_formats));
        let compiled = compiled
            .map_err(|error| PyValueError::new_err((error.message, error.kind, error.pointer)))?;
        Ok(Self { schema: compiled })
    }

    /// Whether the text conforms; `None` if that cannot be said, for which `validate` has the reason.
    fn is_valid(&self, py: Python<'_>, instance: &[u8]) -> Option<bool> {
        match detached(py, instance.len(), || self.schema.is_valid(instance)) {
            SchemaOutcome::Valid => Some(true),
            SchemaOutcome::Invalid(_) => Some(false),
            SchemaOutcome::Exhausted | SchemaOutcome::NotJson => None,
        }
    }

    /// `valid`, `invalid`, `exhausted` or `not_json`, with the parts of the first violation.
    fn validate(&self, py: Python<'_>, instance: &[u8]) -> (&'static str, Vec<String>) {
        let outcome = detached(py, instance.len(), || self.schema.validate(instance));
        let word = word(&outcome);
        match outcome {
            SchemaOutcome::Invalid(parts) => (word, parts.to_vec()),
            _ => (word, Vec::new()),
        }
    }
}

fn word(outcome: &SchemaOutcome) -> &'static str {
    match outcome {
        SchemaOutcome::Valid => "valid",
        SchemaOutcome::Invalid(_) => "invalid",
        SchemaOutcome::Exhausted => "exhausted",
        SchemaOutcome::NotJson => "not_json",
    }
}
