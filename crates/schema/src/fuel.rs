//! A deterministic budget for one validation.
//!
//! Fuel is charged by size, never by time, so a verdict is the same on every machine. One unit pays for one visit of a
//! subschema, or for 16 bytes compared, hashed or matched.

use countersign_tape::Tape;

/// The budget of a validation, and what is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fuel {
    limit: u64,
    remaining: u64,
}

/// The fuel ran out: the schema asks more of this instance than any honest one would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// The most fuel an instance is given before the caller's factor.
const CEILING: u64 = 20_000_000;

impl Fuel {
    /// A budget of so many units.
    pub fn new(units: u64) -> Self {
        Self {
            limit: units,
            remaining: units,
        }
    }

    /// The default budget for an instance, times `factor`: generous for any honest schema, seconds at the very worst.
    pub fn for_instance(tape: &Tape<'_>, factor: f64) -> Self {
        let root = tape.node(0);
        let bytes = u64::from(root.end() - root.start());
        Self::for_size(u64::from(tape.len()), bytes, factor)
    }

    /// The same for an instance of so many nodes and bytes.
    pub(crate) fn for_size(nodes: u64, bytes: u64, factor: f64) -> Self {
        let units = (100_000 + 64 * nodes + 4 * bytes).min(CEILING);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "units are far below 2^52, and the cast back saturates"
        )]
        let scaled = (units as f64 * factor.max(0.0)) as u64;
        Self::new(scaled)
    }

    /// Units spent so far.
    pub fn used(&self) -> u64 {
        self.limit - self.remaining
    }

    /// Units left.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    #[inline]
    pub(crate) fn spend(&mut self, units: u64) -> Result<(), Exhausted> {
        if let Some(left) = self.remaining.checked_sub(units) {
            self.remaining = left;
            Ok(())
        } else {
            self.remaining = 0;
            Err(Exhausted)
        }
    }

    /// Subtracts `units` from the fuel `left` that a loop counts in a local variable.
    #[inline]
    pub(crate) fn subtract(&mut self, left: u64, units: u64) -> Result<u64, Exhausted> {
        left.checked_sub(units).ok_or_else(|| {
            self.remaining = 0;
            Exhausted
        })
    }

    /// Stores the fuel that such a loop has left.
    #[inline]
    pub(crate) fn set_remaining(&mut self, left: u64) {
        self.remaining = left.min(self.remaining);
    }

    /// Pays for work on so many bytes.
    #[inline]
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.spend(for_bytes(bytes))
    }
}

/// What work on so many bytes costs.
#[inline]
pub(crate) fn for_bytes(bytes: usize) -> u64 {
    bytes as u64 / 16 + 1
}

/// What a look at a member's name costs, its quotes included.
#[inline]
pub(crate) const fn for_name(bytes: u64) -> u64 {
    1 + bytes / 16
}
