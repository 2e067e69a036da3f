//! JSON Schema for untrusted schemas and values.

use countersign_bindings::CompiledSchema;
use napi::bindgen_prelude::Result;
use napi_derive::napi;

use crate::error;

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
        let schema = compiled.map_err(|why| error(why.to_json()))?;
        Ok(Self { schema })
    }

    /// 0: valid, 1: invalid, 2: exhausted, 3: not JSON.
    #[napi]
    pub fn is_valid(&self, instance: &[u8]) -> u32 {
        self.schema.is_valid(instance).as_number()
    }

    /// The same of a text.
    #[napi]
    pub fn is_valid_text(&self, instance: String) -> u32 {
        self.schema.is_valid(instance.as_bytes()).as_number()
    }

    /// `valid`, `invalid`, `exhausted` or `not_json`, then the parts of the first violation.
    #[napi]
    pub fn validate(&self, instance: &[u8]) -> Vec<String> {
        self.schema.validate(instance).into_parts()
    }
}
