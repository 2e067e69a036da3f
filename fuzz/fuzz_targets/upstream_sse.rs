//! Any bytes as the event stream a server answers a call with: whatever of it reaches the client keeps the law of what a
//! client may be sent. See `crates/gateway/tests/support/boundary.rs`.

#![no_main]

#[path = "../../crates/gateway/tests/support/boundary.rs"]
#[expect(dead_code, reason = "one of five ways in")]
mod boundary;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(broken) = boundary::upstream_sse(data) {
        panic!("{broken}");
    }
});
