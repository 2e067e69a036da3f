//! Which member names of one object repeat an earlier one.
//! A filter of 256 bits per open object clears nearly every name at once. In a small object the rest are
//! compared by fingerprint with those before them; what is still in doubt is settled when the object ends, by
//! sorting the names that share a bit of a wider filter and comparing neighbours decoded. There is
//! no hash table and no seed to attack: the worst case is O(n log n), each name decoded once.

use std::borrow::Cow;

use crate::node::Node;
use crate::string::unescape;

/// The names an open object has had so far, by fingerprint.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Filter {
    bits: [u64; 4],
    postponed: bool,
}

impl Filter {
    /// Up to this many names, a doubtful one is compared with its predecessors at once.
    pub(crate) const PAIRWISE: u32 = 48;

    /// Add a name; true if one with the same bit was added before.
    #[inline]
    pub(crate) fn meets(&mut self, digest: u32) -> bool {
        let word = &mut self.bits[(digest >> 6 & 3) as usize];
        let bit = 1 << (digest & 63);
        let met = *word & bit != 0;
        *word |= bit;
        met
    }

    /// Leave the question to the end of the object.
    pub(crate) fn postpone(&mut self) {
        self.postponed = true;
    }

    #[inline]
    pub(crate) fn is_postponed(self) -> bool {
        self.postponed
    }
}

/// The names of objects on a tape under construction.
pub(crate) struct Names<'t> {
    text: &'t str,
    nodes: &'t [Node],
}

impl<'t> Names<'t> {
    pub(crate) fn new(text: &'t str, nodes: &'t [Node]) -> Self {
        Self { text, nodes }
    }

    /// Whether an earlier key of the object at `object` has the fingerprint of the one at `key`.
    pub(crate) fn resembles_earlier(&self, object: u32, key: u32) -> bool {
        let digest = self.nodes[key as usize].fingerprint();
        self.keys(object)
            .take_while(|&(earlier, _)| earlier < key)
            .any(|(_, node)| node.fingerprint() == digest)
    }

    /// Keys of a closed object that repeat an earlier one, in order, at most `limit`.
    pub(crate) fn repeats(&self, object: u32, limit: usize) -> Vec<u32> {
        let mut suspects = self.suspects(object);
        suspects.sort_unstable();
        let mut found: Vec<u32> = suspects
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 == pair[1].1)
            .map(|pair| pair[1].2)
            .collect();
        found.sort_unstable();
        found.truncate(limit);
        found
    }

    /// The names that share a bit of a wide filter with another name: (fingerprint, decoded, index).
    fn suspects(&self, object: u32) -> Vec<(u32, Cow<'t, str>, u32)> {
        let count = self.nodes[object as usize].count() as usize;
        // Sixteen bits a name, and never more than there are fingerprints.
        let words = (count / 4).next_power_of_two().clamp(4, 1 << 18);
        let mut once = vec![0_u64; words];
        let mut twice = vec![0_u64; words];
        let place = |node: Node| {
            let digest = node.fingerprint() as usize;
            (digest / 64 % words, 1_u64 << (digest % 64))
        };
        for (_, node) in self.keys(object) {
            let (word, bit) = place(node);
            twice[word] |= once[word] & bit;
            once[word] |= bit;
        }
        self.keys(object)
            .filter(|&(_, node)| {
                let (word, bit) = place(node);
                twice[word] & bit != 0
            })
            .map(|(key, node)| (node.fingerprint(), self.name(key), key))
            .collect()
    }

    /// The keys of an object whose last member may still be open.
    fn keys(&self, object: u32) -> impl Iterator<Item = (u32, Node)> + '_ {
        let mut key = object + 1;
        let end = match self.nodes.get(object as usize) {
            Some(node) if node.end != 0 => node.next,
            _ => u32::MAX,
        };
        std::iter::from_fn(move || {
            if key >= end {
                return None;
            }
            let node = *self.nodes.get(key as usize)?;
            let here = key;
            key = self
                .nodes
                .get(key as usize + 1)
                .map_or(u32::MAX, |value| value.next);
            Some((here, node))
        })
    }

    fn name(&self, key: u32) -> Cow<'t, str> {
        let node = self.nodes[key as usize];
        unescape(
            self.text
                .get(node.start as usize + 1..node.end as usize - 1)
                .unwrap_or_default(),
        )
    }
}
