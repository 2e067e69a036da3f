//! A number that a schema states (`minimum`, `const`, …), kept apart from the schema's text.
//! It owns its digits and remembers its machine integer, so that most comparisons with an
//! instance are one integer comparison. It refuses what [`Number`] refuses.

use std::cmp::Ordering;

use super::{Number, TooExtreme, fast_i64};

/// An owned, normalised number.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    negative: bool,
    digits: Box<[u8]>,
    exponent: i64,
    small: Option<i64>,
}

impl Number<'_> {
    /// The same value, owned.
    pub(crate) fn owned(&self) -> Decimal {
        Decimal {
            negative: self.negative,
            digits: [self.head, self.tail].concat().into(),
            exponent: self.exponent,
            small: self.as_small(),
        }
    }
}

impl Decimal {
    /// Reads a number that already follows the JSON grammar.
    pub(crate) fn parse(text: &str) -> Result<Self, TooExtreme> {
        Number::parse(text).map(|number| number.owned())
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
    /// is the smaller.
    #[inline]
    pub(crate) fn order_of(&self, text: &str) -> Result<Ordering, TooExtreme> {
        match (fast_i64(text), self.small) {
            (Some(instance), Some(constant)) => Ok(instance.cmp(&constant)),
            _ => Ok(Number::parse(text)?.cmp(&self.as_number())),
        }
    }
}
