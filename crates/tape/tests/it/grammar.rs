//! What is JSON and what is not, for the tape and the scanner alike.

use countersign_tape::{Limits, ScanLimits, Tape, scan};
use proptest::prelude::*;
use serde::de::IgnoredAny;

use crate::document::{document, spaces};

const LIMITS: Limits = Limits {
    max_bytes: usize::MAX,
    max_depth: 1_000_000,
};

/// The verdict of both readers, which must be the same.
fn accepts(bytes: &[u8]) -> bool {
    let tape = Tape::parse(bytes, &LIMITS);
    let envelope = scan(bytes, &ScanLimits::default());
    assert_eq!(
        tape.as_ref().map(|_| ()),
        envelope.as_ref().map(|_| ()),
        "the tape and the scanner disagree"
    );
    if let Err(error) = &tape {
        assert!(error.offset() <= bytes.len());
        assert!(error.is_syntax() || error.is_not_utf8());
    }
    tape.is_ok()
}

#[test]
fn valid_texts_are_accepted() {
    for text in [
        "0",
        "-0",
        "1",
        "-1",
        "10",
        "1.0",
        "1.05",
        "1e5",
        "1E5",
        "1e+5",
        "1e-5",
        "1.5e300",
        "-0.0e-0",
        "1e999999999",
        "123456789012345678901234567890",
        "null",
        "true",
        "false",
        "\"\"",
        "\"a\"",
        r#""\"\\\/\b\f\n\r\t\u0041\uD83D\uDE00""#,
        r#""\ud800""#,
        r#""\udc00x""#,
        "\"\u{7f}\u{2028}\"",
        "[]",
        "[ ]",
        "[1]",
        "[1,2]",
        "[ 1 , 2 ]",
        "[[],{}]",
        "{}",
        "{ }",
        r#"{"":0}"#,
        r#"{"a":1,"a":2}"#,
        " \t\r\n1 \t\r\n",
        "\t[\n1\r,\t2 ]",
        r#"{ "a" : { "b" : [ ] } }"#,
        "\"日本語\"",
        "\"\u{10ffff}\"",
    ] {
        assert!(accepts(text.as_bytes()), "{text}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn invalid_texts_are_refused() {
    for text in [
        "",
        " ",
        "01",
        "-",
        "-a",
        "+1",
        ".5",
        "1.",
        "1.e5",
        "1e",
        "1e+",
        "00",
        "-01",
        "0x10",
        "1_000",
        "NaN",
        "Infinity",
        "-Infinity",
        "nul",
        "nulll",
        "True",
        "tru",
        "fals",
        "falsey",
        "'a'",
        "\"",
        "\"a",
        "\"\\\"",
        "\"\t\"",
        "\"\n\"",
        "\"\0\"",
        "\"\u{1f}\"",
        "\"12345678\u{1f}\"",
        r#""\x41""#,
        r#""\u12""#,
        r#""\u12G4""#,
        r#""\U0041""#,
        r#""\"#,
        r#""\u"#,
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1,,2]",
        "[}",
        "{]",
        "{",
        "}",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "{\"a\"::1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\"}",
        "[\"a\":1]",
        "{\"a\",1}",
        "1 2",
        "[] []",
        "{}x",
        "null,",
        "\u{feff}1",
        "\u{a0}1",
        "\u{c}1",
        "\u{b}1",
        "// c\n1",
        "/* c */1",
        "[1]\0",
        "\\",
        "\"a\\",
        "[1}",
        "{\"a\":1]",
        "[[1]",
        "[1]]",
    ] {
        assert!(!accepts(text.as_bytes()), "{text:?}");
    }
}

#[test]
fn invalid_utf8_is_told_apart() {
    for bytes in [
        &b"\"\xff\""[..],
        b"\"\xc0\x80\"",
        b"\"\xed\xa0\x80\"",
        b"\"\xf4\x90\x80\x80\"",
        b"\"abc\xe2\x82",
        b"\xff",
    ] {
        let error = Tape::parse(bytes, &LIMITS).expect_err("not UTF-8");
        assert!(error.is_not_utf8() && !error.is_syntax(), "{bytes:?}");
        assert!(
            scan(bytes, &ScanLimits::default())
                .expect_err("not UTF-8")
                .is_not_utf8()
        );
    }
}

#[test]
fn every_prefix_of_a_text_is_refused() {
    let text = r#"{"a":[1.5e3,"x\u00e9\n",{"b":null,"c":[true,false,{}]}],"d":"0123456789abcdef"}"#;
    assert!(accepts(text.as_bytes()));
    for end in 0..text.len() {
        assert!(!accepts(&text.as_bytes()[..end]), "{}", &text[..end]);
    }
}

#[test]
fn a_special_byte_is_found_at_every_place() {
    for length in 0..40 {
        for place in 0..=length {
            let mut inside = vec![b'a'; length];
            inside.insert(place, 0x1f);
            let control = [&b"\""[..], &inside, b"\""].concat();
            let error = Tape::parse(&control, &LIMITS).expect_err("a control character");
            assert_eq!(error.offset(), place + 1);
            inside[place] = b'"';
            let quote = [&b"\""[..], &inside, b"\""].concat();
            assert!(!accepts(&quote));
            inside.splice(place..=place, "é".bytes());
            let accent = [&b"\""[..], &inside, b"\""].concat();
            let tape = Tape::parse(&accent, &LIMITS).expect("a string");
            assert!(!tape.node(0).is_ascii() && !tape.node(0).is_escaped());
            inside.splice(place..place + 2, *b"\\\\");
            let escape = [&b"\""[..], &inside, b"\""].concat();
            let tape = Tape::parse(&escape, &LIMITS).expect("a string");
            assert!(tape.node(0).is_ascii() && tape.node(0).is_escaped());
        }
    }
}

fn oracle(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

/// Pieces that make texts which are nearly JSON.
fn near_json() -> impl Strategy<Value = Vec<u8>> {
    let piece = proptest::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\"a\"", "\"b\":", "1", "-", "0", ".5", "e3",
        "E+", "null", "true", "false", " ", "\n", "\\u00e9", "\\ud83d", "\u{1}", "é", "12", "\\n",
        "/", "[1,", "{\"k\":",
    ]);
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn near_json_is_judged_as_the_oracle_does(bytes in near_json()) {
        prop_assert_eq!(accepts(&bytes), oracle(&bytes));
    }

    #[test]
    fn any_bytes_are_judged_as_the_oracle_does(bytes in proptest::collection::vec(any::<u8>(), 0..24)) {
        prop_assert_eq!(accepts(&bytes), oracle(&bytes));
    }

    #[test]
    fn mutated_texts_are_judged_as_the_oracle_does(
        document in document(),
        gaps in proptest::collection::vec(spaces(), 1..6),
        place in any::<proptest::sample::Index>(),
        byte in prop_oneof![any::<u8>(), proptest::sample::select(b"{}[],:\"\\0-.eE tfn".to_vec())],
        action in 0..3_u8,
    ) {
        let mut bytes = document.render(&gaps).into_bytes();
        prop_assert!(accepts(&bytes));
        let at = place.index(bytes.len());
        match action {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            _ => { bytes.remove(at); }
        }
        prop_assert_eq!(accepts(&bytes), oracle(&bytes));
    }
}

/// The scanner reads long strings in blocks, so what is special is tried at every place of two of them, alone and next
/// to what the blocks pass over.
#[test]
fn long_strings_are_read_alike_wherever_something_stands() {
    let pieces = [
        r#"\""#,
        r"\\",
        r"\n",
        r"\t",
        r"\u00e9",
        r"\ud83d\ude00",
        r#"\\\""#,
        r#"\"\""#,
        r"\\\\",
        r"\n\\",
        "é",
        "\u{7f}",
        "\"",
        "\\",
        "\u{1}",
        "\n",
        r"\x",
        r"\u12",
        r"\ud800",
        r#"\\""#,
    ];
    for crowd in ["plain text ", r#"\"k\":\"v\","#, r"a\nb\n", "日本"] {
        for place in 0..140 {
            let before: String = crowd.chars().cycle().take(place).collect();
            if before.ends_with('\\') && !before.ends_with(r"\\") {
                continue;
            }
            for piece in pieces {
                let text = format!("[\"{before}{piece}{}\", 1]", crowd.repeat(8));
                reads_like_serde(&text);
            }
        }
    }
}

fn reads_like_serde(text: &str) {
    let read = Tape::parse(text.as_bytes(), &Limits::default());
    // A lone surrogate is JSON all the same; what it decodes to is our own choice.
    let strict = text.replace(r"\ud800", r"\ufffd");
    let Ok(expected) = serde_json::from_str::<Vec<serde_json::Value>>(&strict) else {
        assert!(read.is_err(), "{text}");
        return;
    };
    let tape = read.unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(Some(&*tape.string(1)), expected[0].as_str(), "{text}");
    let node = tape.node(1);
    let raw = tape.raw_string(1);
    assert_eq!(node.is_escaped(), raw.contains('\\'), "{text}");
    assert_eq!(node.is_ascii(), raw.is_ascii(), "{text}");
    assert_eq!(node.has_lone_surrogate(), raw.contains(r"\ud800"), "{text}");
}
