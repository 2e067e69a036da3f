//! What a tape says about a text: kinds, spans, counts, depth, pointers, reports.

use countersign_tape::{Kind, Limits, ScanLimits, Scratch, Tape, fingerprint, scan};
use proptest::prelude::*;
use serde_json::Value;

use crate::document::{Document, document, spaces};

const LIMITS: Limits = Limits {
    max_bytes: usize::MAX,
    max_depth: 1_000_000,
};

fn parse(text: &str) -> Tape<'_> {
    match Tape::parse(text.as_bytes(), &LIMITS) {
        Ok(tape) => tape,
        Err(error) => panic!("{text}: {error}"),
    }
}

#[test]
fn nodes_stand_in_document_order() {
    let text = r#" {"a": [1, 2.5, "x\n"], "é": null, "b": {}} "#;
    let tape = parse(text);
    let kinds: Vec<(Kind, &str)> = (0..tape.len())
        .map(|i| (tape.node(i).kind(), tape.raw(i)))
        .collect();
    assert_eq!(
        kinds,
        [
            (Kind::Object, text.trim()),
            (Kind::Key, "\"a\""),
            (Kind::Array, r#"[1, 2.5, "x\n"]"#),
            (Kind::Number, "1"),
            (Kind::Number, "2.5"),
            (Kind::String, r#""x\n""#),
            (Kind::Key, "\"é\""),
            (Kind::Null, "null"),
            (Kind::Key, "\"b\""),
            (Kind::Object, "{}"),
        ]
    );
    assert_eq!(tape.node(0).count(), 3);
    assert_eq!(tape.node(2).count(), 3);
    assert_eq!(tape.node(2).next(), 6);
    assert!(tape.node(3).is_integer_literal());
    assert!(!tape.node(4).is_integer_literal());
    assert!(tape.node(5).is_escaped() && tape.node(5).is_ascii());
    assert!(!tape.node(6).is_escaped() && !tape.node(6).is_ascii());
    assert_eq!(tape.string(5), "x\n");
    assert_eq!(tape.raw_string(5), r"x\n");
    assert_eq!(tape.node(6).fingerprint(), fingerprint("é".as_bytes()));
    assert_eq!(tape.get(0, "é"), Some(7));
    assert_eq!(tape.get(0, "c"), None);
    assert_eq!(
        tape.members(0).collect::<Vec<_>>(),
        [(1, 2), (6, 7), (8, 9)]
    );
    assert_eq!(tape.children(2).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!(tape.pointer(4), "/a/1");
    assert_eq!(tape.pointer(6), "/é");
}

#[test]
fn scratch_is_reused_after_success_and_failure() {
    let mut scratch = Scratch::default();
    for text in ["[1,2", "[1,2,3]", "{\"a\":{\"b\":", "{\"a\":1}"] {
        if let Ok(tape) = Tape::parse_with(text.as_bytes(), &LIMITS, &mut scratch) {
            assert_eq!(tape.duplicate_keys(), [0_u32; 0]);
            assert_eq!(tape.raw(0), text);
            tape.recycle(&mut scratch);
        }
    }
}

fn deep(opening: &str, closing: &str, levels: usize) -> String {
    format!("{}{}", opening.repeat(levels), closing.repeat(levels))
}

#[test]
fn depth_counts_scalars_and_empty_containers_as_one() {
    for (text, depth) in [
        ("1", 1),
        ("\"x\"", 1),
        ("[]", 1),
        ("{}", 1),
        ("[1]", 2),
        ("[[]]", 2),
        (r#"{"a":{}}"#, 2),
        (r#"{"a":[1],"b":2}"#, 3),
        ("[1,[2,[3]],4]", 4),
    ] {
        assert_eq!(parse(text).depth(), depth, "{text}");
        for max_depth in 0..6 {
            let limits = Limits {
                max_bytes: 100,
                max_depth,
            };
            match Tape::parse(text.as_bytes(), &limits) {
                Ok(_) => assert!(depth <= max_depth, "{text} under {max_depth}"),
                Err(error) => assert!(
                    error.is_too_deep() && depth > max_depth,
                    "{text} under {max_depth}"
                ),
            }
        }
    }
}

#[test]
fn size_is_limited_before_anything_else() {
    let limits = Limits {
        max_bytes: 3,
        max_depth: 10,
    };
    assert!(Tape::parse(b"[1]", &limits).is_ok());
    let error = Tape::parse(b"\xff\xff\xff\xff", &limits).expect_err("four bytes");
    assert!(error.is_too_large() && !error.is_syntax());
}

#[test]
fn great_depth_needs_no_stack() {
    let arrays = deep("[", "]", 100_000);
    let objects = deep(r#"{"a":[{"b":"#, "}]}", 30_000).replace(":}", ":0}");
    let run = move || {
        let tape = parse(&arrays);
        assert_eq!((tape.depth(), tape.len()), (100_000, 100_000));
        assert_eq!(tape.pointer(50_000).len(), 100_000);
        assert_eq!(parse(&objects).depth(), 90_001);
        let limits = Limits {
            max_bytes: usize::MAX,
            max_depth: 64,
        };
        let error = Tape::parse(arrays.as_bytes(), &limits).expect_err("too deep");
        assert!(error.is_too_deep());
        assert_eq!(error.offset(), 63);
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run);
    thread.expect("a thread").join().expect("no overflow");
}

#[test]
fn counts_are_exact() {
    let many = format!("[{}1]", "1,".repeat(99_999));
    let tape = parse(&many);
    assert_eq!((tape.node(0).count(), tape.len()), (100_000, 100_001));
    let nested = parse(r#"[[1,[2,3],{"a":[],"b":{"c":0}},4],5]"#);
    let counts: Vec<u32> = nested
        .nodes()
        .iter()
        .filter(|node| node.kind().is_container())
        .map(|node| node.count())
        .collect();
    assert_eq!(counts, [2, 4, 2, 2, 0, 1]);
}

#[test]
fn lone_surrogates_are_reported_and_replaced() {
    for (raw, decoded, lone) in [
        (r"\ud83d\ude00", "😀", false),
        (r"\uD83D\uDE00", "😀", false),
        (r"\ud800", "\u{fffd}", true),
        (r"\udc00", "\u{fffd}", true),
        (r"\ud800x", "\u{fffd}x", true),
        (r"\ud800\n", "\u{fffd}\n", true),
        (r"\ud800A", "\u{fffd}A", true),
        (r"\ud83d\ud83d\ude00", "\u{fffd}😀", true),
        (r"\ude00\ud83d", "\u{fffd}\u{fffd}", true),
        (r"\ud83d\ude00\ude00", "😀\u{fffd}", true),
        (r"\\ud800", r"\ud800", false),
        (r"\ud7ff\ue000", "\u{d7ff}\u{e000}", false),
    ] {
        let text = format!("[\"{raw}\"]");
        let tape = parse(&text);
        assert_eq!(tape.string(1), decoded, "{raw}");
        assert_eq!(
            tape.lone_surrogates(),
            if lone { &[1][..] } else { &[] },
            "{raw}"
        );
        assert_eq!(tape.node(1).has_lone_surrogate(), lone, "{raw}");
        let keyed = format!("{{\"{raw}\":0}}");
        let tape = parse(&keyed);
        assert_eq!(tape.get(0, decoded), Some(2), "{raw}");
        assert_eq!(
            tape.lone_surrogates(),
            if lone { &[1][..] } else { &[] },
            "{raw}"
        );
    }
}

#[test]
fn surrogate_reports_are_capped() {
    let text = format!("[{}0]", r#""\ud800","#.repeat(40));
    let tape = parse(&text);
    assert_eq!(tape.lone_surrogates(), (1..=16).collect::<Vec<u32>>());
}

#[test]
fn pointers_escape_their_tokens() {
    let tape = parse(r#"{"a/b":[{"c~d":{"":[7]}}],"\u0065":1}"#);
    let seven = (0..tape.len())
        .find(|&i| tape.raw(i) == "7")
        .expect("the element");
    assert_eq!(tape.pointer(seven), "/a~1b/0/c~0d//0");
    assert_eq!(tape.pointer(tape.len() - 1), "/e");
    assert_eq!(tape.pointer(0), "");
}

#[test]
fn fingerprints_are_of_decoded_bytes() {
    let tape = parse(r#"{"\u0069d":"\u0069d","a longer name with a \n":1}"#);
    assert_eq!(tape.node(1).fingerprint(), fingerprint(b"id"));
    assert_eq!(tape.fingerprint(1), fingerprint(b"id"));
    assert_eq!(tape.fingerprint(2), fingerprint(b"id"));
    assert_eq!(
        tape.node(3).fingerprint(),
        fingerprint(b"a longer name with a \n")
    );
}

#[test]
fn walking_the_wrong_kind_yields_nothing() {
    let tape = parse(r#"[{"a":1},"x"]"#);
    assert_eq!(tape.members(0).count(), 0);
    assert_eq!(tape.children(1).count(), 0);
    assert_eq!(tape.children(4).count(), 0);
    assert_eq!(tape.raw_string(1), "");
    assert_eq!(tape.node(4).count(), 0);
}

/// `serde_json`'s view of the same text, for what it can represent.
pub(crate) fn agrees(tape: &Tape<'_>, index: u32, value: &Value) -> bool {
    match value {
        Value::Null => tape.node(index).kind() == Kind::Null,
        Value::Bool(true) => tape.node(index).kind() == Kind::True,
        Value::Bool(false) => tape.node(index).kind() == Kind::False,
        // Its floats are rounded; the text of numbers is compared with the document.
        Value::Number(_) => tape.node(index).kind() == Kind::Number,
        Value::String(text) => tape.string(index) == text.as_str(),
        Value::Array(elements) => {
            let children: Vec<u32> = tape.children(index).collect();
            children.len() == elements.len()
                && children
                    .iter()
                    .zip(elements)
                    .all(|(&child, element)| agrees(tape, child, element))
        }
        Value::Object(members) => {
            tape.members(index)
                .map(|(key, _)| tape.string(key))
                .collect::<std::collections::BTreeSet<_>>()
                .len()
                == members.len()
                && members.iter().all(|(name, value)| {
                    // The last of several wins there.
                    let last = tape
                        .members(index)
                        .filter(|&(key, _)| tape.string(key) == name.as_str())
                        .last();
                    last.is_some_and(|(_, found)| agrees(tape, found, value))
                })
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tape_says_what_was_written(
        document in document(),
        gaps in proptest::collection::vec(spaces(), 1..6),
    ) {
        let text = document.render(&gaps);
        let tape = parse(&text);
        prop_assert_eq!(&Document::read(&tape, 0), &document);
        prop_assert_eq!(tape.depth(), document.depth());
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            prop_assert!(agrees(&tape, 0, &value), "{}", text);
        }
        let envelope = scan(text.as_bytes(), &ScanLimits::default()).expect("the same text");
        prop_assert_eq!(envelope.depth(), document.depth());
        prop_assert_eq!(envelope.root(), tape.node(0).span());
    }
}
