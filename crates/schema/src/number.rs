//! A JSON number as exact decimal arithmetic sees it: sign, significant digits, exponent, all
//! borrowed from the text. Serves the validator's numeric keywords, `enum` and `uniqueItems`.
//! It never rounds, never allocates for an instance, and refuses exponents beyond
//! [`MAX_EXPONENT`] instead of doing arithmetic on them.

use std::cmp::Ordering;

mod decimal;
mod divisor;
#[cfg(test)]
mod tests;

pub(crate) use decimal::Decimal;
pub(crate) use divisor::Divisor;

/// The largest exponent, either way, that a non-zero number may be written with.
pub(crate) const MAX_EXPONENT: i64 = 1_000_000;

/// Integers of this many digits fit `i64` and `u64` with room to spare.
const SMALL_DIGITS: usize = 18;

/// An exact number: ± `head` `tail` × 10^`exponent`, where `head` and `tail` are one run of
/// digits that a decimal point may have cut in two.
///
/// Normalised: the run neither starts nor ends with a zero, and zero is the empty run with a
/// positive sign and exponent 0. So equal values have equal parts, however they were written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number<'a> {
    negative: bool,
    head: &'a [u8],
    tail: &'a [u8],
    exponent: i64,
}

impl<'a> Number<'a> {
    const ZERO: Number<'static> = Number {
        negative: false,
        head: &[],
        tail: &[],
        exponent: 0,
    };

    /// Reads a number that already follows the JSON grammar; other text gives some number or
    /// other, never a panic. `None`: the exponent is beyond ±[`MAX_EXPONENT`].
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (negative, rest) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let mantissa_len = position(rest, |byte| matches!(byte, b'e' | b'E'));
        let (mantissa, scale) = rest.split_at(mantissa_len);
        let (head, tail) = mantissa.split_at(position(mantissa, |byte| byte == b'.'));
        let tail = tail.get(1..).unwrap_or_default();
        let Some(digits) = Number::from_runs(negative, head, tail) else {
            return Some(Self::ZERO);
        };
        let written = parse_exponent(scale.get(1..).unwrap_or_default())?;
        Some(Number {
            exponent: digits.exponent + written,
            ..digits
        })
    }

    /// The number `head`.`tail`, or `None` for zero.
    fn from_runs(negative: bool, head: &'a [u8], tail: &'a [u8]) -> Option<Self> {
        let fraction = trim_end(tail);
        let (head, exponent) = if fraction.is_empty() {
            let whole = trim_end(head);
            (whole, signed(head.len() - whole.len()))
        } else {
            (head, -signed(fraction.len()))
        };
        let head = trim_start(head);
        let tail = if head.is_empty() {
            trim_start(fraction)
        } else {
            fraction
        };
        (!head.is_empty() || !tail.is_empty()).then_some(Number {
            negative,
            head,
            tail,
            exponent,
        })
    }

    /// Whether the value is a whole number: `1.0`, `1e2` and `10e-1` are.
    pub(crate) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// Whether the value is zero, whatever its written sign and exponent.
    pub(crate) fn is_zero(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    /// Whether the value is below zero; `-0.0` is not.
    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    /// The value as a count for `minLength` and its like: `None` unless it is a whole number
    /// from zero up; too large for `u64` becomes `u64::MAX`, which no instance can reach.
    pub(crate) fn as_count(&self) -> Option<u64> {
        if self.negative || !self.is_integer() {
            return None;
        }
        if self.magnitude() > 20 {
            return Some(u64::MAX);
        }
        // At most 20 digits: below 10^20, well inside u128.
        let digits = self
            .digits()
            .fold(0, |sum, digit| sum * 10 + u128::from(digit));
        let power = u32::try_from(self.exponent).unwrap_or(u32::MAX);
        let value = 10_u128
            .checked_pow(power)
            .and_then(|power| digits.checked_mul(power));
        Some(value.map_or(u64::MAX, |value| u64::try_from(value).unwrap_or(u64::MAX)))
    }

    /// The value when it is a whole number of at most 18 digits.
    pub(crate) fn as_small(&self) -> Option<i64> {
        if !self.is_integer() || self.magnitude() > signed(SMALL_DIGITS) {
            return None;
        }
        let digits = self
            .digits()
            .fold(0, |sum, digit| sum * 10 + i64::from(digit));
        let value = digits * 10_i64.checked_pow(u32::try_from(self.exponent).ok()?)?;
        Some(if self.negative { -value } else { value })
    }

    /// Feeds a form of the value that is the same for `1`, `1.0`, `1e0` and `10e-1`, cut in the
    /// same places, so that any hasher agrees on equal numbers.
    pub(crate) fn canonical(&self, mut sink: impl FnMut(&[u8])) {
        let mut chunk = [0_u8; 32];
        let (scale, rest) = chunk.split_at_mut(8);
        scale.copy_from_slice(&self.exponent.to_le_bytes());
        rest[0] = u8::from(self.negative);
        let mut filled = 9;
        for &byte in self.head.iter().chain(self.tail) {
            if filled == chunk.len() {
                sink(&chunk);
                filled = 0;
            }
            chunk[filled] = byte;
            filled += 1;
        }
        sink(&chunk[..filled]);
    }

    /// How many digits the run has.
    fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// The power of ten just above the value: 10^(m-1) ≤ |value| < 10^m.
    fn magnitude(&self) -> i64 {
        self.exponent + signed(self.len())
    }

    /// The digits as values from 0 to 9.
    fn digits(&self) -> impl Iterator<Item = u8> + use<'a> {
        self.head.iter().chain(self.tail).map(|byte| byte & 0x0f)
    }

    /// Compares absolute values of two non-zero numbers.
    fn cmp_absolute(&self, other: &Self) -> Ordering {
        // With the leading digits at the same power of ten, and no trailing zeros, a run that is
        // a prefix of another is the smaller: the order of the bytes is the order of the values.
        self.magnitude().cmp(&other.magnitude()).then_with(|| {
            if self.tail.is_empty() && other.tail.is_empty() {
                return self.head.cmp(other.head);
            }
            let left = self.head.iter().chain(self.tail);
            left.cmp(other.head.iter().chain(other.tail))
        })
    }

    /// -1, 0 or 1.
    fn signum(&self) -> i8 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.signum(), other.signum()) {
            (1, 1) => self.cmp_absolute(other),
            (-1, -1) => other.cmp_absolute(self),
            (left, right) => left.cmp(&right),
        }
    }
}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number<'_> {}

/// A number without an exponent and of at most 18 digits: its digits as an integer, and how many of them follow the
/// point. Decides most comparisons without building a [`Number`].
#[inline]
pub(crate) fn fast_decimal(text: &[u8]) -> Option<(i64, u32)> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > SMALL_DIGITS {
        return None;
    }
    let (mut value, mut scale, mut step) = (0, 0, 0);
    for byte in digits {
        match byte {
            b'0'..=b'9' => {
                value = value * 10 + i64::from(byte & 0x0f);
                scale += step;
            }
            b'.' => step = 1,
            _ => return None,
        }
    }
    Some((if negative { -value } else { value }, scale))
}

/// How `value` / 10^`scale` orders against an integer.
#[inline]
pub(crate) fn order_scaled(value: i64, scale: u32, integer: i64) -> Ordering {
    if scale == 0 {
        return value.cmp(&integer);
    }
    // Both stay far inside: 18 digits each.
    i128::from(value).cmp(&(i128::from(integer) * 10_i128.pow(scale)))
}

/// Reads the text after `e`. It may have any number of digits, so zeros go first and length is
/// judged before value.
fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits.strip_prefix(b"+").unwrap_or(digits)),
    };
    let digits = trim_start(digits);
    if digits.len() > 7 {
        return None;
    }
    let value = digits
        .iter()
        .fold(0, |sum, byte| sum * 10 + i64::from(byte & 0x0f));
    let signed = if negative { -value } else { value };
    (value <= MAX_EXPONENT).then_some(signed)
}

fn position(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    bytes
        .iter()
        .position(|&byte| wanted(byte))
        .unwrap_or(bytes.len())
}

fn trim_start(mut digits: &[u8]) -> &[u8] {
    while let [b'0', rest @ ..] = digits {
        digits = rest;
    }
    digits
}

fn trim_end(mut digits: &[u8]) -> &[u8] {
    while let [rest @ .., b'0'] = digits {
        digits = rest;
    }
    digits
}

/// Lengths of slices never exceed `isize::MAX`, so the fallback is never taken.
fn signed(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}
