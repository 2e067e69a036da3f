//! A number that a schema states (`minimum`, `const`, …), kept apart from the schema's text.
//! It owns its digits. It refuses what [`Number`] refuses.

use std::cmp::Ordering;

use super::Number;

/// An owned, normalised number.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    negative: bool,
    digits: Box<[u8]>,
    exponent: i64,
}

impl Decimal {
    /// Reads a number that already follows the JSON grammar. `None`: its exponent is beyond the limit.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let number = Number::parse(text)?;
        Some(Self {
            negative: number.negative,
            digits: [number.head, number.tail].concat().into(),
            exponent: number.exponent,
        })
    }

    /// The same value, borrowed.
    pub(crate) fn as_number(&self) -> Number<'_> {
        Number {
            negative: self.negative,
            head: &self.digits,
            tail: &[],
            exponent: self.exponent,
        }
    }

    /// How the instance number `text` orders against this constant: `Less` means the instance
    /// is the smaller. `None`: its exponent is beyond the limit.
    pub(crate) fn order_of(&self, text: &str) -> Option<Ordering> {
        Some(Number::parse(text)?.cmp(&self.as_number()))
    }
}
