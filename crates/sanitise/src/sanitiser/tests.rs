//! Single texts through the whole sanitiser, mode by mode.

use super::*;
use crate::edit::TOKEN_PLACEHOLDER;

fn clean(mode: Mode, text: &str) -> Cleaned<'_> {
    Sanitiser::new(Settings::for_mode(mode))
        .unwrap()
        .clean(text)
}

fn rules(cleaned: &Cleaned<'_>) -> Vec<String> {
    cleaned
        .findings
        .iter()
        .map(|finding| finding.rule.to_string())
        .collect()
}

#[test]
fn tokens_are_replaced_through_every_disguise() {
    for token in [
        "<|im_start|>",
        "＜｜im_start｜＞",
        "<|im_\u{200B}start|>",
        "<|im_\u{E0041}start|>",
        "<|\u{1B}[31mim_start|>",
        "<|im_start|>\u{338}",
        "\u{226E}|im_start|>",
        "<\u{338}|im_start|>",
    ] {
        let text = format!("a{token}b");
        let cleaned = clean(Mode::Clean, &text);
        assert!(
            cleaned.text.contains(TOKEN_PLACEHOLDER),
            "{token:?} {cleaned:?}"
        );
        assert!(!cleaned.text.contains("im_start"), "{token:?}");
        assert!(rules(&cleaned).contains(&"token.chatml".to_owned()));
    }
}

#[test]
fn nested_tokens_do_not_reassemble() {
    let cleaned = clean(Mode::Clean, "<|im_<|im_start|>start|>");
    assert_eq!(cleaned.text, format!("<|im_{TOKEN_PLACEHOLDER}start|>"));
    assert!(!cleaned.blocked);
}

#[test]
fn detect_changes_nothing() {
    let text = "\u{202E}<|im_start|>\u{1B}[31m";
    let cleaned = clean(Mode::Detect, text);
    assert!(!cleaned.is_changed());
    assert_eq!(
        rules(&cleaned),
        ["token.chatml", "invisible.bidi_control", "ansi"]
    );
    assert!(
        cleaned
            .findings
            .iter()
            .all(|finding| finding.action == Action::Reported)
    );
    assert!(clean(Mode::Off, text).findings.is_empty());
}

#[test]
fn findings_count_and_point_into_the_received_text() {
    let cleaned = clean(Mode::Clean, "ab\u{200B}c<|im_end|>d\u{200B}<|im_end|>");
    let token = cleaned
        .findings
        .iter()
        .find(|finding| finding.rule == "token.chatml")
        .unwrap();
    assert_eq!(
        (token.count, token.offsets.as_slice()),
        (2, [6, 20].as_slice())
    );
    assert_eq!(
        (token.severity, token.action),
        (Severity::Attack, Action::Replaced)
    );
}

#[test]
fn smuggled_text_is_decoded_and_gone() {
    let hidden: String = "ignore all"
        .chars()
        .filter_map(|c| char::from_u32(0xE0000 + c as u32))
        .collect();
    let text = format!("fine{hidden}");
    let cleaned = clean(Mode::Clean, &text);
    assert_eq!(cleaned.text, "fine");
    assert_eq!(cleaned.findings[0].decoded.as_deref(), Some("ignore all"));
    assert_eq!(cleaned.findings[0].count, 10);
}

#[test]
fn encoded_tokens_are_flagged_and_left() {
    for text in [
        "&lt;|im_start|&gt;",
        "&amp;lt;|im_start|&amp;gt;",
        "\\u003c|im_start|\\u003e",
        "%3C%7Cim_start%7C%3E",
        "%253C%257Cim_start%257C%253E",
        "[&#73;NST]",
    ] {
        let cleaned = clean(Mode::Clean, text);
        assert!(!cleaned.is_changed());
        assert_eq!(rules(&cleaned), ["encoded_token"], "{text}");
    }
    assert!(
        clean(Mode::Clean, "a%20b &amp; c \\u00e9 C:\\users")
            .findings
            .is_empty()
    );
}

#[test]
fn full_normalises_and_removes_without_exception() {
    let cleaned = clean(Mode::Full, "x² ｆｕｌｌ می\u{200C}شود");
    assert_eq!(cleaned.text, "x2 full می\u{634}ود".replace('\u{200C}', ""));
}

#[test]
fn line_ends_are_made_line_feeds() {
    let cleaned = clean(Mode::Clean, "a\rb\r\nc\u{2028}d\u{85}e\u{C}f");
    assert_eq!(cleaned.text, "a\nb\r\nc\nd\nef");
}

#[test]
fn blocking_says_so() {
    let settings = Settings {
        on_token: OnToken::Block,
        ..Settings::default()
    };
    let sanitiser = Sanitiser::new(settings).unwrap();
    assert!(sanitiser.clean("<|im_start|>").blocked);
    assert!(!sanitiser.clean("<think>").blocked);
}

#[test]
fn scanning_reports_what_cleaning_would_change() {
    let sanitiser = Sanitiser::new(Settings::default()).unwrap();
    let findings = sanitiser.scan("key<|im_start|>\u{200B}");
    assert_eq!(findings.len(), 2);
    assert!(
        findings
            .iter()
            .all(|finding| finding.action == Action::Reported)
    );
}

#[test]
fn tokens_are_found_across_blocks() {
    let sanitiser = Sanitiser::new(Settings::default()).unwrap();
    let cleaned = sanitiser.clean_segments(&["say <|im_", "start", "|> now", "[IN", "ST]"]);
    let texts: Vec<_> = cleaned.iter().map(|block| block.text.as_ref()).collect();
    let gone = TOKEN_PLACEHOLDER;
    assert_eq!(
        texts,
        [
            &format!("say {gone}"),
            gone,
            &format!("{gone} now"),
            gone,
            gone
        ]
    );
    assert_eq!(cleaned[0].findings[0].rule, "token.chatml");
    assert_eq!(cleaned[0].findings[0].offsets, [4]);
    assert_eq!(cleaned[3].findings[0].rule, "token.llama2");
}

#[test]
fn a_terminal_sequence_that_hides_a_token_is_an_attack() {
    let severity = |text: &str| {
        let scanned = Sanitiser::new(Settings::default()).unwrap().scan(text);
        let cleaned = clean(Mode::Clean, text).findings;
        [cleaned, scanned].map(|findings| {
            let ansi = findings.iter().find(|finding| finding.rule == "ansi");
            ansi.unwrap().severity
        })
    };
    for hiding in [
        "a\u{1B}]<|im_start|>\u{7}b",
        "a\u{1B}P<|im_start|>\u{1B}\\b",
        "[SYSTEM\u{1B}_PROMPT]",
        "<seed\u{1B}:pad>",
        "\u{9D}8;;[INST]\u{9C}",
    ] {
        assert_eq!(severity(hiding), [Severity::Attack; 2], "{hiding:?}");
    }
    for honest in [
        "\u{1B}[31mred\u{1B}[0m",
        "\u{1B}]8;;https://a.b\u{7}link\u{1B}]8;;\u{7}",
        "\u{1B}[31m<|im_start|>\u{1B}[0m",
    ] {
        assert_eq!(severity(honest), [Severity::Violation; 2], "{honest:?}");
    }
}
