//! Numbers against hand-written cases and against a schoolbook oracle on vectors of digits.

mod multiples;
mod oracle;
mod values;

use super::{Divisor, Number, fast_decimal};

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
    assert_eq!(divisor.divides_text(instance), Some(verdict), "{instance}");
    verdict
}

/// The value of a plain integer, where the short way finds it.
fn fast_integer(text: &str) -> Option<i64> {
    match fast_decimal(text.as_bytes()) {
        Some((value, 0)) => Some(value),
        _ => None,
    }
}
