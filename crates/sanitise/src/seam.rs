//! Seams: a token may be cut in two by the end of one block and the beginning of the next, and grow together when a
//! host joins them. Looks a bounded way to both sides of each seam; on a hit every block loses its part.

use std::ops::Range;

use crate::edit::{BOUNDARY_PLACEHOLDER, TOKEN_PLACEHOLDER};
use crate::finding::{Action, Key, Rule, Severity, Tally};
use crate::matcher::{Hit, What};
use crate::sanitiser::{Cleaned, Sanitiser};
use crate::settings::{Mode, OnToken};
use crate::view::View;

/// Characters looked at on each side.
const REACH: usize = 128;
/// Times one seam is looked at again after a hit.
const ROUNDS: usize = 8;

/// The text around a seam and the blocks it came from.
struct Window {
    text: String,
    /// Block, range in the block; in order.
    parts: Vec<(usize, Range<usize>)>,
    /// Where the seam is in the text.
    seam: usize,
}

impl Sanitiser {
    /// Cleans the texts of one result together: each as [`clean`](Self::clean) does, then the seams between them.
    pub fn clean_segments<'t>(&self, segments: &[&'t str]) -> Vec<Cleaned<'t>> {
        let mut cleaned: Vec<Cleaned<'t>> = segments.iter().map(|text| self.clean(text)).collect();
        if self.settings().mode != Mode::Off {
            for left in 0..cleaned.len().saturating_sub(1) {
                self.close_seam(&mut cleaned, left);
            }
        }
        cleaned
    }

    fn close_seam(&self, blocks: &mut [Cleaned<'_>], left: usize) {
        let mut tally = Tally::default();
        for round in 0..=ROUNDS {
            if !self.matcher.may_begin_in(tail(blocks, left)) {
                break;
            }
            let window = window(blocks, left);
            let Some((hit, range)) = self.across(&window) else {
                break;
            };
            let rewrites = self.note(hit, start_in(&window, left, range.start), &mut tally);
            if let Some(block) = blocks.get_mut(left) {
                block.work += window.text.len() as u64;
                block.blocked |=
                    round == ROUNDS || (rewrites && self.settings().on_token == OnToken::Block);
            }
            if !rewrites {
                break;
            }
            replace(blocks, &window, &range, hit);
        }
        let findings = tally.into_findings(|index| self.matcher.family(index), |_| None);
        if let Some(block) = blocks.get_mut(left) {
            block.findings.extend(findings);
        }
    }

    /// The widest hit over the seam, one that is acted on before one that is not.
    fn across(&self, window: &Window) -> Option<(Hit, Range<usize>)> {
        let view = View::of(&window.text);
        let mut best: Option<(bool, Hit, Range<usize>)> = None;
        self.matcher.find(&view, |hit| {
            let range = view.start(hit.start)..view.end(hit.end);
            if range.start >= window.seam || range.end <= window.seam {
                return;
            }
            let acted_on = self.acts_on(hit);
            let rank = (acted_on, range.len());
            if best
                .as_ref()
                .is_none_or(|(acted_on, _, range)| (*acted_on, range.len()) < rank)
            {
                best = Some((acted_on, hit, range));
            }
        });
        best.map(|(_, hit, range)| (hit, range))
    }

    fn acts_on(&self, hit: Hit) -> bool {
        match hit.what {
            What::Token(label) => label.acted_on,
            What::Boundary => self.matcher.replaces_boundaries,
        }
    }

    fn note(&self, hit: Hit, offset: usize, tally: &mut Tally) -> bool {
        let rewrites = self.acts_on(hit);
        let (rule, severity) = match hit.what {
            What::Token(label) => (Rule::Token(label.family, label.class), label.severity),
            What::Boundary if rewrites => (Rule::Boundary, Severity::Attack),
            What::Boundary => (Rule::Boundary, Severity::Info),
        };
        let action = if rewrites {
            Action::Replaced
        } else {
            Action::Reported
        };
        tally.add(
            Key {
                rule,
                severity,
                action,
            },
            offset,
            1,
        );
        rewrites
    }
}

/// The last characters of a block.
fn tail<'b>(blocks: &'b [Cleaned<'_>], index: usize) -> &'b str {
    let text = blocks.get(index).map_or("", |block| block.text.as_ref());
    let start = text
        .char_indices()
        .rev()
        .take(REACH)
        .last()
        .map_or(text.len(), |(at, _)| at);
    text.get(start..).unwrap_or_default()
}

/// The text around the seam behind block `left`. Short blocks are passed through to their neighbours.
fn window(blocks: &[Cleaned<'_>], left: usize) -> Window {
    let mut parts = Vec::new();
    let mut room = REACH;
    for (index, block) in blocks.iter().enumerate().take(left + 1).rev() {
        let text = block.text.as_ref();
        let start = text
            .char_indices()
            .rev()
            .take(room)
            .last()
            .map_or(text.len(), |(at, _)| at);
        room -= text.get(start..).map_or(0, |part| part.chars().count());
        parts.push((index, start..text.len()));
        if room == 0 {
            break;
        }
    }
    parts.reverse();
    let seam = parts.iter().map(|(_, range)| range.len()).sum();
    room = REACH;
    for (index, block) in blocks.iter().enumerate().skip(left + 1) {
        let text = block.text.as_ref();
        let end = text
            .char_indices()
            .nth(room)
            .map_or(text.len(), |(at, _)| at);
        room -= text.get(..end).map_or(0, |part| part.chars().count());
        parts.push((index, 0..end));
        if room == 0 {
            break;
        }
    }
    let text = parts
        .iter()
        .filter_map(|(index, range)| blocks.get(*index)?.text.get(range.clone()))
        .collect();
    Window { text, parts, seam }
}

/// Offset in the left block where a hit begins; 0 if it begins in an earlier one.
fn start_in(window: &Window, left: usize, start: usize) -> usize {
    let mut before = 0;
    for (index, range) in &window.parts {
        if *index == left {
            return range.start + start.saturating_sub(before);
        }
        before += range.len();
    }
    0
}

/// Puts a placeholder into every block that has a part of the hit.
fn replace(blocks: &mut [Cleaned<'_>], window: &Window, hit_range: &Range<usize>, hit: Hit) {
    let placeholder = match hit.what {
        What::Token(_) => TOKEN_PLACEHOLDER,
        What::Boundary => BOUNDARY_PLACEHOLDER,
    };
    let mut before = 0;
    for (index, range) in &window.parts {
        let start = hit_range.start.clamp(before, before + range.len()) - before;
        let end = hit_range.end.clamp(before, before + range.len()) - before;
        before += range.len();
        if start < end
            && let Some(block) = blocks.get_mut(*index)
        {
            let part = range.start + start..range.start + end;
            block.text.to_mut().replace_range(part, placeholder);
        }
    }
}
