//! Lookup of strings by their decoded text: property names and the strings of an `enum`.
//!
//! The tape has already hashed every key, so a lookup is one probe and one comparison. The hash is not keyed, so a
//! hostile schema could make names collide; a table whose probes grow long falls back to binary search.

use countersign_tape::{Tape, fingerprint};

/// Longest probe sequence accepted before the table is given up.
const MAX_PROBES: u32 = 8;

/// An immutable set of strings, each with its index in insertion order.
#[derive(Debug, Default)]
pub(crate) struct Names {
    texts: Vec<Box<str>>,
    prints: Vec<u32>,
    /// Open addressing over `texts`; empty when `sorted` serves instead.
    slots: Vec<u32>,
    /// Indexes ordered by text, used when the table would probe too long.
    sorted: Vec<u32>,
}

const EMPTY: u32 = u32::MAX;

impl Names {
    /// Builds the set. Repeated texts keep their first index.
    pub(crate) fn new(texts: Vec<Box<str>>) -> Self {
        let prints: Vec<u32> = texts
            .iter()
            .map(|text| fingerprint(text.as_bytes()))
            .collect();
        let mut names = Self {
            texts,
            prints,
            slots: Vec::new(),
            sorted: Vec::new(),
        };
        if !names.build_slots() {
            names.slots = Vec::new();
            let mut sorted: Vec<u32> = (0..).take(names.texts.len()).collect();
            sorted.sort_by(|a, b| names.text(*a).cmp(names.text(*b)));
            names.sorted = sorted;
        }
        names
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn text(&self, index: u32) -> &str {
        self.texts.get(index as usize).map_or("", |text| text)
    }

    /// Bytes held, roughly.
    pub(crate) fn memory_usage(&self) -> usize {
        let texts: usize = self
            .texts
            .iter()
            .map(|text| text.len() + size_of_val(text))
            .sum();
        texts + (self.prints.len() + self.slots.len() + self.sorted.len()) * size_of::<u32>()
    }

    fn build_slots(&mut self) -> bool {
        let size = (self.texts.len() * 2).next_power_of_two().max(4);
        self.slots = vec![EMPTY; size];
        let mask = size - 1;
        for (index, print) in (0u32..).zip(&self.prints) {
            let mut slot = *print as usize & mask;
            let mut probes = 0;
            while let Some(taken) = self.slots.get(slot).filter(|taken| **taken != EMPTY) {
                if self.prints.get(*taken as usize) == Some(print) || probes == MAX_PROBES {
                    return false;
                }
                probes += 1;
                slot = (slot + 1) & mask;
            }
            if let Some(free) = self.slots.get_mut(slot) {
                *free = index;
            }
        }
        true
    }

    /// Whether the name at `index` is the text of this key. The cheap guess before a lookup.
    #[inline]
    pub(crate) fn is_key(&self, index: u32, tape: &Tape<'_>, key: u32) -> bool {
        let known = self.prints.get(index as usize);
        known == Some(&tape.node(key).fingerprint()) && self.is(index, tape, key)
    }

    /// Whether the text at `index` is the text of this string or key.
    #[inline]
    pub(crate) fn is(&self, index: u32, tape: &Tape<'_>, string: u32) -> bool {
        let Some(text) = self.texts.get(index as usize) else {
            return false;
        };
        let node = tape.node(string);
        if node.is_escaped() {
            return *tape.string(string) == **text;
        }
        // Inside the quotes. Bytes, because slicing text would look for character boundaries.
        let inside = node.start() as usize + 1..(node.end() as usize).saturating_sub(1);
        same(
            tape.text().as_bytes().get(inside).unwrap_or_default(),
            text.as_bytes(),
        )
    }

    /// The index of a key's text, using the fingerprint the tape made.
    #[inline]
    pub(crate) fn find_key(&self, tape: &Tape<'_>, key: u32) -> Option<u32> {
        if self.texts.is_empty() {
            return None;
        }
        if self.slots.is_empty() {
            return self.find_sorted(&tape.string(key));
        }
        let print = tape.node(key).fingerprint();
        self.probe(print, |index| self.is(index, tape, key))
    }

    /// The index of a string value's text.
    #[inline]
    pub(crate) fn find_string(&self, tape: &Tape<'_>, string: u32) -> Option<u32> {
        if tape.node(string).is_escaped() {
            return self.find(&tape.string(string));
        }
        self.find(tape.raw_string(string))
    }

    /// The index of a decoded text.
    #[inline]
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        if self.texts.is_empty() {
            return None;
        }
        if self.slots.is_empty() {
            return self.find_sorted(text);
        }
        self.probe(fingerprint(text.as_bytes()), |index| {
            self.text(index) == text
        })
    }

    #[inline]
    fn probe(&self, print: u32, same: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = print as usize & mask;
        loop {
            let index = *self.slots.get(slot)?;
            let known = *self.prints.get(index as usize)?;
            if known == print {
                return same(index).then_some(index);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn find_sorted(&self, text: &str) -> Option<u32> {
        self.sorted
            .binary_search_by(|index| self.text(*index).cmp(text))
            .ok()
            .and_then(|place| self.sorted.get(place).copied())
    }
}

/// Equality of short texts without a call: two overlapping words cover up to 16 bytes.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if let (Some((a_first, _)), Some((b_first, _))) =
        (a.split_first_chunk::<8>(), b.split_first_chunk::<8>())
        && let (Some((_, a_last)), Some((_, b_last))) =
            (a.split_last_chunk::<8>(), b.split_last_chunk::<8>())
    {
        let ends = a_first == b_first && a_last == b_last;
        return ends && (a.len() <= 16 || a == b);
    }
    if let (Some((a_first, _)), Some((b_first, _))) =
        (a.split_first_chunk::<4>(), b.split_first_chunk::<4>())
        && let (Some((_, a_last)), Some((_, b_last))) =
            (a.split_last_chunk::<4>(), b.split_last_chunk::<4>())
    {
        return a_first == b_first && a_last == b_last;
    }
    a.iter().eq(b)
}
