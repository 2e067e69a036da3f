//! Work grows with the length of the text and with nothing else. Counted in characters and bytes looked at, so the
//! result does not depend on the machine.

use countersign_sanitise::Mode;

use crate::sanitiser;

/// Units an attacker would repeat.
const UNITS: &[&str] = &[
    "<",
    "<|",
    "<|im_",
    "<|im_start|",
    "]<]minimax[>",
    "[",
    "]",
    "[[e~",
    "\u{FF1C}\u{FF5C}",
    "\u{301}",
    "a\u{301}",
    "e\u{200D}\u{338}",
    "\u{200B}",
    "\u{200C}",
    "ی\u{200C}",
    "\u{2066}",
    "א\u{2066}",
    "\u{FE0F}",
    "😀\u{FE0F}\u{200D}",
    "\u{E0041}",
    "\u{1F3F4}\u{E0067}",
    "\u{1B}",
    "\u{1B}]",
    "\u{1B}]8;;",
    "\u{1B}[",
    "\u{9D}",
    "\u{1B}[0000",
    "&lt;",
    "&amp;",
    "\\\\u",
    "%25",
    "%3C%7C",
    "&",
    "\n\n",
    "\n\r\n",
    "\n\nHuman",
    "<untrusted-",
    "</ untrusted-a ",
    "\u{1100}\u{1161}",
    "\u{FDFA}",
    "\u{2028}",
    "\r",
    "\u{E000}",
];

#[test]
fn work_is_proportional_to_length() {
    let mut worst = (0.0, "", Mode::Clean);
    for mode in [Mode::Detect, Mode::Clean, Mode::Full] {
        let sanitiser = sanitiser(mode);
        for unit in UNITS {
            let per_byte = |size: usize| {
                let text = unit.repeat(size / unit.len());
                #[expect(clippy::cast_precision_loss, reason = "a ratio")]
                let ratio = sanitiser.clean(&text).work as f64 / text.len() as f64;
                ratio
            };
            let (small, large) = (per_byte(100_000), per_byte(1_000_000));
            assert!(
                large <= small * 1.05 + 0.5,
                "{mode:?} {unit:?}: {small} then {large}"
            );
            assert!(large < 100.0, "{mode:?} {unit:?}: {large} steps a byte");
            if large > worst.0 {
                worst = (large, unit, mode);
            }
        }
    }
    println!(
        "worst case: {:.1} steps a byte, mode {:?}, {:?} repeated",
        worst.0, worst.2, worst.1
    );
}

#[test]
fn ten_megabytes_of_the_classics() {
    let sanitiser = sanitiser(Mode::Clean);
    for unit in ["<", "\u{301}", "<|im_"] {
        let text = unit.repeat(10_000_000 / unit.len());
        let cleaned = sanitiser.clean(&text);
        assert!(!cleaned.blocked);
        println!(
            "10 MB of {unit:?}: {} steps a byte",
            cleaned.work / text.len() as u64
        );
        assert!(cleaned.work < 60 * text.len() as u64);
    }
}

#[test]
fn many_small_blocks_cost_no_more_than_one() {
    let sanitiser = sanitiser(Mode::Clean);
    let work = |blocks: usize| {
        let texts = vec!["<|i"; blocks];
        let cleaned = sanitiser.clean_segments(&texts);
        cleaned.iter().map(|block| block.work).sum::<u64>() / blocks as u64
    };
    assert!(work(20_000) <= work(200) + 1);
}

/// Each character around a seam is looked at once, however many seams are near: pieces of one to three characters cost a
/// few steps a byte, whether they make up tokens or only could begin one.
#[test]
fn tokens_in_many_tiny_blocks_cost_a_few_steps_a_byte() {
    let sanitiser = sanitiser(Mode::Clean);
    for (pieces, is_token) in [
        (&["<|a", "|>"][..], true),
        (&["<", "|", "a", "|", ">"], true),
        (&["<|a", "", "|>", ""], true),
        (&["<"], false),
        (&["<|i", "x"], false),
    ] {
        let texts = pieces.repeat(5_000);
        let bytes: u64 = texts.iter().map(|text| text.len() as u64).sum();
        let cleaned = sanitiser.clean_segments(&texts);
        if is_token {
            assert!(cleaned.iter().all(|block| !block.text.contains('<')));
        }
        let work: u64 = cleaned.iter().map(|block| block.work).sum();
        assert!(work < 30 * bytes, "{} steps a byte", work / bytes);
    }
}
