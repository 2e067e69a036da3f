//! The WebAssembly module behind `countersign-mcp` in edge runtimes and browsers. It has the classes of the Node addon, and
//! the same JavaScript goes around it.
#![deny(unsafe_code)]
#![expect(
    unreachable_pub,
    reason = "wasm-bindgen exports public items of private modules"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "wasm-bindgen hands arguments over by value"
)]

mod filters;
mod inspector;
mod schema;

// Named so that the host's randomness is linked.
use getrandom as _;
use wasm_bindgen::JsError;

/// A mistake of the caller. Where it has parts, the message is JSON text that the JavaScript takes apart.
fn error(message: impl AsRef<str>) -> JsError {
    JsError::new(message.as_ref())
}
