//! The probe: would a token appear if a client or host undid an encoding? Flags only, never rewrites: the text is
//! inert as it stands. Bounded by a budget of bytes and a number of layers, whatever the text.

use crate::escape::{Decoded, escape_at};
use crate::finding::{Action, Key, Rule, Severity};
use crate::matcher::{HitKind, Matcher};
use crate::walk::{Notes, match_view};

/// Encoded bytes looked into, per text.
const BUDGET: usize = 64 * 1024;
/// Layers of encoding undone.
const LAYERS: usize = 3;
/// Bytes around an escape that may belong to the same token.
const REACH: usize = 128;

/// A stretch of text around escapes that are near to each other.
struct Window {
    start: usize,
    end: usize,
    first: usize,
}

/// Looks into the escapes of a text and counts the tokens they would become.
pub(crate) fn probe(text: &str, matcher: &Matcher, notes: &mut Notes) {
    let bytes = text.as_bytes();
    notes.work += bytes.len() as u64;
    let mut budget = BUDGET;
    let mut window: Option<Window> = None;
    for at in memchr::memchr3_iter(b'&', b'\\', b'%', bytes) {
        let escape = escape_at(bytes.get(at..).unwrap_or_default());
        let Some((length, _)) = escape.filter(|(_, c)| !c.is_whitespace()) else {
            continue;
        };
        let start = at.saturating_sub(REACH);
        let end = at + length + REACH;
        match &mut window {
            Some(open) if start <= open.end => open.end = end,
            _ => {
                let done = window.replace(Window {
                    start,
                    end,
                    first: at,
                });
                if let Some(done) = done {
                    probe_window(text, &done, &mut budget, matcher, notes);
                }
            }
        }
        if budget == 0 {
            return;
        }
    }
    if let Some(last) = window {
        probe_window(text, &last, &mut budget, matcher, notes);
    }
}

fn probe_window(
    text: &str,
    window: &Window,
    budget: &mut usize,
    matcher: &Matcher,
    notes: &mut Notes,
) {
    let start = text.ceil_char_boundary(window.start);
    let end = text.floor_char_boundary(window.end.min(start + *budget).min(text.len()));
    let Some(stretch) = text.get(start..end) else {
        return;
    };
    *budget -= stretch.len();
    let mut decoded = Decoded::raw(stretch);
    for _ in 0..LAYERS {
        let Some(next) = decoded.layer() else { return };
        decoded = next;
        notes.work += decoded.text.len() as u64;
        if count(&decoded, window.first, matcher, notes) {
            return;
        }
    }
}

/// Counts the tokens that an escape is part of.
fn count(decoded: &Decoded, offset: usize, matcher: &Matcher, notes: &mut Notes) -> bool {
    let text = decoded.text.as_str();
    let view = match_view(text);
    let mut found = false;
    matcher.find(&view, |hit| {
        let HitKind::Token(label) = hit.kind else {
            return;
        };
        // What would only be flagged in plain sight is not worth a flag in disguise.
        if label.severity > Severity::Info
            && decoded.is_derived(view.start(hit.start), view.end(hit.end))
        {
            found = true;
            let rule = Rule::Encoded(label.family, label.class);
            let key = Key::new(rule, Severity::Violation, Action::Reported);
            notes.tally.add(key, offset, 1);
        }
    });
    found
}
