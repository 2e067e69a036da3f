//! Any bytes as texts of one result: cleaning settles, cleaning twice is cleaning once, what passes undecoded has nothing
//! to find, and a wrapped text has one pair of boundaries.

#![no_main]

use std::sync::LazyLock;

use countersign_sanitise::{Attribution, Mode, Nonce, Sanitiser, Settings};
use libfuzzer_sys::fuzz_target;

static MODES: LazyLock<Vec<Sanitiser>> = LazyLock::new(|| {
    let modes = [Mode::Detect, Mode::Clean, Mode::Full].map(Settings::for_mode);
    let sanitisers = modes.map(|settings| Sanitiser::new(settings).expect("defaults compile"));
    sanitisers.into()
});

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let blocks: Vec<&str> = text.split('\u{1e}').collect();
    for sanitiser in MODES.iter() {
        let cleaned = sanitiser.clean(text);
        assert!(!cleaned.blocked, "the text does not settle");
        assert!(!sanitiser.clean(&cleaned.text).is_changed(), "cleaning twice differs");
        let quoted = serde_json::to_string(text).expect("a string");
        if sanitiser.passes_string(&quoted[1..quoted.len() - 1]) {
            assert!(!cleaned.is_changed() && cleaned.findings.is_empty(), "something passed undecoded");
        }
        for block in sanitiser.clean_segments(&blocks) {
            assert!(!block.blocked, "a seam does not settle");
        }
        let (short, _) = sanitiser.truncate(&cleaned.text);
        let from = Attribution { server: text, tool: text };
        if let Ok(wrapped) = sanitiser.wrap(&short, &from, Nonce::new([0x5a; 16])) {
            let tag = format!("untrusted-{}", "5a".repeat(16));
            assert_eq!(wrapped.matches(&tag).count(), 2, "more than one boundary pair");
        }
    }
});
