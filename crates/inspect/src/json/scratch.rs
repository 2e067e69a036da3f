//! One set of tape buffers per worker thread, so that a busy gateway does not allocate a tape
//! for every result.

use std::cell::{Cell, RefCell};

use countersign_tape::{Limits, ParseError, PartBuffers, Scratch, Tape};

thread_local! {
    static PART_BUFFERS: Cell<Option<Box<PartBuffers>>> = const { Cell::new(None) };
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Lends this thread's buffers for the tapes that a scan makes.
pub(crate) fn with_part_buffers<T>(work: impl FnOnce(&mut PartBuffers) -> T) -> T {
    let mut buffers = PART_BUFFERS.take().unwrap_or_default();
    let done = work(&mut buffers);
    PART_BUFFERS.set(Some(buffers));
    done
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
