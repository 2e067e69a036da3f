//! Any bytes as the body of a POST to the endpoint of the protocol: whatever the gateway answers keeps the law of what a
//! client may be sent. See `crates/gateway/tests/support/boundary.rs`.

#![no_main]

#[path = "../../crates/gateway/tests/support/boundary.rs"]
#[expect(dead_code, reason = "one of five ways in")]
mod boundary;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(broken) = boundary::client_body(data) {
        panic!("{broken}");
    }
});
