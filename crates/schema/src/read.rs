//! Judges a value while its text is read, without laying it out first.
//!
//! Most schemas of real tools list members and items and ask little more. Of such a value everything is known by the time it
//! has been read once. Single values that take more to judge are put aside on a tape of their own. The reader only ever
//! says that a value conforms; whatever else it meets, it gives up, and the value is laid out and judged in full. So
//! it finds no violations and has no say in how they are explained.

mod choice;
mod containers;
mod level;
mod reader;
mod tally;

use std::cell::Cell;

use countersign_tape::{Excerpts, Scratch, Tape, walk};

use crate::fuel::Fuel;
use crate::program::Program;
use crate::schema::Schema;
use crate::validate::{Buffers, Machine, Purpose};

use level::{Level, OtherNames};
use reader::{Pending, Reader};

/// A value that conforms to a schema, repeats no member name and has no lone surrogate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConformingValue {
    /// Offset just past it.
    pub end: usize,
    /// Its nesting: a scalar or an empty container is 1, a container is 1 + its deepest child.
    pub depth: u32,
    /// The fuel that judging it on a tape would have used.
    pub fuel_used: u64,
}

/// Memory that one reading hands to the next.
#[derive(Debug, Default)]
struct ReadBuffers {
    scratch: Scratch,
    levels: Vec<Level>,
    others: Vec<OtherNames>,
    pending: Vec<Pending>,
}

/// What beginning to judge a value in a frame costs: the visit, and the frame.
const FRAME: u64 = 2;

/// A tape takes no more either.
const MAX_BYTES: usize = (1 << 30) - 1;

/// Levels and values put aside above this number are not kept.
const KEEP: usize = 16 * 1024;

thread_local! {
    static KEPT: Cell<Option<Box<ReadBuffers>>> = const { Cell::new(None) };
}

impl Schema {
    /// Reads the value at `at`, which may be `max_depth` deep, and judges it on the way. `None` says nothing about the
    /// value: lay it out, and ask [`validate`](Self::validate). Fuel is given as by [`Fuel::for_instance`].
    ///
    /// ```
    /// use countersign_schema::{Limits, compile};
    ///
    /// let schema = compile(br#"{"type":"object","properties":{"id":{"type":"integer"}}}"#, &Limits::default())?;
    /// let text = r#"{"result":{"id":7}}"#;
    /// let value = schema.read_conforming(text, 10, 64, 1.0).expect("it conforms");
    /// assert_eq!((value.end, value.depth), (18, 2));
    /// assert_eq!(schema.read_conforming(r#"{"id":"7"}"#, 0, 64, 1.0), None);
    /// # Ok::<(), countersign_schema::Unenforceable>(())
    /// ```
    pub fn read_conforming(
        &self,
        text: &str,
        at: usize,
        max_depth: u32,
        fuel_factor: f64,
    ) -> Option<ConformingValue> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let root = self.program().nodes.get(self.root() as usize)?;
        if root.plain.is_empty() || !self.program().dynamic_anchors.is_empty() {
            return None;
        }
        let mut buffers = KEPT.take().unwrap_or_default();
        let read = buffers.read(self, text, at, max_depth, fuel_factor);
        if buffers.levels.capacity() <= KEEP && buffers.pending.capacity() <= KEEP {
            KEPT.set(Some(buffers));
        }
        read
    }
}

impl ReadBuffers {
    fn read(
        &mut self,
        schema: &Schema,
        text: &str,
        at: usize,
        max_depth: u32,
        fuel_factor: f64,
    ) -> Option<ConformingValue> {
        self.levels.clear();
        self.others.clear();
        self.pending.clear();
        let excerpts = Excerpts::new(text, &mut self.scratch);
        let mut reader = Reader::new(
            (schema.program(), schema.root()),
            (text, max_depth),
            excerpts,
            (&mut self.levels, &mut self.others),
            &mut self.pending,
        );
        let end = walk(text.as_bytes(), at, &mut reader);
        let (excerpts, summary) = reader.finish();
        let (Ok(end), Some(summary)) = (end, summary) else {
            excerpts.give_up(&mut self.scratch);
            return None;
        };
        let bytes = (end - at) as u64;
        let mut fuel = Fuel::for_size(summary.nodes, bytes, fuel_factor);
        let is_paid = fuel.spend(summary.fuel).is_ok();
        let conforms = match excerpts.finish(&mut self.scratch) {
            None => is_paid,
            Some(tape) => {
                let conforms = is_paid && settle(schema.program(), &tape, &mut fuel, &self.pending);
                tape.recycle(&mut self.scratch);
                conforms
            }
        };
        conforms.then(|| ConformingValue {
            end,
            depth: summary.depth,
            fuel_used: fuel.used(),
        })
    }
}

/// Whether the values that were put aside conform.
fn settle(program: &Program, tape: &Tape<'_>, fuel: &mut Fuel, pending: &[Pending]) -> bool {
    Buffers::with_thread_buffers(|buffers| {
        let mut machine = Machine::new(program, tape, fuel, buffers, Purpose::Decide);
        pending.iter().all(|value| {
            let judged = if value.is_simple {
                machine.simple(value.schema, value.index)
            } else {
                machine.run(value.schema, value.index)
            };
            judged == Ok(true)
        })
    })
}
