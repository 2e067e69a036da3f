//! JSON Schema for untrusted schemas and values.

use countersign_bindings::CompiledSchema;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error;

/// A compiled schema.
#[wasm_bindgen]
pub struct NativeSchema {
    schema: CompiledSchema,
}

#[wasm_bindgen]
impl NativeSchema {
    /// Compiles JSON text.
    pub fn compile(schema: &[u8], dialect: &str, assert_formats: bool) -> Result<Self, JsError> {
        let compiled = CompiledSchema::compile(schema, dialect, assert_formats);
        let schema = compiled.map_err(|why| error(why.to_json()))?;
        Ok(Self { schema })
    }

    /// 0: valid, 1: invalid, 2: exhausted, 3: not JSON.
    #[wasm_bindgen(js_name = isValid)]
    pub fn is_valid(&self, instance: &[u8]) -> u32 {
        self.schema.is_valid(instance).as_number()
    }

    /// The same of a text.
    #[wasm_bindgen(js_name = isValidText)]
    pub fn is_valid_text(&self, instance: &str) -> u32 {
        self.is_valid(instance.as_bytes())
    }

    /// `valid`, `invalid`, `exhausted` or `not_json`, then the parts of the first violation.
    pub fn validate(&self, instance: &[u8]) -> Vec<String> {
        self.schema.validate(instance).into_parts()
    }
}
