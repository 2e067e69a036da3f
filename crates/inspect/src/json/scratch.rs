//! One set of tape buffers per worker thread, so that a busy gateway does not allocate a tape
//! for every result.

use std::cell::{Cell, RefCell};

use countersign_tape::{Limits, ParseError, Scratch, Shelf, Tape};

thread_local! {
    static SHELF: Cell<Option<Box<Shelf>>> = const { Cell::new(None) };
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Lends this thread's buffers for what a scan lays out.
pub(crate) fn with_shelf<T>(work: impl FnOnce(&mut Shelf) -> T) -> T {
    let mut shelf = SHELF.take().unwrap_or_default();
    let done = work(&mut shelf);
    SHELF.set(Some(shelf));
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
