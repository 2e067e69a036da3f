//! Groups characters that no set of a pattern tells apart.
//!
//! The simulation keeps one mask for each group instead of one for each character. Serves schema compilation and
//! validation.

use std::collections::BTreeMap;

use crate::pattern::set::CodeSet;

/// More borders between ranges than this, in all sets together, is too large a pattern.
const MOST_BORDERS: usize = 1 << 16;

/// A map from characters to classes.
#[derive(Debug, Clone)]
pub(in crate::pattern) struct Alphabet {
    ascii: [u16; 128],
    /// Where each stretch of one class begins, ascending, the first at zero.
    starts: Box<[u32]>,
    classes: Box<[u16]>,
}

impl Alphabet {
    /// The classes told apart by `sets`, and for each class the sets it belongs to, one bit each.
    pub(super) fn new(sets: &[CodeSet]) -> Option<(Self, Vec<Vec<u64>>)> {
        let mut borders = Vec::new();
        for (index, set) in sets.iter().enumerate() {
            for &(low, high) in set.ranges() {
                borders.extend([(low, index), (high + 1, index)]);
            }
            if borders.len() > MOST_BORDERS {
                return None;
            }
        }
        borders.sort_unstable();
        let mut members = vec![0_u64; sets.len().div_ceil(64)];
        let mut known = BTreeMap::from([(members.clone(), 0_u16)]);
        let (mut starts, mut classes) = (vec![0], vec![0]);
        for stretch in borders.chunk_by(|a, b| a.0 == b.0) {
            for (_, set) in stretch {
                members[set / 64] ^= 1 << (set % 64);
            }
            let fresh = u16::try_from(known.len()).ok()?;
            classes.push(*known.entry(members.clone()).or_insert(fresh));
            starts.push(stretch[0].0);
        }
        let mut ascii = [0; 128];
        let mut alphabet = Self {
            ascii,
            starts: starts.into(),
            classes: classes.into(),
        };
        for (code, class) in (0..).zip(&mut ascii) {
            *class = alphabet.search(code);
        }
        alphabet.ascii = ascii;
        let mut signatures: Vec<_> = known.into_iter().collect();
        signatures.sort_unstable_by_key(|(_, class)| *class);
        let signatures = signatures.into_iter().map(|(members, _)| members);
        Some((alphabet, signatures.collect()))
    }

    #[inline]
    pub(in crate::pattern) fn class(&self, character: char) -> usize {
        let code = u32::from(character);
        let class = match self.ascii.get(code as usize) {
            Some(class) => *class,
            None => self.search(code),
        };
        usize::from(class)
    }

    /// The class of the last stretch that begins at or before `code`; one begins at zero.
    fn search(&self, code: u32) -> u16 {
        let after = self.starts.partition_point(|start| *start <= code);
        self.classes[after - 1]
    }

    pub(in crate::pattern) fn memory_usage(&self) -> usize {
        size_of_val(&*self.starts) + size_of_val(&*self.classes)
    }
}
