//! How two JSON texts differ that should be the same: not at all, in white space, in the order of
//! members, in how numbers are written, or really. Members are compared in levels on a heap, so
//! depth costs no stack.

use std::borrow::Cow;

use countersign_inspect::word_enum;
use countersign_tape::{Kind, Limits, Span, Tape, members};

word_enum! {
    /// How two answers differ.
    #[derive(PartialOrd, Ord)]
    pub enum Difference {
        /// Byte for byte the same.
        Same = "same",
        /// The same but for white space between tokens.
        Spaced = "spaced",
        /// The same members in another order.
        Reordered = "reordered",
        /// Numbers written otherwise, or rounded.
        Renumbered = "renumbered",
        /// Something else.
        Changed = "changed",
    }
}

/// Compares two JSON texts; the worst difference counts.
///
/// ```
/// use countersign_probe::overhead::{Difference, compare};
///
/// assert_eq!(compare(br#"{"a":1,"b":2}"#, br#"{"b":2,"a":1}"#), Difference::Reordered);
/// assert_eq!(compare(b"[9007199254740993]", b"[9007199254740992]"), Difference::Renumbered);
/// ```
pub fn compare(one: &[u8], other: &[u8]) -> Difference {
    if one == other {
        return Difference::Same;
    }
    let limits = Limits {
        max_bytes: usize::MAX,
        max_depth: 1_000_000,
    };
    let (Ok(left), Ok(right)) = (Tape::parse(one, &limits), Tape::parse(other, &limits)) else {
        return Difference::Changed;
    };
    let mut pair = Pair {
        left: &left,
        right: &right,
        open: vec![(0, 0)],
    };
    let mut worst = Difference::Spaced;
    while let Some((left, right)) = pair.open.pop() {
        worst = worst.max(pair.level(left, right));
        if worst == Difference::Changed {
            break;
        }
    }
    worst
}

/// Two texts, and the values of each that are still to be compared.
struct Pair<'a> {
    left: &'a Tape<'a>,
    right: &'a Tape<'a>,
    open: Vec<(u32, u32)>,
}

impl Pair<'_> {
    /// Compares two values but for what is inside them, which is left to be compared.
    fn level(&mut self, left: u32, right: u32) -> Difference {
        let kind = self.left.node(left).kind();
        if kind != self.right.node(right).kind() {
            return Difference::Changed;
        }
        match kind {
            Kind::Object => self.object(left, right),
            Kind::Array => {
                let mut other = self.right.children(right);
                for element in self.left.children(left) {
                    let Some(partner) = other.next() else {
                        return Difference::Changed;
                    };
                    self.open.push((element, partner));
                }
                changed_if(other.next().is_some())
            }
            Kind::Number => numbers(self.left.raw(left), self.right.raw(right)),
            // Another spelling of the same text is a change of bytes, but not of what they say.
            Kind::String => changed_if(self.left.string(left) != self.right.string(right)),
            _ => Difference::Same,
        }
    }

    fn object(&mut self, left: u32, right: u32) -> Difference {
        let (left, right) = (sorted(self.left, left), sorted(self.right, right));
        if left.len() != right.len() {
            return Difference::Changed;
        }
        let mut difference = Difference::Same;
        for ((name, position, value), (other, place, partner)) in left.into_iter().zip(right) {
            if name != other {
                return Difference::Changed;
            }
            if position != place {
                difference = Difference::Reordered;
            }
            self.open.push((value, partner));
        }
        difference
    }
}

fn changed_if(changed: bool) -> Difference {
    if changed {
        Difference::Changed
    } else {
        Difference::Same
    }
}

/// The members of an object by name: the name, its position, its value.
fn sorted<'a>(tape: &'a Tape<'a>, object: u32) -> Vec<(Cow<'a, str>, usize, u32)> {
    let members = tape.members(object).enumerate();
    let mut all: Vec<_> = members
        .map(|(position, (key, value))| (tape.string(key), position, value))
        .collect();
    all.sort();
    all
}

fn numbers(left: &str, right: &str) -> Difference {
    if left == right {
        return Difference::Same;
    }
    let (Ok(one), Ok(other)) = (left.parse::<f64>(), right.parse::<f64>()) else {
        return Difference::Changed;
    };
    // What a number that went through a float may have become.
    let near = (one - other).abs() <= one.abs().max(other.abs()) * 1e-15;
    if near {
        Difference::Renumbered
    } else {
        Difference::Changed
    }
}

/// The members of two result objects that differ.
pub(super) fn members_that_differ(one: &[u8], other: &[u8]) -> Vec<String> {
    type Members = Vec<(String, Vec<u8>)>;
    let all = |text: &[u8]| -> Members {
        let members = members(text, Span::whole(text)).map(|(key, value)| {
            let name = key.string(text).unwrap_or_default().into_owned();
            (name, value.bytes(text).to_vec())
        });
        members.collect()
    };
    let (left, right) = (all(one), all(other));
    let mut names: Vec<String> = Vec::new();
    for member in left.iter().chain(&right) {
        let has = |all: &Members| all.iter().find(|one| one.0 == member.0) == Some(member);
        let is_same = has(&left) && has(&right);
        if !is_same && !names.contains(&member.0) {
            names.push(member.0.clone());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told_apart() {
        for (one, other, expected) in [
            (r#"{"a":1}"#, r#"{"a":1}"#, Difference::Same),
            (r#"{"a":1}"#, r#"{ "a": 1 }"#, Difference::Spaced),
            (
                r#"{"a":1,"b":[2]}"#,
                r#"{"b":[2],"a":1}"#,
                Difference::Reordered,
            ),
            (r#"{"a":1.0}"#, r#"{"a":1}"#, Difference::Renumbered),
            (
                r#"{"b":1.0,"a":2}"#,
                r#"{"a":2,"b":1}"#,
                Difference::Renumbered,
            ),
            (
                "[12345678901234567890]",
                "[12345678901234567000]",
                Difference::Renumbered,
            ),
            ("[1]", "[2]", Difference::Changed),
            ("[1]", "[1,1]", Difference::Changed),
            (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, Difference::Changed),
            (r#"{"a":1}"#, r#"{"a":"1"}"#, Difference::Changed),
            (r#"["x"]"#, r#"["y"]"#, Difference::Changed),
            (r#"{"a":1}"#, "nonsense", Difference::Changed),
        ] {
            let found = compare(one.as_bytes(), other.as_bytes());
            assert_eq!(found, expected, "{one} {other}");
        }
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(50_000), "]".repeat(50_000));
        let found = compare(deep("1.0").as_bytes(), deep("1").as_bytes());
        assert_eq!(found, Difference::Renumbered);
    }

    #[test]
    fn members_that_differ_are_named() {
        let one = br#"{"content":[],"structuredContent":{"a":1},"_meta":{}}"#;
        let other = br#"{"structuredContent":{"a":2},"content":[],"x":1}"#;
        let named = members_that_differ(one, other);
        assert_eq!(named, ["structuredContent", "_meta", "x"]);
    }
}
