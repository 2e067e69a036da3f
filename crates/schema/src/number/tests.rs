//! Numbers against hand-written cases and against a schoolbook oracle on vectors of digits.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::divisor::DivisorError;
use super::{Decimal, Divisor, Number, TooExtreme, fast_i64};

fn number(text: &str) -> Number<'_> {
    Number::parse(text).expect("a number within the limits")
}

fn canonical(text: &str) -> Vec<Vec<u8>> {
    let mut chunks = Vec::new();
    number(text).canonical(|chunk| chunks.push(chunk.to_vec()));
    chunks
}

fn divides(divisor: &str, instance: &str) -> bool {
    let divisor = Divisor::new(divisor).expect("an enforceable divisor");
    let verdict = divisor.divides(&number(instance));
    assert_eq!(divisor.divides_text(instance), Ok(verdict), "{instance}");
    verdict
}

#[test]
fn equal_values_are_equal_however_written() {
    let groups: [&[&str]; 6] = [
        &[
            "1", "1.0", "1e0", "10e-1", "0.1e1", "1E+0", "1.000", "100e-2", "0.0001e4",
        ],
        &[
            "0",
            "-0",
            "0.0",
            "-0.0",
            "0e5",
            "0e-999999999",
            "0.000e999999999999",
        ],
        &[
            "-12.5", "-125e-1", "-0.125e2", "-12.500", "-1.25E1", "-1250e-2",
        ],
        &["1e400", "10e399", "0.1e401", "1.0e+400"],
        &["1e-400", "0.1e-399", "10e-401"],
        &[
            "123456789012345678901234567890",
            "1.2345678901234567890123456789e29",
        ],
    ];
    for group in groups {
        for left in group {
            for right in group {
                assert_eq!(number(left), number(right), "{left} {right}");
                assert_eq!(canonical(left), canonical(right), "{left} {right}");
            }
        }
    }
    for (index, left) in groups.iter().enumerate() {
        for right in &groups[index + 1..] {
            assert_ne!(number(left[0]), number(right[0]));
            assert_ne!(canonical(left[0]), canonical(right[0]));
        }
    }
}

#[test]
fn order_is_exact() {
    let ascending = [
        "-1e400",
        "-123456789012345678901234567891",
        "-123456789012345678901234567890",
        "-10",
        "-9.99",
        "-1",
        "-0.5",
        "-1e-400",
        "0",
        "1e-400",
        "1.1e-400",
        "0.1",
        "0.12",
        "0.2",
        "1",
        "1.0000000000000000000000001",
        "9",
        "10",
        "11",
        "9007199254740992",
        "9007199254740993",
        "18446744073709551615",
        "18446744073709551616",
        "1e308",
        "1e400",
        "1.0000000001e400",
        "1e1000000",
    ];
    for (index, left) in ascending.iter().enumerate() {
        for (other, right) in ascending.iter().enumerate() {
            let expected = index.cmp(&other);
            assert_eq!(number(left).cmp(&number(right)), expected, "{left} {right}");
            let constant = Decimal::parse(right).expect("within the limits");
            assert_eq!(constant.order_of(left), Ok(expected), "{left} {right}");
        }
    }
}

#[test]
fn whole_numbers() {
    for text in [
        "0", "-0.0", "1.0", "1e2", "10e-1", "-3", "1e400", "2.50e1", "0e-5", "100e-2",
    ] {
        assert!(number(text).is_integer(), "{text}");
    }
    for text in [
        "0.1",
        "1e-1",
        "10e-2",
        "-3.5",
        "1e-400",
        "2.55e1",
        "123456789012345678.9",
    ] {
        assert!(!number(text).is_integer(), "{text}");
    }
}

#[test]
fn exponents_beyond_the_limit_are_refused() {
    let many = format!("1e{}", "9".repeat(10_000));
    let padded = format!("1e{}7", "0".repeat(10_000));
    for text in [
        "1e999999999",
        "1e-999999999",
        "-1e1000001",
        "1E+1000001",
        "0.1e10000000",
        &many,
    ] {
        assert_eq!(Number::parse(text).err(), Some(TooExtreme), "{text}");
    }
    for text in ["1e1000000", "1e-1000000", "0e999999999", &padded] {
        assert!(Number::parse(text).is_ok(), "{text}");
    }
    assert_eq!(number(&padded), number("10000000"));
}

#[test]
fn long_integers_compare_by_their_last_digit() {
    let base = "7".repeat(9_999);
    let (low, high) = (format!("{base}1"), format!("{base}2"));
    assert_eq!(number(&low).cmp(&number(&high)), Ordering::Less);
    assert_eq!(
        number(&format!("-{low}")).cmp(&number(&format!("-{high}"))),
        Ordering::Greater
    );
    let scaled = format!("{}.{}e9999", &low[..1], &low[1..]);
    assert_eq!(number(&scaled), number(&low));
    assert_eq!(canonical(&scaled), canonical(&low));
}

#[test]
fn machine_integers() {
    assert_eq!(fast_i64("0"), Some(0));
    assert_eq!(fast_i64("-0"), Some(0));
    assert_eq!(
        fast_i64("999999999999999999"),
        Some(999_999_999_999_999_999)
    );
    assert_eq!(
        fast_i64("-999999999999999999"),
        Some(-999_999_999_999_999_999)
    );
    for text in ["1000000000000000000", "1.0", "1e2", "", "-", "12a"] {
        assert_eq!(fast_i64(text), None, "{text}");
    }
    assert_eq!(number("1.5e1").as_small(), Some(15));
    assert_eq!(number("-1e17").as_small(), Some(-100_000_000_000_000_000));
    assert_eq!(number("1e18").as_small(), None);
    assert_eq!(number("1.5").as_small(), None);
}

#[test]
fn counts_saturate() {
    assert_eq!(number("0").as_count(), Some(0));
    assert_eq!(number("2.0").as_count(), Some(2));
    assert_eq!(number("18446744073709551615").as_count(), Some(u64::MAX));
    assert_eq!(
        number("18446744073709551614").as_count(),
        Some(u64::MAX - 1)
    );
    assert_eq!(number("99999999999999999999").as_count(), Some(u64::MAX));
    assert_eq!(number("1e1000000").as_count(), Some(u64::MAX));
    assert_eq!(number("-1").as_count(), None);
    assert_eq!(number("0.5").as_count(), None);
}

#[test]
fn multiples() {
    let yes = [
        ("2", "10"),
        ("1.5", "4.5"),
        ("0.0001", "0.0075"),
        ("1e-8", "12391239123"),
        ("1", "1e308"),
        ("0.01", "19.99"),
        ("0.1", "0.3"),
        ("3", "-9"),
        ("7", "0"),
        ("7", "-0.0e5"),
        ("1e300", "1e308"),
        ("2", "1e1000000"),
        ("0.5", "1e308"),
        ("1e-1000000", "1e1000000"),
        ("1e-1000000", "1e-1000000"),
        ("999999999999999999", "999999999999999999"),
        ("5", "1e20"),
        ("25", "1e2"),
        ("0.3", "6e-1"),
    ];
    for (divisor, instance) in yes {
        assert!(divides(divisor, instance), "{instance} by {divisor}");
    }
    let no = [
        ("2", "7"),
        ("1.5", "35"),
        ("0.0001", "0.00751"),
        ("0.123456789", "1e308"),
        ("1", "1.5"),
        ("0.01", "19.995"),
        ("3", "1e1000000"),
        ("1e308", "1e300"),
        ("7", "1e-1000000"),
        ("10", "5"),
        ("999999999999999998", "999999999999999999"),
        ("7", "1e400"),
        ("3", "10"),
    ];
    for (divisor, instance) in no {
        assert!(!divides(divisor, instance), "{instance} by {divisor}");
    }
}

#[test]
fn multiples_of_long_integers() {
    // 10^9999 + … : a run of nines is a multiple of nine, and of eleven when its length is even.
    let nines = "9".repeat(10_000);
    assert!(divides("9", &nines));
    assert!(divides("11", &nines));
    assert!(!divides("7", &nines.replacen('9', "8", 1)));
    assert!(!divides("11", &nines[1..]));
    assert!(!divides("999999999999999998", &nines));
    // 18 divides 9,990, so the run is a multiple of eighteen nines.
    assert!(divides("999999999999999999", &nines[..9_990]));
    assert!(!divides("999999999999999999", &nines));
}

#[test]
fn divisors_that_cannot_be_enforced() {
    let cases = [
        ("0", DivisorError::NotPositive),
        ("-0.0", DivisorError::NotPositive),
        ("-2", DivisorError::NotPositive),
        ("1234567890123456789", DivisorError::TooLong),
        ("0.1234567890123456789", DivisorError::TooLong),
        ("1e999999999", DivisorError::TooExtreme),
    ];
    for (text, error) in cases {
        assert_eq!(Divisor::new(text), Err(error), "{text}");
    }
    assert!(Divisor::new("123456789012345678000000").is_ok());
    let instance = Divisor::new("2")
        .expect("enforceable")
        .divides_text("1e2000000");
    assert_eq!(instance, Err(TooExtreme));
}

#[test]
fn owned_and_borrowed_agree() {
    for text in [
        "0",
        "-0",
        "12.50",
        "-1e-7",
        "123456789012345678901234567890.5",
    ] {
        let owned = number(text).owned();
        assert_eq!(owned.as_number(), number(text), "{text}");
        let mut chunks = Vec::new();
        owned
            .as_number()
            .canonical(|chunk| chunks.push(chunk.to_vec()));
        assert_eq!(chunks, canonical(text), "{text}");
    }
}

#[test]
fn text_outside_the_grammar_does_not_panic() {
    for text in [
        "",
        "-",
        "e",
        ".",
        "e5",
        "1e",
        "1e+",
        "--",
        "é.éeé",
        "1.2.3",
        "1e5e5",
        "ÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿ",
    ] {
        if let Ok(value) = Number::parse(text) {
            assert_eq!(value.cmp(&value), Ordering::Equal, "{text}");
            let _small = (value.as_small(), value.as_count(), value.is_integer());
            let _divided = Divisor::new("7").map(|divisor| divisor.divides(&value));
        }
    }
}

/// The oracle: a value as an integer of `DIGITS` decimal digits counted in units of 10^-`UNIT`,
/// worked on digit by digit as at school.
const UNIT: i64 = 60;
const DIGITS: usize = 160;

#[derive(Clone, Debug)]
struct Written {
    negative: bool,
    integer: String,
    fraction: String,
    exponent: i64,
}

impl Written {
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

fn written() -> impl Strategy<Value = Written> {
    (
        any::<bool>(),
        "[0-9]{1,25}|[0-1]{1,3}",
        "[0-9]{0,25}|0{0,4}|[05]{0,2}",
        -25_i64..25,
    )
        .prop_map(|(negative, integer, fraction, exponent)| Written {
            negative,
            integer,
            fraction,
            exponent,
        })
}

/// The same value with its point and zeros elsewhere.
fn rewritten(value: &Written, shift: usize, zeros: usize) -> Written {
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
        prop_assert_eq!(Decimal::parse(&right_text).unwrap().order_of(&left_text), Ok(expected));
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
        prop_assert_eq!(fast_i64(&text), expected);
        prop_assert_eq!(number(&text).as_small(), expected);
        prop_assert_eq!(number(&text).as_count(), u64::try_from(value).ok());
    }
}
