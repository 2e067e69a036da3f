//! Arbitrary bytes as a tool, a schema and a reply, separated by lines `---`; the first byte chooses mode, eras and
//! postures.

#![no_main]

#[path = "../../crates/inspect/tests/support/answered.rs"]
mod answered;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, mut rest)) = data.split_first() else {
        return;
    };
    let mut part = || {
        let marker = b"\n---\n";
        let at = rest.windows(marker.len()).position(|window| window == marker);
        let (part, next) = match at {
            Some(at) => (&rest[..at], &rest[at + marker.len()..]),
            None => (rest, &[][..]),
        };
        rest = next;
        part
    };
    answered::is_answered(choice, part(), part(), part());
});
