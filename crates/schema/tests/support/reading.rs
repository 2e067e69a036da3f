//! What a schema makes of a text that it reads and judges at once, held against what it makes of the tape.

use countersign_schema::{Fuel, Schema, Verdict};
use countersign_tape::Tape;

/// Reads an instance, and says whether that settled it. What the reading says must be what the tape says.
pub(crate) fn is_settled_by_reading(
    schema: &Schema,
    instance: &str,
    tape: &Tape<'_>,
    verdict: Verdict,
) -> bool {
    let start = tape.node(0).start() as usize;
    let Some(read) = schema.read_conforming(instance, start, tape.depth(), 1.0) else {
        return false;
    };
    let mut fuel = Fuel::for_instance(tape, 1.0);
    assert_eq!(verdict, Verdict::Valid, "read as conforming: {instance}");
    assert_eq!(schema.is_valid(tape, &mut fuel), Verdict::Valid);
    let expected = (tape.node(0).end() as usize, tape.depth(), fuel.used());
    assert_eq!(
        (read.end, read.depth, read.fuel_used),
        expected,
        "{instance}"
    );
    assert!(tape.duplicate_keys().is_empty() && tape.lone_surrogates().is_empty());
    if read.depth > 1 {
        let too_deep = schema.read_conforming(instance, start, read.depth - 1, 1.0);
        assert_eq!(too_deep, None, "deeper than it may be: {instance}");
    }
    true
}
