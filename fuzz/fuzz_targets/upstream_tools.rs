//! Any bytes as what servers say about themselves and their tools when they are greeted: what clients are told of it, by
//! lists and by the tools of the router, keeps the law of what a client may be sent. See `crates/gateway/tests/support/boundary.rs`.

#![no_main]

#[path = "../../crates/gateway/tests/support/boundary.rs"]
#[expect(dead_code, reason = "one of five ways in")]
mod boundary;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(broken) = boundary::upstream_tools(data) {
        panic!("{broken}");
    }
});
