//! `multipleOf` on hand-written cases.

use super::divides;
use crate::number::Divisor;

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
    for text in [
        "0",
        "-0.0",
        "-2",
        "1234567890123456789",
        "0.1234567890123456789",
        "1e999999999",
    ] {
        assert_eq!(Divisor::new(text), None, "{text}");
    }
    assert!(Divisor::new("123456789012345678000000").is_some());
    let divisor = Divisor::new("2").expect("enforceable");
    assert_eq!(divisor.divides_text("1e2000000"), None);
}
