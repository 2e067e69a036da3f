//! One-line texts: whitespace goes, strings and meaning stay.

use std::borrow::Cow;

use countersign_tape::{Limits, Tape, compact};
use proptest::prelude::*;

use crate::document::{Document, document, spaces};

#[test]
fn what_has_no_whitespace_is_borrowed() {
    for text in ["", "1", r#"{"a b":"c\" d"}"#, "[1,2]"] {
        assert!(
            matches!(compact(text.as_bytes()), Cow::Borrowed(_)),
            "{text}"
        );
    }
}

#[test]
fn what_is_not_json_is_kept_from_the_first_bad_string() {
    assert_eq!(&*compact(b" \"a b"), b"\"a b");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_the_gaps_go(document in document(), gaps in proptest::collection::vec(spaces(), 1..6)) {
        let text = format!("\n{}\t", document.render(&gaps));
        let line = compact(text.as_bytes());
        let expected = document.render(&[]);
        prop_assert_eq!(&*line, expected.as_bytes());
        let tape = Tape::parse(&line, &Limits::default()).expect("still JSON");
        prop_assert_eq!(&Document::read(&tape, 0), &document);
    }
}
