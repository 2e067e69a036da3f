//! Sets of code points as sorted, disjoint ranges, surrogates included.
//!
//! A pattern may name surrogates and negate them, so the arithmetic runs over every code point; only the conversion to
//! characters drops them. Knows the fixed classes of ECMA-262 and nothing of the syntax that names them.

use regex_syntax::hir::ClassUnicode;

/// The last code point.
const LAST: u32 = 0x0010_FFFF;

/// A set of code points.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CodeSet {
    /// Inclusive, ascending, neither overlapping nor touching.
    ranges: Vec<(u32, u32)>,
}

impl CodeSet {
    /// The set of everything inside any of `ranges`, in any order.
    pub(super) fn new(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Self { ranges: merged }
    }

    pub(super) fn single(code: u32) -> Self {
        Self {
            ranges: vec![(code, code)],
        }
    }

    /// `\d`: ASCII only, also in unicode mode.
    pub(super) fn digit() -> Self {
        Self::new(vec![(0x30, 0x39)])
    }

    /// `\w`: ASCII only, also in unicode mode.
    pub(super) fn word() -> Self {
        Self::new(vec![(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
    }

    /// `\s`: `WhiteSpace` and `LineTerminator` of ECMA-262 (sections 12.2 and 12.3).
    pub(super) fn space() -> Self {
        Self::new(vec![
            (0x09, 0x0D),
            (0x20, 0x20),
            (0xA0, 0xA0),
            (0x1680, 0x1680),
            (0x2000, 0x200A),
            (0x2028, 0x2029),
            (0x202F, 0x202F),
            (0x205F, 0x205F),
            (0x3000, 0x3000),
            (0xFEFF, 0xFEFF),
        ])
    }

    /// `.`: all but the line terminators.
    pub(super) fn dot() -> Self {
        Self::new(vec![(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)]).negated()
    }

    pub(super) fn negated(&self) -> Self {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for &(low, high) in &self.ranges {
            if low > next {
                ranges.push((next, low - 1));
            }
            next = high + 1;
        }
        if next <= LAST {
            ranges.push((next, LAST));
        }
        Self { ranges }
    }

    fn contains(&self, code: u32) -> bool {
        let above = self.ranges.partition_point(|range| range.1 < code);
        self.ranges.get(above).is_some_and(|range| range.0 <= code)
    }

    /// Which ASCII characters are members.
    pub(super) fn ascii(&self) -> [bool; 128] {
        let mut table = [false; 128];
        for (member, code) in table.iter_mut().zip(0..) {
            *member = self.contains(code);
        }
        table
    }

    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// The characters of the set: what is left without the surrogates.
    pub(super) fn chars(&self) -> impl Iterator<Item = (char, char)> + '_ {
        let below = |&(low, high): &(u32, u32)| (low, high.min(0xD7FF));
        let above = |&(low, high): &(u32, u32)| (low.max(0xE000), high);
        self.ranges
            .iter()
            .flat_map(move |range| [below(range), above(range)])
            .filter(|(low, high)| low <= high)
            .filter_map(|(low, high)| Some((char::from_u32(low)?, char::from_u32(high)?)))
    }

    pub(super) fn from_class(class: &ClassUnicode) -> Self {
        Self::new(
            class
                .iter()
                .map(|range| (u32::from(range.start()), u32::from(range.end())))
                .collect(),
        )
    }
}
