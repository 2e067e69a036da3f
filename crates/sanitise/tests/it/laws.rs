//! Laws that hold for every text: cleaning twice is cleaning once, nothing panics, nothing is copied without need, and
//! no exact token is left. Texts are made of pieces that matter to the crate.

use std::borrow::Cow;
use std::sync::LazyLock;

use countersign_sanitise::{Action, Invisibles, Mode, Normalisation, Sanitiser, Settings};
use proptest::prelude::*;

use crate::oracle::Oracle;
use crate::sanitiser;
use crate::transforms::TRANSFORMS;

/// Pieces that hostile texts are made of.
const PIECES: &[&str] = &[
    "<",
    "|",
    ">",
    "[",
    "]",
    "/",
    "<|",
    "|>",
    "im_start",
    "INST",
    "SYS",
    "e~[",
    "]~b",
    "~",
    "!b[",
    "minimax",
    "DSML",
    "\u{FF5C}",
    "\u{FF1C}",
    "\u{FF1E}",
    "\u{FF3B}",
    "\u{2581}",
    "\u{226E}",
    "\u{226F}",
    "\u{338}",
    "\u{301}",
    "\u{344}",
    "\u{200B}",
    "\u{200C}",
    "\u{200D}",
    "\u{200E}",
    "\u{202E}",
    "\u{2066}",
    "\u{2069}",
    "\u{E0041}",
    "\u{E007F}",
    "\u{1F3F4}",
    "\u{FE0F}",
    "\u{FE00}",
    "\u{E0100}",
    "\u{180B}",
    "\u{115F}",
    "\u{1100}",
    "\u{1161}",
    "\u{3164}",
    "\u{34F}",
    "\u{AD}",
    "\u{1B}",
    "\u{1B}[",
    "\u{1B}]",
    "\u{9B}",
    "\u{9C}",
    "\u{7}",
    "\\",
    "0m",
    "\0",
    "\u{7F}",
    "\u{85}",
    "\u{2028}",
    "\r",
    "\n",
    "\t",
    " ",
    "\u{A0}",
    "\u{3000}",
    "\u{2800}",
    "\u{FDD0}",
    "\u{E000}",
    "\u{FDFA}",
    "\u{FFFD}",
    "&lt;",
    "&#x3c;",
    "&amp;",
    "%3C",
    "%25",
    "\\u003c",
    "untrusted-",
    "</untrusted-0>",
    "Human:",
    "\n\n",
    "\r\n",
    "### Instruction:",
    "問",
    "a",
    "Z",
    "0",
    "ی",
    "ش",
    "א",
    "क",
    "\u{94D}",
    "ष",
    "漢",
    "👩",
    "🔬",
    "❤",
    "(removed: control token)",
    "(removed:",
    "é",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(PIECES).prop_map(str::to_owned),
        2 => any::<char>().prop_map(String::from),
        1 => (0..ORACLE.tokens().len(), 0..TRANSFORMS.len()).prop_map(|(token, transform)| {
            TRANSFORMS[transform].1(&ORACLE.tokens()[token].text)
        }),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// JSON as many writers make it: letters beyond ASCII are escapes.
fn in_ascii(json: &str) -> String {
    let escaped = |c: char| {
        if c.is_ascii() {
            c.to_string()
        } else {
            format!("\\u{:04x}", c as u32)
        }
    };
    json.chars().map(escaped).collect()
}

/// Pieces that ordinary texts share with tokens, so that some texts pass and some do not.
fn calm() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "INST",
        "/INST",
        " ",
        "\n",
        "\n\n",
        "\t",
        "\"",
        "/",
        "[",
        "]",
        "~b",
        "e~[",
        "1,",
        "Human:",
        "Human",
        "### Instruction:",
        "x",
        "\r\n",
        "\\",
        "\u{fc}",
        "\u{c9}t\u{e9}",
        "GPT4 Correct User:",
        "u003c|",
        "x3c",
        "074",
        "@@ Instruction",
        ": ",
        "@@agent@@",
    ];
    let piece = prop::sample::select(pieces.to_vec());
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

static ALL: LazyLock<Vec<Sanitiser>> = LazyLock::new(all_modes);
static ORACLE: LazyLock<Oracle> = LazyLock::new(Oracle::new);

fn all_modes() -> Vec<Sanitiser> {
    let named = Settings {
        families: vec!["textual".into(), "mistral".into(), "laguna".into()],
        extra_tokens: vec!["@@agent@@".into(), "«系统»".into()],
        ..Settings::for_mode(Mode::Full)
    };
    let composed = Settings {
        normalisation: Normalisation::Nfc,
        invisibles: Invisibles::Strict,
        ..Settings::default()
    };
    let mut all: Vec<Sanitiser> = [Mode::Off, Mode::Detect, Mode::Clean, Mode::Full]
        .map(sanitiser)
        .into();
    all.extend([named, composed].map(|settings| Sanitiser::new(settings).expect("valid settings")));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn cleaning_twice_is_cleaning_once(text in hostile()) {
        for sanitiser in &*ALL {
            let once = sanitiser.clean(&text);
            prop_assert!(!once.blocked, "did not settle: {:?}", sanitiser.settings());
            let twice = sanitiser.clean(&once.text);
            prop_assert_eq!(&twice.text, &once.text, "{:?}", sanitiser.settings());
            prop_assert!(!twice.is_changed());
        }
    }

    #[test]
    fn no_exact_token_is_left(texts in prop::collection::vec(hostile(), 1..4)) {
        let oracle = &*ORACLE;
        let blocks: Vec<&str> = texts.iter().map(String::as_str).collect();
        for sanitiser in ALL.iter().skip(2).take(2) {
            let cleaned = sanitiser.clean_segments(&blocks);
            let joined: String = cleaned.iter().map(|block| block.text.as_ref()).collect();
            prop_assert!(oracle.live(&joined).is_none(), "{:?} in {joined:?}", oracle.live(&joined));
            prop_assert!(oracle.live_downstream(&joined).is_none(), "{:?} in {joined:?}", oracle.live_downstream(&joined));
        }
    }

    #[test]
    fn reading_changes_nothing_and_findings_explain_changes(text in hostile()) {
        let detect = ALL[1].clean(&text);
        prop_assert!(matches!(detect.text, Cow::Borrowed(same) if same == text));
        prop_assert!(detect.findings.iter().all(|finding| finding.action == Action::Reported));
        let clean = ALL[2].clean(&text);
        let acted = clean.findings.iter().any(|finding| finding.action != Action::Reported);
        prop_assert_eq!(clean.is_changed(), acted);
        prop_assert_eq!(clean.is_changed(), clean.text != text);
        for finding in &clean.findings {
            prop_assert!(finding.count > 0 && finding.offsets.len() <= 16);
            prop_assert!(finding.offsets.iter().all(|at| text.is_char_boundary(*at)));
        }
    }

    #[test]
    fn what_passes_undecoded_has_nothing_to_find(texts in prop::collection::vec(calm(), 1..4)) {
        let json = serde_json::to_string(&texts).expect("strings");
        let raw: Vec<String> = texts.iter().map(|text| serde_json::to_string(text).expect("a string")).collect();
        let blocks: Vec<&str> = texts.iter().map(String::as_str).collect();
        for sanitiser in ALL.iter().skip(1) {
            let passes = |raw: &String| sanitiser.passes_string(&raw[1..raw.len() - 1]);
            let listed = format!("[{{\"text\":{}}}]", raw.join("},{\"text\":"));
            let forms = [listed.clone(), in_ascii(&listed)];
            let passes_listed = forms.iter().any(|listed| sanitiser.passes_blocks(listed));
            if raw.iter().all(passes) || passes_listed {
                for cleaned in sanitiser.clean_segments(&blocks) {
                    prop_assert!(!cleaned.is_changed() && cleaned.findings.is_empty(), "{texts:?}: {cleaned:?}");
                }
            }
            if sanitiser.passes_json(&json) {
                for text in &texts {
                    prop_assert!(sanitiser.scan(text).is_empty(), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn cutting_stays_within_the_ceiling(text in hostile(), max in 0..80_usize) {
        let settings = Settings { max_text_chars: Some(max), ..Settings::default() };
        let sanitiser = Sanitiser::new(settings).expect("valid settings");
        let (short, finding) = sanitiser.truncate(&text);
        prop_assert!(short.chars().count() <= max);
        prop_assert_eq!(finding.is_some(), text.chars().count() > max);
        prop_assert!(sanitiser.truncate(&short).1.is_none());
    }
}

#[test]
fn plain_text_is_borrowed_and_nothing_is_allocated_for_it() {
    let text =
        "Ordinary prose with a Human: inside, and numbers 1, 2, 3.\r\n\r\nAnd more.\t".repeat(900);
    for mode in [Mode::Detect, Mode::Clean, Mode::Full] {
        let cleaned = sanitiser(mode).clean(&text);
        assert!(matches!(cleaned.text, Cow::Borrowed(_)));
        assert_eq!(cleaned.findings.capacity(), 0);
    }
}
