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

use napi::bindgen_prelude::{Error, Status};

/// A mistake of the caller. Where it has parts, the message is JSON text that the JavaScript takes apart.
fn error(message: String) -> Error {
    Error::new(Status::InvalidArg, message)
}
