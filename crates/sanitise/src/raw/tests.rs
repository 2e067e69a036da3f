//! What passes undecoded, and that the block-wise look agrees with the plain one.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::settings::Settings;
use crate::tokens::Tokens;

fn sanitiser() -> &'static Sanitiser {
    static DEFAULT: LazyLock<Sanitiser> =
        LazyLock::new(|| Sanitiser::new(Settings::default()).unwrap());
    &DEFAULT
}

#[test]
fn ordinary_strings_pass_undecoded() {
    let sanitiser = sanitiser();
    for raw in [
        "",
        "plain",
        r"two\nlines\n\nand a \tparagraph",
        r#"[{\"id\":1,\"tags\":[\"a\",\"b\"]},[1,[2]], true]."#,
        r"https:\/\/example.test\/a",
        "System of a down",
        "Human error",
        r#"{\"a\":\"two\\nlines and a \\\"quote\\\"\"}"#,
        r"C:\\dir\\new",
        "caf\u{e9}",
        r"Z\u00fcrich, \u00C5lesund",
    ] {
        assert!(sanitiser.passes_string(raw), "{raw}");
    }
}

#[test]
fn whatever_may_hide_something_does_not_pass() {
    let sanitiser = sanitiser();
    for raw in [
        "<|im_start|>",
        r"\u003c|im_start|\u003e",
        "[INST]",
        r"[\/INST]",
        "x [",
        "x ]",
        "[\\u0049NST]",
        "Human: hello",
        r"text\n\nHuman: hello",
        r"text\n\n\nHuman: hello",
        "cafe\u{301}",
        "caf\u{e9}\u{301}",
        "\u{bf}Qu\u{e9}?",
        "\u{17f}ystem",
        r"\u00bf",
        r"\u0100",
        r"\u00",
        r"\u00g0",
        r"Z\\u00fcrich",
        "100%3C",
        "&lt;",
        r"a\\u003c",
        r"a\\\\u003c",
        r"a\\\u003c",
        r"a\\x3c",
        r"a\\074",
        r"a\rb",
        r"bell\u0007",
        "\u{7f}",
    ] {
        assert!(!sanitiser.passes_string(raw), "{raw}");
    }
}

#[test]
fn json_passes_as_a_whole() {
    let sanitiser = sanitiser();
    assert!(sanitiser.passes_json(r#"{"a":[1,2,["x","y"]],"n":null,"System":"s"}"#));
    for json in [
        r#"{"a":"[INST]"}"#,
        r#"{"[INST]":1}"#,
        r#"["Human: hi"]"#,
        r#"["a\n\nHuman: hi"]"#,
        r#"["a\u006e"]"#,
        r#"["<|im_start|>"]"#,
    ] {
        assert!(!sanitiser.passes_json(json), "{json}");
    }
}

#[test]
fn a_bracket_at_the_end_of_a_block_may_go_on_in_the_next() {
    let sanitiser = sanitiser();
    for json in [r#"[{"text":"a["}]"#, r#"[{"text":"a]"}]"#] {
        assert!(sanitiser.passes_json(json) && !sanitiser.passes_blocks(json));
    }
    assert!(sanitiser.passes_blocks(r#"[{"text":"a[\"b\"]\n"}]"#));
}

#[test]
fn configured_markers_are_never_skipped() {
    let settings = Settings {
        extra_tokens: vec!["BEGIN AGENT".to_owned()],
        ..Settings::default()
    };
    let sanitiser = Sanitiser::new(settings).unwrap();
    assert!(!sanitiser.passes_string("BEGIN AGENT"));
    assert!(!sanitiser.passes_json(r#""BEGIN AGENT""#));
}

/// The same judgement byte by byte, as the block-wise look replaced it.
mod reference {
    use super::super::*;

    pub(super) fn passes(sanitiser: &Sanitiser, bytes: &[u8], extent: Extent) -> bool {
        let matcher = &sanitiser.matcher;
        let text = std::str::from_utf8(bytes).unwrap();
        let is_odd = |c: char| {
            let is_letter = matcher.is_without_latin() && ('\u{C0}'..='\u{FF}').contains(&c);
            c >= '\u{7F}' && !is_letter || matches!(c, '<' | '&' | '%')
        };
        if text.chars().any(is_odd) || matcher.has_plain_literals() {
            return false;
        }
        let starts = (0..bytes.len()).filter(|at| bytes[*at] == b'"');
        let marked = match extent {
            Extent::String => matcher.marks(bytes),
            _ => starts.into_iter().any(|at| matcher.marks(&bytes[at + 1..])),
        };
        !marked && walk(bytes, matcher, extent)
    }

    fn walk(bytes: &[u8], matcher: &Matcher, extent: Extent) -> bool {
        let (mut at, mut lines) = (0, 0);
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let is_line = rest.starts_with(br"\n");
            lines = if is_line { lines + 1 } else { 0 };
            let fails = match rest {
                [b'\\', b'\\', behind @ ..] => is_escape_behind_backslash(behind),
                [b'\\', b'n', behind @ ..] => lines > 1 && matcher.marks(behind),
                [b'\\', b'"' | b't' | b'/', ..] => false,
                [b'\\', b'u', b'0', b'0', high, low, ..] if matcher.is_without_latin() => {
                    !(high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
                        || matches!(high, b'0'..=b'9' | b'a' | b'b' | b'A' | b'B')
                }
                [b'\\', ..] => true,
                [b'[' | b']'] => extent == Extent::String,
                [b'[' | b']', b'"', ..] if extent == Extent::Blocks => true,
                [bracket @ (b'[' | b']'), b'\\', escaped, ..] => {
                    matcher.opens(&[*bracket, *escaped]) || matcher.opens(rest)
                }
                [b'[' | b']', ..] => matcher.opens(rest),
                _ => false,
            };
            if fails {
                return false;
            }
            at += if rest[0] == b'\\' { 2 } else { 1 };
        }
        true
    }
}

fn agrees(sanitiser: &Sanitiser, text: &str) {
    for extent in [Extent::String, Extent::Json, Extent::Blocks] {
        let expected = reference::passes(sanitiser, text.as_bytes(), extent);
        for level in [Level::new(), Level::baseline()] {
            let passes = sanitiser.passes_with(level, text.as_bytes(), extent);
            assert_eq!(passes, expected, "{extent:?}, {level:?}: {text:?}");
        }
    }
}

#[test]
fn every_place_of_a_block_is_judged_alike() {
    let sanitiser = sanitiser();
    let pieces = [
        "\"",
        "\\",
        r"\\",
        r"\\\",
        r"\\u",
        r"\\\\",
        r#"\""#,
        r"\n\nHuman:",
        r"\n\n\nHuman:",
        r"\nHuman:",
        r"\n \nHuman:",
        "\"Human:",
        "\"Human :",
        "\"GPT4 Correct Assistant:",
        "\"@@ Response",
        "\"### Input:",
        "\":Human:",
        "[",
        "]",
        "[INST]",
        r"[\/INST]",
        r#"[\"a\"]"#,
        "[\"",
        "x:y",
        "#",
        "<",
        "%",
        "\u{7f}",
        "\u{e9}",
        "\u{e9}\u{ff}\u{c0}",
        "\u{e9}\u{100}",
        "\u{100}\u{e9}",
        "[\u{e9}",
        r"[\u00e9",
        r"\u00e9",
        r"\u00E9\u00fF",
        r"\u00b9",
        r"\u00c",
        r"\t",
        r"\/",
        r"\r",
        r"\u0041",
    ];
    // Line feeds with a whole block between them are not a blank line.
    let apart = format!(r"\n{}\nHuman:", "a".repeat(64));
    for piece in pieces.into_iter().chain([apart.as_str()]) {
        for before in 0..=130 {
            for after in [0, 1, 2, 63, 64] {
                agrees(
                    sanitiser,
                    &format!("{}{piece}{}", "a".repeat(before), "b".repeat(after)),
                );
            }
        }
    }
}

#[test]
fn tables_of_another_kind_are_judged_alike() {
    let tables = [
        "x\tE\tmarker",
        "x\tE\t:Marker",
        "x\tC\t[[token",
        "x\tC\t]\"token",
        "x\tC\t[,token",
        "x\tC\t]}",
        "x\tE\tSyst\u{e8}me:",
        "x\tC\t[\u{e9}t\u{e9}]",
    ];
    for table in tables {
        let tokens = Tokens::parse(table).unwrap();
        let sanitiser = Sanitiser::with_tokens(Settings::default(), &tokens).unwrap();
        let token = tokens.iter().next().unwrap().text.replace('"', r#"\""#);
        for before in 60..70 {
            let json = format!("{}\"{token}\"", " ".repeat(before));
            agrees(&sanitiser, &json);
            assert!(!sanitiser.passes_json(&json), "{json}");
        }
    }
}

#[test]
fn letters_that_pass_are_inert() {
    use crate::chars::{CharKind, Chars};
    let sanitiser = sanitiser();
    for c in '\u{80}'..=char::MAX {
        let escaped = format!("a\\u{:04x}b", c as u32);
        let escaped_passes = (c as u32) < 0x1_0000 && sanitiser.passes_string(&escaped);
        assert_eq!(
            sanitiser.passes_string(&format!("a{c}b")),
            escaped_passes,
            "{c:?}"
        );
        if escaped_passes {
            assert_eq!(Chars::shared().kind(c), CharKind::Inert, "{c:?}");
        }
    }
}

fn piece() -> impl Strategy<Value = String> {
    const PIECES: [&str; 31] = [
        "\u{fc}",
        "\u{101}",
        r"\u00fc",
        "\\",
        "\\\\",
        "\"",
        "\\\"",
        "\\n",
        "\\n\\n",
        "\\t",
        "\\/",
        "\\u",
        "n",
        "[",
        "]",
        ":",
        "@",
        "#",
        "{",
        "}",
        ",",
        "Human:",
        "Human",
        "INST]",
        "/INST]",
        "USER:",
        "GPT4 Correct User:",
        "### Input:",
        "@@ Response",
        "~b]",
        "a",
    ];
    prop_oneof![
        8 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
        3 => "[a-zA-Z0-9 ]{0,20}",
        1 => "[ -~]{0,3}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn blocks_and_bytes_agree(lead in 0..70_usize, pieces in prop::collection::vec(piece(), 0..40)) {
        agrees(sanitiser(), &format!("{}{}", "a".repeat(lead), pieces.concat()));
    }
}
