//! The addon behind `countersign-mcp`. The JavaScript around it is the interface; see `index.d.ts`.
#![deny(unsafe_code)]
#![expect(
    unreachable_pub,
    reason = "napi exports public items of private modules"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "napi hands arguments over by value"
)]

mod filters;
mod inspector;
mod schema;

use countersign_bindings::ConfigError;
use napi::bindgen_prelude::{Error, Status};

/// A mistake in the settings: its parts as JSON text, which the JavaScript takes apart.
fn config_error(error: ConfigError) -> Error {
    let parts = serde_json::json!({
        "message": error.message, "key": error.key, "allowed": error.allowed,
    });
    Error::new(Status::InvalidArg, parts.to_string())
}
