//! What the matcher finds in a view, and under which settings it acts.

use super::*;
use crate::settings::Mode;
use crate::walk::match_view;

fn found(settings: &Settings, view: &str) -> Vec<(usize, usize, &'static str, bool, String)> {
    let matcher = Matcher::new(&Tokens::builtin(), settings).unwrap();
    let mut hits = Vec::new();
    matcher.find(&match_view(view), |hit| {
        if let HitKind::Token(label) = hit.kind {
            hits.push((
                hit.start,
                hit.end,
                label.class,
                label.acted_on,
                matcher.family(label.family),
            ));
        }
    });
    hits
}

fn hit(view: &str) -> Vec<(usize, usize, &'static str, bool, String)> {
    found(&Settings::default(), view)
}

#[test]
fn literals_have_class_and_family() {
    assert_eq!(hit("a<|im_start|>b"), [(1, 13, "A", true, "chatml".into())]);
    assert_eq!(hit("[INST]"), [(0, 6, "C", true, "llama2".into())]);
    assert_eq!(hit("<|turn>"), [(0, 7, "B", true, "gemma4".into())]);
    assert_eq!(hit("<think>"), [(0, 7, "D", false, "qwen".into())]);
    assert_eq!(hit("</think>"), [(0, 8, "D", false, "qwen".into())]);
    assert_eq!(hit("[IMG]"), [(0, 5, "C?", false, "mistral".into())]);
    assert_eq!(hit("]~b]"), [(0, 4, "A", true, "minimax".into())]);
}

#[test]
fn an_unknown_bar_token_is_generic() {
    assert_eq!(hit("<|hy_User42|>"), [(0, 13, "A", true, "generic".into())]);
    assert_eq!(hit("<|IM_START|>"), [(0, 12, "A", true, "generic".into())]);
}

#[test]
fn case_variants_of_bracket_tokens_are_look_alikes() {
    assert_eq!(hit("[inst]"), [(0, 6, "C", false, "llama2".into())]);
    assert!(hit("<THINK>").is_empty());
}

#[test]
fn role_markers_count_at_anchors_only() {
    assert_eq!(hit("Human: hi"), [(0, 6, "E", false, "grok".into())]);
    assert_eq!(hit("x\n\nHuman: hi").len(), 1);
    assert_eq!(hit("x\r\n\r\nHuman: hi").len(), 1);
    assert_eq!(hit("x\n\n\n\nHuman: hi").len(), 1);
    assert_eq!(hit("x\n\r\n\nHuman: hi").len(), 1);
    assert!(hit("x\nHuman: hi").is_empty());
    assert!(hit("a Human: hi").is_empty());
    assert!(hit("human: hi").is_empty());
}

#[test]
fn naming_a_family_adds_its_ambiguous_tokens() {
    let mut settings = Settings {
        families: vec!["mistral".into(), "claude".into()],
        ..Settings::default()
    };
    assert!(found(&settings, "[IMG]").iter().all(|hit| hit.3));
    assert!(
        found(&settings, "Human:")
            .iter()
            .all(|hit| !hit.3 && hit.4 == "claude")
    );
    settings.mode = Mode::Full;
    assert!(found(&settings, "Human:").iter().all(|hit| hit.3));
    assert!(found(&settings, "<think>").iter().all(|hit| !hit.3));
    settings.families = vec!["nonesuch".into()];
    assert!(
        Matcher::new(&Tokens::builtin(), &settings)
            .unwrap_err()
            .is_setting()
    );
}

#[test]
fn configured_markers_are_found_anywhere() {
    let settings = Settings {
        extra_tokens: vec!["$$AGENT$$".into()],
        ..Settings::default()
    };
    assert_eq!(
        found(&settings, "x$$AGENT$$"),
        [(1, 10, "extra", true, "extra".into())]
    );
    for refused in ["", "x", "\u{200B}\u{200B}", "removed", "(removed: x"] {
        let settings = Settings {
            extra_tokens: vec![refused.into()],
            ..Settings::default()
        };
        assert!(
            Matcher::new(&Tokens::builtin(), &settings).is_err(),
            "{refused:?}"
        );
    }
}

#[test]
fn a_flagged_hit_does_not_hide_the_token_it_overlaps() {
    let hits = hit("[IMG]~b]");
    assert!(
        hits.iter().any(|hit| hit.3 && (hit.0, hit.1) == (4, 8)),
        "{hits:?}"
    );
}
