//! JSON Schema for untrusted schemas and values. The class is the public one: a call of a small validation costs little
//! more than the validation, so no Python stands between.

use countersign_bindings::{CompiledSchema, SchemaOutcome};
use pyo3::prelude::*;

use crate::detached;
use crate::text::with_text;

/// A compiled schema: immutable, safe to share between threads. Make one with `Schema.compile`.
#[pyclass(frozen, module = "countersign_mcp")]
pub(crate) struct Schema {
    schema: CompiledSchema,
}

#[pymethods]
impl Schema {
    /// Compiles a schema, JSON text or a value. Raises `Unenforceable` if it cannot be enforced as written.
    #[staticmethod]
    #[pyo3(signature = (schema, *, dialect="2020-12", assert_formats=false))]
    fn compile(schema: &Bound<'_, PyAny>, dialect: &str, assert_formats: bool) -> PyResult<Self> {
        let py = schema.py();
        let compiled = with_text(schema, |text, _| {
            py.detach(|| CompiledSchema::compile(text, dialect, assert_formats))
        })?;
        match compiled {
            Ok(schema) => Ok(Self { schema }),
            Err(why) => Err(error(
                py,
                "Unenforceable",
                (why.message, why.kind, why.pointer),
            )),
        }
    }

    /// Whether `data` conforms; `bytes` and `str` are JSON text, anything else is a value.
    fn is_valid(&self, data: &Bound<'_, PyAny>) -> PyResult<bool> {
        let outcome = self.judge(data, CompiledSchema::is_valid)?;
        match outcome {
            SchemaOutcome::Valid => Ok(true),
            SchemaOutcome::Invalid(_) => Ok(false),
            SchemaOutcome::Exhausted => Err(error(data.py(), "Exhausted", ())),
            SchemaOutcome::NotJson => Err(error(data.py(), "NotJson", ())),
        }
    }

    /// Raises `Violation` if `data` does not conform.
    fn validate(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let outcome = self.judge(data, CompiledSchema::validate)?;
        match outcome {
            SchemaOutcome::Valid => Ok(()),
            SchemaOutcome::Invalid(parts) => {
                let [keyword, instance, schema, expected, actual] = *parts;
                let parts = (keyword, instance, schema, expected, actual);
                Err(error(data.py(), "Violation", parts))
            }
            SchemaOutcome::Exhausted => Err(error(data.py(), "Exhausted", ())),
            SchemaOutcome::NotJson => Err(error(data.py(), "NotJson", ())),
        }
    }
}

impl Schema {
    fn judge(
        &self,
        data: &Bound<'_, PyAny>,
        judge: impl Fn(&CompiledSchema, &[u8]) -> SchemaOutcome + Send + Sync,
    ) -> PyResult<SchemaOutcome> {
        let py = data.py();
        with_text(data, |text, _| {
            detached(py, text.len(), || judge(&self.schema, text))
        })
    }
}

/// An exception of the package, which is written in Python.
fn error<'py>(py: Python<'py>, name: &str, parts: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let made = py
        .import("countersign_mcp._errors")
        .and_then(|errors| errors.getattr(name)?.call1(parts));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(failure) => failure,
    }
}
