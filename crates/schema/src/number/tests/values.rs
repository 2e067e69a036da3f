//! Equality, order and conversions, on hand-written cases.

use std::cmp::Ordering;

use super::{canonical, fast_integer, number};
use crate::number::{Decimal, Divisor, Number};

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
            assert_eq!(constant.order_of(left), Some(expected), "{left} {right}");
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
        assert!(Number::parse(text).is_none(), "{text}");
    }
    for text in ["1e1000000", "1e-1000000", "0e999999999", &padded] {
        assert!(Number::parse(text).is_some(), "{text}");
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
    assert_eq!(fast_integer("0"), Some(0));
    assert_eq!(fast_integer("-0"), Some(0));
    assert_eq!(
        fast_integer("999999999999999999"),
        Some(999_999_999_999_999_999)
    );
    assert_eq!(
        fast_integer("-999999999999999999"),
        Some(-999_999_999_999_999_999)
    );
    for text in ["1000000000000000000", "1.0", "1e2", "", "-", "12a"] {
        assert_eq!(fast_integer(text), None, "{text}");
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
fn owned_and_borrowed_agree() {
    for text in [
        "0",
        "-0",
        "12.50",
        "-1e-7",
        "123456789012345678901234567890.5",
    ] {
        let owned = Decimal::parse(text).expect("within the limits");
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
        if let Some(value) = Number::parse(text) {
            assert_eq!(value.cmp(&value), Ordering::Equal, "{text}");
            let _small = (value.as_small(), value.as_count(), value.is_integer());
            let _divided = Divisor::new("7").map(|divisor| divisor.divides(&value));
        }
    }
}
