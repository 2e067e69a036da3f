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
}

impl Filter {
    /// Up to this many names, a doubtful one is compared with its predecessors at once.
    pub(crate) const PAIRWISE: u32 = 48;

    /// Add a name; true if it may be a repetition.
    #[inline]
    pub(crate) fn has_met(&mut self, digest: u32) -> bool {
        // The highest bits of a fingerprint are its best.
        let word = &mut self.bits[(digest >> 22 & 3) as usize];
        let bit = 1 << (digest >> 16 & 63);
        let met = *word & bit != 0;
        *word |= bit;
        met
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
        let mut suspects: Vec<Suspect> = self
            .keys(object)
            .map(|(key, node)| Suspect {
                digest: node.fingerprint(),
                key,
            })
            .collect();
        if suspects.len() > Filter::PAIRWISE as usize {
            keep_sharers(&mut suspects);
        }
        suspects.sort_unstable();
        let mut found = Vec::new();
        for alike in suspects.chunk_by(|one, other| one.digest == other.digest) {
            if alike.len() > 1 {
                self.compare(alike, &mut found);
            }
        }
        found.sort_unstable();
        found.truncate(limit);
        found
    }

    /// Compare names with one fingerprint, decoded, and collect those that repeat an earlier one.
    fn compare(&self, alike: &[Suspect], found: &mut Vec<u32>) {
        let mut names: Vec<(Cow<'_, str>, u32)> = alike
            .iter()
            .map(|suspect| (self.name(suspect.key), suspect.key))
            .collect();
        names.sort_unstable();
        let repeats = names.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        found.extend(repeats.map(|pair| pair[1].1));
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
            key = match self.nodes.get(key as usize + 1) {
                // Guessing the next key does not wait for the load of `next`.
                Some(value) if !value.kind().is_container() => key + 2,
                Some(value) => value.next,
                None => u32::MAX,
            };
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

/// A key and its fingerprint, ordered by fingerprint, then by place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Suspect {
    digest: u32,
    key: u32,
}

/// Keep the suspects that share a bit of a wide filter with another one.
fn keep_sharers(suspects: &mut Vec<Suspect>) {
    // Thirty-two bits or more a name, and never more bits than there are fingerprints.
    let words = (suspects.len() / 2).next_power_of_two().min(1 << 18);
    let mut once = vec![0_u64; words];
    let mut twice = vec![0_u64; words];
    let place = |suspect: Suspect| {
        let digest = suspect.digest as usize;
        (digest / 64 % words, 1_u64 << (digest % 64))
    };
    for &suspect in &*suspects {
        let (word, bit) = place(suspect);
        twice[word] |= once[word] & bit;
        once[word] |= bit;
    }
    suspects.retain(|&suspect| {
        let (word, bit) = place(suspect);
        twice[word] & bit != 0
    });
}
