//! Schemas and instances made to make a validator slow, big or dead.
//!
//! Each attack runs twice, with the default limits and with the compile limits lifted, on a 2 MiB stack, under a
//! ceiling on fuel and on memory. With lifted limits fuel, frames and memo are seen to hold alone.

pub(crate) mod chains;
pub(crate) mod deep;
mod naming;
mod numbers;
mod wide;

use std::sync::mpsc;
use std::time::{Duration, Instant};

use countersign_schema::{Fuel, Limits, Unenforceable, Verdict};
use countersign_tape::Tape;

use crate::support::{TAPE, on_small_stack};

/// Peak memory allowed for each byte of schema and instance together.
const BYTES_PER_BYTE: u64 = 48;
/// And beside that: the memo, and the compiled regular expressions of a schema at their limit.
const FIXED_BYTES: u64 = 12 * 1024 * 1024;

/// A hostile pair.
#[derive(Debug, Clone)]
pub(crate) struct Attack {
    pub(crate) name: String,
    pub(crate) schema: String,
    pub(crate) instance: String,
    /// What the specification says. An answer may be withheld, but not be another.
    pub(crate) verdict: Verdict,
}

/// How the engine took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AttackOutcome {
    /// Not compiled: a limit.
    Limit,
    /// Not compiled: the schema or a pattern of it is wrong.
    Broken,
    Judged(Verdict),
}

impl Attack {
    pub(crate) fn new(
        name: impl Into<String>,
        schema: impl Into<String>,
        instance: impl Into<String>,
        verdict: Verdict,
    ) -> Self {
        Self {
            name: name.into(),
            schema: schema.into(),
            instance: instance.into(),
            verdict,
        }
    }

    /// Runs the attack with default and with lifted limits.
    fn run(self) -> [AttackOutcome; 2] {
        [Limits::default(), Limits::lifted()].map(|limits| {
            let attack = self.clone();
            on_small_stack(&self.name, move || attack.run_with(&limits))
        })
    }

    /// Asserts what the default limits and what fuel alone make of the attack.
    #[track_caller]
    fn gives(self, default: AttackOutcome, lifted: AttackOutcome) {
        let name = self.name.clone();
        assert_eq!(self.run(), [default, lifted], "{name}");
    }

    fn run_with(&self, limits: &Limits) -> AttackOutcome {
        let (sender, receiver) = mpsc::channel();
        let start = Instant::now();
        let memory = allocation_counter::measure(|| {
            let answer = self.judge(limits);
            allocation_counter::opt_out(|| sender.send(answer).expect("the receiver is below"));
        });
        let (answer, fuel) = receiver.recv().expect("an answer was sent");
        let input = (self.schema.len() + self.instance.len()) as u64;
        self.show(input, memory.bytes_max, fuel, start.elapsed(), answer);
        assert!(
            memory.bytes_max <= BYTES_PER_BYTE * input + FIXED_BYTES,
            "{}: {} bytes of memory at the peak for {input} bytes of input",
            self.name,
            memory.bytes_max
        );
        if let AttackOutcome::Judged(verdict) = answer {
            assert!(
                verdict == self.verdict || verdict == Verdict::Exhausted,
                "{}: {verdict:?}, not {:?}",
                self.name,
                self.verdict
            );
        }
        answer
    }

    /// Prints what the attack cost; shown by `cargo test -- --nocapture`. No assertion uses the time.
    #[expect(clippy::print_stdout, reason = "captured by the harness")]
    fn show(&self, input: u64, memory: u64, fuel: u64, time: Duration, answer: AttackOutcome) {
        println!(
            "{:<58} {input:>9} B input {memory:>10} B peak {fuel:>9} fuel {:>6} ms  {answer:?}",
            self.name,
            time.as_millis()
        );
    }

    /// The verdict, for attacks that compile.
    pub(crate) fn verdict_of(&self, limits: &Limits) -> Verdict {
        match self.run_with(limits) {
            AttackOutcome::Judged(verdict) => verdict,
            refused => panic!("{}: {refused:?}", self.name),
        }
    }

    /// The answer and the fuel it took.
    fn judge(&self, limits: &Limits) -> (AttackOutcome, u64) {
        let schema = match countersign_schema::compile(self.schema.as_bytes(), limits) {
            Ok(schema) => schema,
            Err(error) => return (refused(&error), 0),
        };
        let tape = Tape::parse(self.instance.as_bytes(), &TAPE).expect("the instance is JSON");
        let mut fuel = Fuel::for_instance(&tape, 1.0);
        let budget = fuel.remaining();
        let verdict = schema.is_valid(&tape, &mut fuel);
        let mut explained_fuel = Fuel::for_instance(&tape, 1.0);
        let explained = schema.validate(&tape, &mut explained_fuel);
        assert_eq!(verdict, explained.verdict(), "{}", self.name);
        for fuel in [&fuel, &explained_fuel] {
            assert!(fuel.used() <= budget, "{}: fuel overdrawn", self.name);
        }
        (AttackOutcome::Judged(verdict), fuel.used())
    }
}

fn refused(error: &Unenforceable) -> AttackOutcome {
    if error.is_limit() {
        AttackOutcome::Limit
    } else {
        AttackOutcome::Broken
    }
}
