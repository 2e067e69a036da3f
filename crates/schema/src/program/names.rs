//! Lookup of strings by their decoded text: property names and the strings of an `enum`.
//!
//! The tape has already hashed every key, so a lookup is one probe and one comparison. The hash is not keyed, so a
//! hostile schema could make names collide; a table whose probes grow long falls back to binary search.

use countersign_tape::{NameTag, Tape, fingerprint};

use super::Target;

/// Longest probe sequence accepted before the table is given up.
const MAX_PROBES: u32 = 8;

/// An immutable set of strings, each with its index in insertion order.
#[derive(Debug, Default)]
pub(crate) struct Names {
    entries: Vec<Entry>,
    /// The texts one after another.
    texts: String,
    /// Open addressing over `entries`; empty when `sorted` serves instead.
    slots: Vec<u32>,
    /// Indexes ordered by text, used when the table would probe too long.
    sorted: Vec<u32>,
}

/// One text. Most are short enough to be compared without leaving the entry.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The first bytes as a little-endian number, zeros where the text is shorter.
    head: u128,
    /// Of a short text, what a key of that name has.
    tag: NameTag,
    print: u32,
    length: u32,
    /// Where the text starts in `texts`.
    start: u32,
    /// A short text as JSON usually spells it as a name: in quotes, with a colon behind it. [`UNSPELT`] for others.
    spelling: [u64; 2],
    /// What a member of this name meets, once that is known.
    target: Target,
}

/// No spelling: a byte of only ones stands in no UTF-8, so this differs from every text.
const UNSPELT: [u64; 2] = [u64::MAX; 2];

const EMPTY: u32 = u32::MAX;
const HEAD: usize = 16;
/// Up to so many strings are looked through one by one.
const FEW: usize = 16;

/// For each length the bits of a head that a text of that length fills.
const MASKS: [u128; HEAD + 1] = {
    let mut masks = [0; HEAD + 1];
    let mut length = 1;
    while length <= HEAD {
        masks[length] = u128::MAX >> (8 * (HEAD - length));
        length += 1;
    }
    masks
};

/// Bytes of half a head.
const WORD: usize = HEAD / 2;

/// The same masks, in two halves.
const SPELLING_MASKS: [[u64; 2]; HEAD + 1] = {
    let mut halves = [[0; 2]; HEAD + 1];
    let mut length = 0;
    while length <= HEAD {
        halves[length] = words(MASKS[length]);
        length += 1;
    }
    halves
};

/// The two halves of a head.
const fn words(head: u128) -> [u64; 2] {
    #[expect(clippy::cast_possible_truncation, reason = "the other half comes next")]
    let low = head as u64;
    [low, (head >> 64) as u64]
}

impl Names {
    /// Builds the set. Repeated texts keep their first index.
    pub(crate) fn new(texts: &[Box<str>]) -> Self {
        let mut names = Self::default();
        for text in texts {
            let entry = Entry {
                head: head(text.as_bytes()),
                tag: NameTag::from_name(text).unwrap_or(NameTag::NONE),
                print: fingerprint(text.as_bytes()),
                length: u32::try_from(text.len()).unwrap_or(EMPTY),
                start: u32::try_from(names.texts.len()).unwrap_or(EMPTY),
                spelling: spelling(text),
                target: Target::NONE,
            };
            names.entries.push(entry);
            names.texts.push_str(text);
        }
        if !names.build_slots() {
            names.slots = Vec::new();
            let mut sorted: Vec<u32> = (0..).take(names.entries.len()).collect();
            sorted.sort_by(|a, b| names.text(*a).cmp(names.text(*b)));
            names.sorted = sorted;
        }
        names
    }

    /// Sets what the members of these names meet, in their order.
    pub(crate) fn set_targets(&mut self, targets: impl Iterator<Item = Target>) {
        for (entry, target) in self.entries.iter_mut().zip(targets) {
            entry.target = target;
        }
    }

    /// Gives back the room that it has for growing.
    pub(super) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
        self.texts.shrink_to_fit();
        self.sorted.shrink_to_fit();
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn text(&self, index: u32) -> &str {
        let entry = self.entries.get(index as usize);
        entry.map_or("", |entry| self.text_of(entry))
    }

    fn text_of(&self, entry: &Entry) -> &str {
        let start = entry.start as usize;
        let text = self.texts.get(start..start + entry.length as usize);
        text.unwrap_or_default()
    }

    /// Bytes held, roughly.
    pub(crate) fn memory_usage(&self) -> usize {
        self.texts.len()
            + size_of_val(self.entries.as_slice())
            + (self.slots.len() + self.sorted.len()) * size_of::<u32>()
    }

    fn build_slots(&mut self) -> bool {
        let size = (self.entries.len() * 2).next_power_of_two().max(4);
        self.slots = vec![EMPTY; size];
        let mask = size - 1;
        for (index, entry) in (0u32..).zip(&self.entries) {
            let mut slot = first_slot(entry.print, size);
            let mut probes = 0;
            while let Some(taken) = self.slots.get(slot).filter(|taken| **taken != EMPTY) {
                let known = self.entries.get(*taken as usize).map(|known| known.print);
                if known == Some(entry.print) || probes == MAX_PROBES {
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

    /// Whether a text begins with the name of this index and its colon, spelt as usual. If so, how long both are, and what
    /// the member meets.
    #[expect(clippy::inline_always, reason = "the innermost step of reading")]
    #[inline(always)]
    pub(crate) fn recognise(&self, index: u32, rest: &[u8]) -> Option<(usize, &Target)> {
        let entry = self.entries.get(index as usize)?;
        let [low, high] = words(u128::from_le_bytes(*rest.first_chunk()?));
        let length = entry.length as usize + PUNCTUATION;
        let [low_mask, high_mask] = *SPELLING_MASKS.get(length)?;
        // Most spellings are short, and end in the first word.
        let differs = (low ^ entry.spelling[0]) & low_mask != 0
            || length > WORD && (high ^ entry.spelling[1]) & high_mask != 0;
        (!differs).then_some((length, &entry.target))
    }

    /// What a member of this name meets.
    #[inline]
    pub(crate) fn target(&self, index: u32) -> Option<&Target> {
        self.entries.get(index as usize).map(|entry| &entry.target)
    }

    /// Which name a key is, and what its member meets. Objects of one kind usually spell their members in the same
    /// order, so the caller's guess is looked at first.
    #[expect(clippy::inline_always, reason = "the innermost step of validation")]
    #[inline(always)]
    pub(crate) fn locate(&self, guess: u32, tape: &Tape<'_>, key: u32) -> Option<(u32, &Target)> {
        let node = tape.node(key);
        if let Some(entry) = self.entries.get(guess as usize)
            && (node.tag() == entry.tag
                || entry.tag == NameTag::NONE
                    && node.is_plain_key(entry.print)
                    && self.same_unescaped(entry, tape, key))
        {
            return Some((guess, &entry.target));
        }
        // Most short names are where their search begins.
        let home = first_slot(node.fingerprint(), self.slots.len());
        if let Some(&index) = self.slots.get(home)
            && let Some(entry) = self.entries.get(index as usize)
            && entry.tag == node.tag()
        {
            return Some((index, &entry.target));
        }
        let index = self.find_key(tape, key)?;
        let entry = self.entries.get(index as usize)?;
        Some((index, &entry.target))
    }

    /// Whether an entry is the text of this string or key.
    #[inline]
    fn same(&self, entry: &Entry, tape: &Tape<'_>, string: u32) -> bool {
        if tape.node(string).is_escaped() {
            return self.same_by_text(entry, tape, string);
        }
        self.same_unescaped(entry, tape, string)
    }

    #[inline]
    fn same_unescaped(&self, entry: &Entry, tape: &Tape<'_>, string: u32) -> bool {
        match short(tape, string) {
            Some((length, head)) => entry.length == length && entry.head == head,
            None => self.same_by_text(entry, tape, string),
        }
    }

    #[inline(never)]
    fn same_by_text(&self, entry: &Entry, tape: &Tape<'_>, string: u32) -> bool {
        *tape.string(string) == *self.text_of(entry)
    }

    /// The index of a key's text, using the fingerprint the tape made.
    #[inline(never)]
    pub(crate) fn find_key(&self, tape: &Tape<'_>, key: u32) -> Option<u32> {
        if self.slots.is_empty() {
            return self.find_sorted(&tape.string(key));
        }
        let print = tape.node(key).fingerprint();
        self.probe(print, |entry| self.same(entry, tape, key))
    }

    /// The index of a string value's text.
    #[inline]
    pub(crate) fn find_string(&self, tape: &Tape<'_>, string: u32) -> Option<u32> {
        // A few short strings are compared faster than one is hashed.
        if self.entries.len() <= FEW
            && !tape.node(string).is_escaped()
            && let Some((length, head)) = short(tape, string)
        {
            let same = |entry: &Entry| entry.length == length && entry.head == head;
            return (0..)
                .zip(&self.entries)
                .find_map(|(index, entry)| same(entry).then_some(index));
        }
        self.find_decoded(tape, string)
    }

    #[inline(never)]
    fn find_decoded(&self, tape: &Tape<'_>, string: u32) -> Option<u32> {
        self.find(&tape.string(string))
    }

    /// The index of a decoded text.
    #[inline]
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        if self.slots.is_empty() {
            return self.find_sorted(text);
        }
        self.probe(fingerprint(text.as_bytes()), |entry| {
            self.text_of(entry) == text
        })
    }

    #[inline]
    fn probe(&self, print: u32, same: impl Fn(&Entry) -> bool) -> Option<u32> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = first_slot(print, self.slots.len());
        loop {
            let index = *self.slots.get(slot)?;
            let entry = self.entries.get(index as usize)?;
            if entry.print == print {
                return same(entry).then_some(index);
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

/// The slot where a search begins: the highest bits of a fingerprint, which has 24, are its best.
#[inline]
fn first_slot(print: u32, slots: usize) -> usize {
    (print as usize * slots) >> 24
}

/// The length and the bytes of a text that fills no more than a head, seen through a window that may reach beyond it.
/// `None` for longer texts, and at the very end of the input.
#[inline]
fn short(tape: &Tape<'_>, string: u32) -> Option<(u32, u128)> {
    let node = tape.node(string);
    let length = (node.end() - node.start()).wrapping_sub(2);
    let mask = MASKS.get(length as usize)?;
    let start = node.start() as usize + 1;
    let window = tape.text().as_bytes().get(start..start + HEAD)?;
    let window = u128::from_le_bytes(window.try_into().ok()?);
    Some((length, window & mask))
}

/// Two quotes and a colon.
const PUNCTUATION: usize = 3;

/// A text in quotes with a colon behind it, as a number; [`UNSPELT`] if that is too long, or needs escapes.
fn spelling(text: &str) -> [u64; 2] {
    let needs_escape = |byte| matches!(byte, 0..=0x1F | b'"' | b'\\');
    if text.len() + PUNCTUATION > HEAD || text.bytes().any(needs_escape) {
        return UNSPELT;
    }
    words(head(format!("\"{text}\":").as_bytes()))
}

/// The first bytes of a text as a number.
fn head(text: &[u8]) -> u128 {
    let mut bytes = [0; HEAD];
    let length = text.len().min(HEAD);
    bytes[..length].copy_from_slice(&text[..length]);
    u128::from_le_bytes(bytes)
}
