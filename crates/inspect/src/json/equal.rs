//! Whether two JSON texts mean the same value: numbers by value, strings decoded, members in
//! any order. A text with repeated member names equals nothing, because readers disagree about
//! what it means. Iterative, and no worse than sorting the members. Serves legacy egress and
//! the question whether a text block says more than the structured content.

use std::cmp::Ordering;

use countersign_tape::{Kind, Tape};

/// Whether both tapes hold the same value.
pub(crate) fn equal(left: &Tape<'_>, right: &Tape<'_>) -> bool {
    if !left.duplicate_keys().is_empty() || !right.duplicate_keys().is_empty() {
        return false;
    }
    let mut pending = vec![(0, 0)];
    while let Some((a, b)) = pending.pop() {
        let (one, two) = (left.node(a), right.node(b));
        if one.kind() != two.kind() {
            return false;
        }
        let same = match one.kind() {
            Kind::Null | Kind::False | Kind::True => true,
            Kind::Number => same_number(left.raw(a), right.raw(b)),
            Kind::String | Kind::Key => left.string(a) == right.string(b),
            Kind::Array => {
                pending.extend(left.children(a).zip(right.children(b)));
                one.count() == two.count()
            }
            Kind::Object => {
                one.count() == two.count() && pair_members((left, a), (right, b), &mut pending)
            }
        };
        if !same {
            return false;
        }
    }
    true
}

/// A member of an object: its key and its value.
type Member = (u32, u32);

/// Pairs the members of two objects by name; false if a name has no partner.
fn pair_members(
    (left, a): (&Tape<'_>, u32),
    (right, b): (&Tape<'_>, u32),
    pending: &mut Vec<(u32, u32)>,
) -> bool {
    let start = pending.len();
    // Twins are usually written by the same serialiser, in the same order.
    let as_written = left.members(a).zip(right.members(b));
    if pair_in_order(left, right, as_written, pending) {
        return true;
    }
    pending.truncate(start);
    let sorted = |tape: &Tape<'_>, object| {
        let mut members: Vec<Member> = tape.members(object).collect();
        members.sort_unstable_by(|(one, _), (two, _)| by_name(tape, *one, tape, *two));
        members.into_iter()
    };
    let by_name = sorted(left, a).zip(sorted(right, b));
    pair_in_order(left, right, by_name, pending)
}

fn pair_in_order(
    left: &Tape<'_>,
    right: &Tape<'_>,
    mut members: impl Iterator<Item = (Member, Member)>,
    pending: &mut Vec<(u32, u32)>,
) -> bool {
    members.all(|((key, value), (other_key, other_value))| {
        pending.push((value, other_value));
        by_name(left, key, right, other_key) == Ordering::Equal
    })
}

/// Orders keys by fingerprint and then by name, so that a comparison rarely reads the text.
fn by_name(left: &Tape<'_>, a: u32, right: &Tape<'_>, b: u32) -> Ordering {
    let fingerprints = left.node(a).fingerprint().cmp(&right.node(b).fingerprint());
    fingerprints.then_with(|| left.string(a).cmp(&right.string(b)))
}

fn same_number(left: &str, right: &str) -> bool {
    left == right
        || matches!((Number::parse(left), Number::parse(right)), (Some(a), Some(b)) if a == b)
}

/// A number as sign, significant digits and exponent, so that equal values are equal structs.
#[derive(PartialEq, Eq)]
struct Number {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Number {
    /// `None` if the exponent does not fit: such a number equals only its own spelling.
    fn parse(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let mut exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        while digits.last() == Some(&b'0') {
            digits.pop();
            exponent = exponent.checked_add(1)?;
        }
        let leading = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..leading);
        if digits.is_empty() {
            return Some(Self {
                negative: false,
                digits,
                exponent: 0,
            });
        }
        Some(Self {
            negative,
            digits,
            exponent,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_tape::Limits;

    fn same(left: &str, right: &str) -> bool {
        let limits = Limits::default();
        let left = Tape::parse(left.as_bytes(), &limits).unwrap();
        let right = Tape::parse(right.as_bytes(), &limits).unwrap();
        let answer = equal(&left, &right);
        assert_eq!(equal(&right, &left), answer, "not symmetric");
        answer
    }

    #[test]
    fn spelling_does_not_matter() {
        for (left, right) in [
            ("null", " null\n"),
            ("1", "1.0"),
            ("100", "1e2"),
            ("-0", "0.000"),
            ("1.50e-3", "15E-4"),
            ("0e999999999999999999999", "0e999999999999999999999"),
            (r#""é\/""#, r#""\u00e9/""#),
            ("[1,[2,{}]]", "[ 1 , [ 2 , { } ] ]"),
            (r#"{"a":1,"b":[true]}"#, r#"{"b":[true],"\u0061":1.0}"#),
        ] {
            assert!(same(left, right), "{left} / {right}");
        }
    }

    #[test]
    fn meaning_does() {
        for (left, right) in [
            ("null", "false"),
            ("1", "-1"),
            ("1", "10"),
            ("9007199254740993", "9007199254740992"),
            ("1e999999999999999999999", "10e999999999999999999998"),
            ("\"1\"", "1"),
            ("[1,2]", "[2,1]"),
            ("[1]", "[1,1]"),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            (r#"{"a":1,"b":2}"#, r#"{"b":1,"a":2}"#),
            (r#"{"a":1,"c":2}"#, r#"{"b":2,"a":1}"#),
            (r#"{"a":1,"a":1}"#, r#"{"a":1,"a":1}"#),
        ] {
            assert!(!same(left, right), "{left} / {right}");
        }
    }

    #[test]
    fn depth_and_width_are_data() {
        let deep = format!("{}{}", "[".repeat(900), "]".repeat(900));
        assert!(same(&deep, &format!(" {deep}")));
        let member = |i: u32| format!("\"k{i}\":{i}");
        let forward: Vec<String> = (0..5000).map(member).collect();
        let backward: Vec<String> = (0..5000).rev().map(member).collect();
        let object = |members: &[String]| format!("{{{}}}", members.join(","));
        assert!(same(&object(&forward), &object(&backward)));
    }
}
