//! One set of tape buffers per worker thread, so that a busy gateway does not allocate a tape
//! for every result. Only values that were scanned before come here.

use std::cell::RefCell;

use countersign_tape::{Limits, ParseError, Scratch, Tape};

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Parses a value, hands it to `judge`, and keeps the buffers for the next one.
pub(crate) fn with_tape<T>(
    value: &str,
    limits: &Limits,
    judge: impl FnOnce(&Tape<'_>) -> T,
) -> Result<T, ParseError> {
    let mut scratch = SCRATCH.with(RefCell::take);
    let outcome = Tape::parse_str(value, limits, &mut scratch).map(|tape| {
        let verdict = judge(&tape);
        tape.recycle(&mut scratch);
        verdict
    });
    SCRATCH.with(|slot| slot.replace(scratch));
    outcome
}
