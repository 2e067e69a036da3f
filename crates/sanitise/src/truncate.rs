//! The ceiling: text longer than it may be is cut between two graphemes and says so. The cut text with its marker
//! is within the ceiling, so cutting twice changes nothing. Runs after classifiers and before the wrapper.

use std::borrow::Cow;

use unicode_segmentation::GraphemeCursor;

use crate::finding::{Action, Finding, Severity};

/// Characters a cut may move back to find a grapheme boundary.
const BACK: usize = 64;

/// Cuts a text to at most `max` characters, marker included.
pub(crate) fn truncate(text: &str, max: usize) -> (Cow<'_, str>, Option<Finding>) {
    if text.len() <= max || text.char_indices().nth(max).is_none() {
        return (Cow::Borrowed(text), None);
    }
    let total = text.chars().count();
    let marker = format!("\n(truncated: {total} characters, {max} allowed)");
    let (room, marker) = match max.checked_sub(marker.chars().count()) {
        Some(room) => (room, marker.as_str()),
        None => (max, ""),
    };
    let cut = boundary_before(text, text.char_indices().nth(room).map_or(0, |(at, _)| at));
    let mut short = String::with_capacity(cut + marker.len());
    short.push_str(text.get(..cut).unwrap_or_default());
    short.push_str(marker);
    let finding = Finding {
        rule: Cow::Borrowed("truncated"),
        class: "",
        family: None,
        count: 1,
        offsets: vec![cut],
        severity: Severity::Info,
        action: Action::Truncated,
        decoded: Some(format!("{total} characters, {max} allowed")),
    };
    (Cow::Owned(short), Some(finding))
}

/// The nearest grapheme boundary at or before `at`. Looks at a bounded stretch only: in an endless pile of marks
/// any place is as good as another.
fn boundary_before(text: &str, at: usize) -> usize {
    let from = text.floor_char_boundary(at.saturating_sub(BACK * 8));
    let to = text.ceil_char_boundary((at + 64).min(text.len()));
    let Some(window) = text.get(from..to) else {
        return at;
    };
    let is_boundary = |at: usize| {
        GraphemeCursor::new(at - from, window.len(), true)
            .is_boundary(window, 0)
            .unwrap_or(true)
    };
    let before = text.get(from..at).unwrap_or_default();
    std::iter::once(at)
        .chain(before.char_indices().rev().map(|(offset, _)| from + offset))
        .take(BACK)
        .find(|at| is_boundary(*at))
        .unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_borrowed() {
        let (text, finding) = truncate("héllo", 5);
        assert!(matches!(text, Cow::Borrowed("héllo")));
        assert_eq!(finding, None);
    }

    #[test]
    fn the_cut_falls_between_graphemes_and_stays_within_the_ceiling() {
        let family = "👩‍👩‍👧‍👦";
        let text = family.repeat(40);
        for max in 0..200 {
            let (short, finding) = truncate(&text, max);
            assert!(short.chars().count() <= max);
            assert_eq!(finding.unwrap().rule, "truncated");
            let kept = short.split('\n').next().unwrap();
            assert_eq!(
                kept.chars().count() % family.chars().count(),
                0,
                "{max}: {short:?}"
            );
            assert_eq!(truncate(&short, max).1, None);
        }
    }

    #[test]
    fn a_pile_of_marks_is_cut_anyway() {
        let text = format!("a{}", "\u{301}".repeat(100_000));
        let (short, _) = truncate(&text, 1000);
        assert!(short.chars().count() > 900);
    }
}
