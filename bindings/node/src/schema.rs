//! JSON Schema for untrusted schemas and values.

use countersign_bindings::{CompiledSchema, SchemaOutcome};
use napi::bindgen_prelude::{Error, Result, Status};
use napi_derive::napi;

/// A compiled schema.
#[napi]
pub struct NativeSchema {
    schema: CompiledSchema,
}

#[napi]
impl NativeSchema {
    /// Compiles JSON text.
    #[napi(factory)]
    pub fn compile(schema: &[u8], dialect: String, assert_formats: bool) -> Result<Self> {
        let compiled = CompiledSchema::compile(schema, &dialect, assert_formats);
        let schema = compiled.map_err(|error| {
            let parts = serde_json::json!({
                "message": error.message, "kind": error.kind, "pointer": error.pointer,
            });
            Error::new(Status::InvalidArg, parts.to_string())
        })?;
        Ok(Self { schema })
    }

    /// `valid`, `invalid`, `exhausted` or `not_json`.
    #[napi]
    pub fn is_valid(&self, instance: &[u8]) -> String {
        word(&self.schema.is_valid(instance)).to_owned()
    }

    /// The same of a text.
    #[napi]
    pub fn is_valid_text(&self, instance: String) -> String {
        word(&self.schema.is_valid(instance.as_bytes())).to_owned()
    }

    /// The same word, then the parts of the first violation.
    #[napi]
    pub fn validate(&self, instance: &[u8]) -> Vec<String> {
        let outcome = self.schema.validate(instance);
        let mut parts = vec![word(&outcome).to_owned()];
        if let SchemaOutcome::Invalid(violation) = outcome {
            parts.extend(*violation);
        }
        parts
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
