//! Seams: a token may be cut in two by the end of one block and the beginning of the next, and grow together when a
//! host joins them. Looks a bounded way to both sides of each seam; on a hit every block loses its part. Seams that are
//! near to each other are looked at together, so that each text is read once however many blocks it comes in.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::edit::Replacement;
use crate::finding::{Action, Key, Tally};
use crate::sanitiser::{Cleaned, Sanitiser};
use crate::settings::{Mode, OnToken};
use crate::walk::match_view;

mod stretch;

use stretch::{Stretch, stretches, tail};

/// Characters looked at on each side.
const REACH: usize = 128;
/// Times a seam is looked at again after a hit.
const ROUNDS: usize = 8;

/// Something that begins in one block and ends in another.
struct Crossing {
    /// Where it stands in the text of the stretch.
    range: Range<usize>,
    key: Key,
    replacement: Replacement,
}

impl Sanitiser {
    /// Cleans the texts of one result together: each as [`clean`](Self::clean) does, then the seams between them.
    pub fn clean_segments<'t>(&self, segments: &[&'t str]) -> Vec<Cleaned<'t>> {
        let mut cleaned: Vec<Cleaned<'t>> = segments.iter().map(|text| self.clean(text)).collect();
        if self.settings().mode != Mode::Off {
            self.close_seams(&mut cleaned);
        }
        cleaned
    }

    fn close_seams(&self, blocks: &mut [Cleaned<'_>]) {
        let mut tallies = BTreeMap::new();
        let mut lefts: Vec<usize> = (0..blocks.len().saturating_sub(1)).collect();
        for round in 0..=ROUNDS {
            lefts.retain(|left| self.matcher.may_begin_in(tail(blocks, *left).1));
            let mut changed = Vec::new();
            // From the end on: one stretch may end and the next begin in the same block.
            for stretch in stretches(blocks, &lefts).iter().rev() {
                if self.close(blocks, stretch, round, &mut tallies) {
                    changed.extend(stretch.blocks());
                }
            }
            if changed.is_empty() {
                break;
            }
            changed.sort_unstable();
            changed.dedup();
            changed.retain(|left| left + 1 < blocks.len());
            lefts = changed;
        }
        for (left, tally) in tallies {
            let findings =
                Tally::into_findings(tally, |index| self.matcher.family(index), |_| None);
            if let Some(block) = blocks.get_mut(left) {
                block.findings.extend(findings);
            }
        }
    }

    /// Takes out what crosses the seams of a stretch; says whether anything changed.
    fn close(
        &self,
        blocks: &mut [Cleaned<'_>],
        stretch: &Stretch,
        round: usize,
        tallies: &mut BTreeMap<usize, Tally>,
    ) -> bool {
        let text = stretch.text(blocks);
        if let Some(first) = stretch
            .blocks()
            .next()
            .and_then(|first| blocks.get_mut(first))
        {
            first.work += text.len() as u64;
        }
        let crossings = self.crossings(stretch, &text);
        let mut changed = false;
        // From the end on, so that what is still to be replaced stays where it is.
        for crossing in crossings.iter().rev() {
            let Some((left, offset)) = stretch.block_offset(crossing.range.start) else {
                continue;
            };
            let tally = tallies.entry(left).or_default();
            tally.later_round |= round > 0;
            tally.add(crossing.key, offset, 1);
            if !crossing.is_acted_on() {
                continue;
            }
            if let Some(block) = blocks.get_mut(left) {
                block.blocked |= round == ROUNDS || self.settings().on_token == OnToken::Block;
            }
            changed = true;
            stretch.replace(blocks, &crossing.range, crossing.replacement.text());
        }
        changed
    }

    /// What crosses a seam of the stretch, in order and without overlaps: hits that share text are one, named after the
    /// widest, and one that is acted on comes before one that is not.
    fn crossings(&self, stretch: &Stretch, text: &str) -> Vec<Crossing> {
        let view = match_view(text);
        let mut all = Vec::new();
        self.matcher.find(&view, |hit| {
            let range = view.start(hit.start)..view.end(hit.end);
            if stretch.crosses(&range) {
                let (key, replacement) = self.matcher.judge(hit, true);
                all.push(Crossing {
                    range,
                    key,
                    replacement,
                });
            }
        });
        all.sort_by_key(|crossing| (crossing.range.start, crossing.range.end));
        let mut merged: Vec<Crossing> = Vec::new();
        for next in all {
            match merged.last_mut() {
                Some(last) if next.range.start < last.range.end => last.merge(next),
                _ => merged.push(next),
            }
        }
        merged
    }
}

impl Crossing {
    fn is_acted_on(&self) -> bool {
        self.key.action == Action::Replaced
    }

    /// Takes in a hit that begins inside this one. Of two that are acted on, both go; otherwise only the one that is.
    fn merge(&mut self, next: Self) {
        match (self.is_acted_on(), next.is_acted_on()) {
            (true, false) => {}
            (false, true) => *self = next,
            _ => {
                if next.range.len() > self.range.len() {
                    (self.key, self.replacement) = (next.key, next.replacement);
                }
                self.range.end = self.range.end.max(next.range.end);
            }
        }
    }
}
