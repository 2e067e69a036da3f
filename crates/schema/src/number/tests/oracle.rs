//! Numbers against a schoolbook oracle on vectors of digits.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::{canonical, divides, fast_integer, number};
use crate::number::Decimal;

/// The oracle: a value as an integer of `DIGITS` decimal digits counted in units of 10^-`UNIT`,
/// worked on digit by digit as at school.
const UNIT: i64 = 60;
const DIGITS: usize = 160;

#[derive(Clone, Debug)]
struct NumberText {
    negative: bool,
    integer: String,
    fraction: String,
    exponent: i64,
}

impl NumberText {
    fn text(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let integer = self.integer.trim_start_matches('0');
        let integer = if integer.is_empty() { "0" } else { integer };
        let point = if self.fraction.is_empty() { "" } else { "." };
        let scale = match self.exponent {
            0 => String::new(),
            exponent => format!("e{exponent}"),
        };
        format!("{sign}{integer}{point}{}{scale}", self.fraction)
    }

    /// Digits, least significant first.
    fn units(&self) -> Vec<u8> {
        let mut units = vec![0; DIGITS];
        let digits = self.integer.bytes().chain(self.fraction.bytes());
        let length = self.integer.len() + self.fraction.len();
        for (index, digit) in digits.enumerate() {
            let place = length - 1 - index;
            let place = i64::try_from(place).unwrap() - i64::try_from(self.fraction.len()).unwrap();
            units[usize::try_from(place + self.exponent + UNIT).unwrap()] = digit - b'0';
        }
        units
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let absolute = self.units().iter().rev().cmp(other.units().iter().rev());
        let zero = |written: &Self| written.units().iter().all(|&digit| digit == 0);
        match (self.negative && !zero(self), other.negative && !zero(other)) {
            (false, false) => absolute,
            (true, true) => absolute.reverse(),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }

    fn is_integer(&self) -> bool {
        self.units()[..usize::try_from(UNIT).unwrap()]
            .iter()
            .all(|&digit| digit == 0)
    }

    /// Long division by a machine integer, both sides in units of 10^-`UNIT`: the divisor
    /// `significand` × 10^`exponent` divides iff its low `exponent + UNIT` units are zero once
    /// ten is taken out as often as the exponent says.
    fn is_multiple(&self, significand: u64, exponent: i64) -> bool {
        let units = self.units();
        let (low, high) = units.split_at(usize::try_from(UNIT + exponent).unwrap());
        let remainder = high.iter().rev().fold(0_u128, |sum, &digit| {
            (sum * 10 + u128::from(digit)) % u128::from(significand)
        });
        // value = high × 10^e + low, with low < 10^e: a multiple only when low is zero.
        low.iter().all(|&digit| digit == 0) && remainder == 0
    }
}

fn written() -> impl Strategy<Value = NumberText> {
    (
        any::<bool>(),
        "[0-9]{1,25}|[0-1]{1,3}",
        "[0-9]{0,25}|0{0,4}|[05]{0,2}",
        -25_i64..25,
    )
        .prop_map(|(negative, integer, fraction, exponent)| NumberText {
            negative,
            integer,
            fraction,
            exponent,
        })
}

/// The same value with its point and zeros elsewhere.
fn rewritten(value: &NumberText, shift: usize, zeros: usize) -> NumberText {
    let mut other = value.clone();
    for _ in 0..shift.min(other.integer.len() - 1) {
        let digit = other.integer.pop().unwrap();
        other.fraction.insert(0, digit);
        other.exponent += 1;
    }
    other.fraction.push_str(&"0".repeat(zeros));
    other
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn agrees_with_the_oracle_on_order(left in written(), right in written()) {
        let (left_text, right_text) = (left.text(), right.text());
        let expected = left.cmp(&right);
        prop_assert_eq!(number(&left_text).cmp(&number(&right_text)), expected);
        prop_assert_eq!(Decimal::parse(&right_text).unwrap().order_of(&left_text), Some(expected));
        prop_assert_eq!(canonical(&left_text) == canonical(&right_text), expected == Ordering::Equal);
        prop_assert_eq!(number(&left_text).is_integer(), left.is_integer());
    }

    #[test]
    fn writing_a_value_otherwise_changes_nothing(value in written(), shift in 0_usize..25, zeros in 0_usize..5) {
        let (text, other) = (value.text(), rewritten(&value, shift, zeros).text());
        prop_assert_eq!(number(&text), number(&other));
        prop_assert_eq!(canonical(&text), canonical(&other));
        prop_assert_eq!(number(&text).is_integer(), number(&other).is_integer());
        prop_assert_eq!(number(&text).as_small(), number(&other).as_small());
    }

    #[test]
    fn agrees_with_the_oracle_on_multiples(
        value in written(),
        significand in prop_oneof![1_u64..30, 1..1_000_000_000_000_000_000_u64],
        exponent in -25_i64..25,
    ) {
        let divisor = format!("{significand}e{exponent}");
        prop_assert_eq!(divides(&divisor, &value.text()), value.is_multiple(significand, exponent));
    }

    #[test]
    fn products_are_multiples(quotient in any::<i64>(), significand in 1..1_000_000_000_000_000_000_u64, exponent in -400_i64..400, shift in 0_i64..400) {
        let product = i128::from(quotient) * i128::from(significand);
        let divisor = format!("{significand}e{exponent}");
        let instance = format!("{product}e{}", exponent + shift);
        prop_assert!(divides(&divisor, &instance));
        let beside = format!("{}e{exponent}", product + 1);
        prop_assert_eq!(divides(&divisor, &beside), significand == 1);
    }

    #[test]
    fn small_values_match_machine_integers(value in any::<i64>()) {
        let text = value.to_string();
        let expected = (value.unsigned_abs() < 1_000_000_000_000_000_000).then_some(value);
        prop_assert_eq!(fast_integer(&text), expected);
        prop_assert_eq!(number(&text).as_small(), expected);
        prop_assert_eq!(number(&text).as_count(), u64::try_from(value).ok());
    }
}
