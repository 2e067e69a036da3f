//! What a tape says about a text: kinds, spans, counts, depth, pointers, reports.

use countersign_tape::{Kind, Limits, Scratch, Tape, fingerprint};

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
