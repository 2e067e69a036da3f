//! What is refused, and with which reason.

use super::{PatternError, PatternLimits, compile};
use crate::pattern::Pattern;

fn refusal(source: &str) -> PatternError {
    match compile(source) {
        Ok(_) => panic!("{source:?} compiles"),
        Err(error) => error,
    }
}

#[test]
fn syntax_errors_say_where() {
    let cases = [
        ("a**", 2, "nothing to repeat"),
        ("*a", 0, "nothing to repeat"),
        ("a|+", 2, "nothing to repeat"),
        ("(?:?)", 3, "nothing to repeat"),
        ("^*", 1, "nothing to repeat"),
        (r"\b+", 2, "nothing to repeat"),
        ("{2}", 0, "nothing to repeat"),
        ("a{2}{3}", 4, "nothing to repeat"),
        ("é{2,1}", 2, "repetition counts out of order"),
        ("(a", 2, "unclosed group"),
        ("a)", 1, "unmatched parenthesis"),
        ("[a", 0, "unclosed class"),
        (r"[a\]", 0, "unclosed class"),
        ("x[z-a]", 2, "range out of order"),
        (r"[\u{1F432}-a]", 1, "range out of order"),
        ("(?i)a", 0, "unknown kind of group"),
        ("(?P<n>a)", 0, "unknown kind of group"),
        ("(?#a)", 0, "unknown kind of group"),
        ("(?<>a)", 0, "malformed group name"),
        ("(?<1a>a)", 0, "malformed group name"),
        ("(?<n", 0, "malformed group name"),
        ("a\\", 1, "lone backslash"),
        (r"\a", 0, "unknown escape"),
        (r"^\A", 1, "unknown escape"),
        (r"\Z", 0, "unknown escape"),
        (r"\z", 0, "unknown escape"),
        (r"\é", 0, "unknown escape"),
        (r"[\B]", 1, "unknown escape"),
        (r"[\1]", 1, "unknown escape"),
        (r"\01", 0, "octal escape"),
        (r"\c1", 0, "malformed \\c escape"),
        (r"\c", 0, "malformed \\c escape"),
        (r"\x4", 0, "malformed \\x escape"),
        (r"\xé1", 0, "malformed \\x escape"),
        (r"\u004", 0, "malformed \\u escape"),
        (r"\u{110000}", 0, "malformed \\u escape"),
        (r"\u{}", 0, "malformed \\u escape"),
        (r"\u{41", 0, "malformed \\u escape"),
        (r"\u{+41}", 0, "malformed \\u escape"),
        (r"\pL", 0, "malformed property escape"),
        (r"\p{L", 0, "malformed property escape"),
    ];
    for (source, offset, what) in cases {
        assert_eq!(
            refusal(source),
            PatternError::Syntax { offset, what },
            "{source:?}"
        );
    }
}

#[test]
fn what_no_linear_engine_offers_is_named() {
    for (source, offset) in [("a(?=b)", 1), ("(?!b)", 0), ("(?<=b)", 0), ("(?<!b)", 0)] {
        assert_eq!(refusal(source), PatternError::LookAround { offset });
    }
    for (source, offset) in [(r"(a)\1", 3), (r"(?<n>a)\k<n>", 7), (r"\9", 0)] {
        assert_eq!(refusal(source), PatternError::BackReference { offset });
    }
}

#[test]
fn unknown_properties_are_named() {
    for source in [
        r"\p{Foo}",
        r"\p{}",
        r"\p{Greek}",
        r"\p{Age=6.0}",
        r"\p{Script=Foo}",
        r"\p{^L}",
        r"\p{L=}",
        r"\p{L l}",
        r"[\p{Foo}]",
        r"\P{gc=Greek}",
        r"\p{sc=L=u}",
    ] {
        let offset = usize::from(source.starts_with('['));
        assert_eq!(
            refusal(source),
            PatternError::UnknownProperty { offset },
            "{source:?}"
        );
    }
}

#[test]
fn limits_are_named() {
    assert_eq!(
        refusal(&"a".repeat(1025)),
        PatternError::TooLarge { what: "length" }
    );
    assert!(compile(&"a".repeat(1024)).is_ok());
    let nested = |depth: usize| format!("{}{}", "(".repeat(depth), ")".repeat(depth));
    assert!(compile(&nested(50)).is_ok());
    assert_eq!(
        refusal(&nested(51)),
        PatternError::TooLarge { what: "nesting" }
    );
    assert_eq!(
        refusal("(?:a{1000}b){1000}"),
        PatternError::TooLarge {
            what: "compiled size"
        }
    );
}

#[test]
fn nesting_cannot_be_lifted_out_of_reach() {
    let limits = PatternLimits {
        max_bytes: usize::MAX,
        max_nesting: usize::MAX,
        ..PatternLimits::default()
    };
    let nested = |depth: usize| format!("{}a{}", "(?:b|c".repeat(depth), ")+".repeat(depth));
    assert!(Pattern::compile(&nested(100), &limits).is_ok());
    assert_eq!(
        Pattern::compile(&nested(101), &limits).err(),
        Some(PatternError::TooLarge { what: "nesting" })
    );
}

#[test]
fn messages_never_repeat_the_pattern() {
    for source in [
        "(?=zebra)",
        r"(zebra)\1",
        r"\p{zebra}",
        "[zebra-Z]",
        "(?:zebra",
    ] {
        let message = refusal(source).to_string();
        assert!(!message.contains("zebra"), "{message}");
        assert!(message.contains("byte"), "{message}");
    }
    assert_eq!(
        refusal("a**").to_string(),
        "invalid pattern: nothing to repeat at byte 2"
    );
}
