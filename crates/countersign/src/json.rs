//! Members of the JSON that a gateway answers with. What is missing, or of another type, counts as empty.

use serde_json::Value;

/// A string.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The elements of an array.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A string without its quotes, or any other value as JSON.
pub(crate) fn unquoted(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
