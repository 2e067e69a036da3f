//! The `OpenAPI` document: what the interface promises, as a file that is served as it is. Tests hold
//! it against the routes, against the closed sets, and against what the handlers really answer.

use bytes::Bytes;

pub(super) fn document() -> Bytes {
    Bytes::from_static(include_bytes!("openapi.json"))
}

#[cfg(test)]
mod tests;
