//! Formats on hand-picked strings, on the official suite when its files are at hand, and on random text, which must never
//! panic.

mod addresses;
mod dates;
mod random;
mod suite;
mod uris;

use super::find_check;

const ALL: [&str; 17] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uri-template",
    "uuid",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

fn has_format(name: &str, text: &str) -> bool {
    find_check(name).expect("a format with a check")(text)
}

fn check(name: &str, valid: &[&str], invalid: &[&str]) {
    for text in valid {
        assert!(has_format(name, text), "{name} should accept {text:?}");
    }
    for text in invalid {
        assert!(!has_format(name, text), "{name} should refuse {text:?}");
    }
}

#[test]
fn names() {
    for name in ALL {
        assert!(find_check(name).is_some(), "{name}");
    }
    for name in ["idn-email", "idn-hostname", "unknown", "", "Date", "int32"] {
        assert!(find_check(name).is_none(), "{name}");
    }
}

#[test]
fn regular_expressions() {
    check("regex", &["", "^a+$", r"\p{L}"], &["(", "a**", r"\"]);
}
