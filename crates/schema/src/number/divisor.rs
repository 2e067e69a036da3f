//! The divisor of `multipleOf`, exact for up to 18 significant digits. It never forms a quotient
//! and never walks an exponent: the remainder is streamed over the instance's digits, powers of
//! ten are reduced by squaring. Zero, negative and longer divisors are refused.

use super::{Number, SMALL_DIGITS, fast_decimal};

/// 10^18: one step of the streamed remainder.
const STEP: u128 = 1_000_000_000_000_000_000;

/// A positive divisor: `significand` × 10^`exponent`, the significand not a multiple of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    significand: u64,
    exponent: i64,
    small: Option<i64>,
}

impl Divisor {
    /// Reads a divisor that already follows the JSON number grammar. `None`: it is not above zero, has more than 18
    /// significant digits, or its exponent is beyond the limit.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let number = Number::parse(text)?;
        let is_positive = !number.is_zero() && !number.is_negative();
        (is_positive && number.len() <= SMALL_DIGITS).then(|| Divisor {
            significand: number.digits().fold(0, push_digit),
            exponent: number.exponent,
            small: number.as_small(),
        })
    }

    /// Whether `number` is a whole multiple of the divisor.
    pub(crate) fn divides(&self, number: &Number<'_>) -> bool {
        if number.is_zero() {
            return true;
        }
        // The digits of a number are no multiple of ten, so they cannot be one of
        // significand × 10^k for any k > 0.
        let Ok(shift) = u64::try_from(number.exponent - self.exponent) else {
            return false;
        };
        if self.significand == 1 {
            return true;
        }
        let remainder = self.remainder(number);
        if shift == 0 || remainder == 0 {
            return remainder == 0;
        }
        let modulus = u128::from(self.significand);
        (u128::from(remainder) * u128::from(power_of_ten(shift, self.significand)))
            .is_multiple_of(modulus)
    }

    /// The same for the text of an instance, with a shortcut for machine integers. `None`: its exponent is beyond the
    /// limit.
    #[inline]
    pub(crate) fn divides_text(&self, text: &str) -> Option<bool> {
        match (fast_decimal(text.as_bytes()), self.small) {
            (Some((instance, 0)), Some(divisor)) => Some(instance % divisor == 0),
            _ => Some(self.divides(&Number::parse(text)?)),
        }
    }

    /// The digits of `number`, read as one integer, modulo the significand.
    fn remainder(&self, number: &Number<'_>) -> u64 {
        if number.len() <= SMALL_DIGITS {
            return number.digits().fold(0, push_digit) % self.significand;
        }
        let mut digits = number.digits();
        let mut left = number.len();
        let mut remainder = 0;
        // The odd digits go first, so that every later step is a whole one.
        let mut take = left % SMALL_DIGITS;
        while left > 0 {
            let chunk = digits.by_ref().take(take).fold(0, push_digit);
            remainder = reduce(
                u128::from(remainder) * STEP + u128::from(chunk),
                self.significand,
            );
            left -= take;
            take = SMALL_DIGITS;
        }
        remainder
    }
}

/// 18 digits stay below 10^18, inside `u64`.
fn push_digit(sum: u64, digit: u8) -> u64 {
    sum * 10 + u64::from(digit)
}

/// `value` modulo `modulus`; what is left is below the modulus, so it fits.
fn reduce(value: u128, modulus: u64) -> u64 {
    u64::try_from(value % u128::from(modulus)).unwrap_or_default()
}

/// 10^`power` modulo `modulus`, by squaring.
fn power_of_ten(mut power: u64, modulus: u64) -> u64 {
    let mut base = 10 % modulus;
    let mut result = 1 % modulus;
    while power > 0 {
        if power & 1 == 1 {
            result = reduce(u128::from(result) * u128::from(base), modulus);
        }
        base = reduce(u128::from(base) * u128::from(base), modulus);
        power >>= 1;
    }
    result
}
