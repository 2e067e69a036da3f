//! Merkle trees as RFC 6962 defines them: hashes of leaves and nodes, roots, inclusion and consistency proofs.
//!
//! Proofs are made from any [`Hashes`] that knows the roots of complete subtrees, so a tree of millions of leaves is never
//! read as a whole. Verifying needs no tree. Nothing here allocates more than a proof has lines.

use crate::digest::Digest;

/// A proof has one hash per level, and a tree of 2^63 leaves has no more levels than this.
pub(crate) const MAX_PATH: usize = 63;
/// Hashes in a tile, as a power of two.
pub(crate) const TILE_BITS: u32 = 8;
/// Hashes in a complete tile.
pub(crate) const TILE: u64 = 1 << TILE_BITS;

/// The hash of a leaf: SHA-256(0x00 ‖ data).
pub(crate) fn leaf_hash(data: &[u8]) -> Digest {
    Digest::sha256_of(&[&[0], data])
}

/// The hash of an inner node: SHA-256(0x01 ‖ left ‖ right).
pub(crate) fn node_hash(left: &Digest, right: &Digest) -> Digest {
    Digest::sha256_of(&[&[1], left.as_bytes(), right.as_bytes()])
}

/// The root of a tree without leaves.
pub(crate) fn empty_root() -> Digest {
    Digest::sha256(b"")
}

/// A tree that only grows, kept as the roots of its complete subtrees: enough for its root, and small.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frontier {
    size: u64,
    /// Largest subtree first; one for each bit of `size`.
    roots: Vec<Digest>,
}

impl Frontier {
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf, given by its hash.
    pub(crate) fn push(&mut self, leaf: Digest) {
        let mut hash = leaf;
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.roots.pop() {
                hash = node_hash(&left, &hash);
            }
        }
        self.roots.push(hash);
        self.size += 1;
    }

    pub(crate) fn root(&self) -> Digest {
        let mut roots = self.roots.iter().rev();
        let Some(last) = roots.next() else {
            return empty_root();
        };
        roots.fold(*last, |right, left| node_hash(left, &right))
    }
}

/// Where proofs get the hashes of complete subtrees.
pub(crate) trait Hashes {
    type Error;

    /// The roots of the complete subtrees number `from` to `to` (exclusive) of 256^`level` leaves each. The range never
    /// crosses a multiple of 256. An answer with another number of hashes gives proofs that do not verify.
    fn hashes(&mut self, level: u32, from: u64, to: u64) -> Result<Vec<Digest>, Self::Error>;
}

/// The hashes of all leaves, in memory.
impl Hashes for &[Digest] {
    type Error = std::convert::Infallible;

    fn hashes(&mut self, level: u32, from: u64, to: u64) -> Result<Vec<Digest>, Self::Error> {
        let width = 1_usize << (level * TILE_BITS);
        let range = |at: u64| {
            usize::try_from(at)
                .unwrap_or(usize::MAX)
                .saturating_mul(width)
        };
        let leaves = self.get(range(from)..range(to)).unwrap_or_default();
        Ok(leaves.chunks(width).map(perfect_root).collect())
    }
}

/// The root of a tree with a power of two of leaves.
pub(crate) fn perfect_root(hashes: &[Digest]) -> Digest {
    let mut frontier = Frontier::default();
    for hash in hashes {
        frontier.push(*hash);
    }
    frontier.root()
}

/// The root of the tree over the first `size` leaves.
pub(crate) fn root<H: Hashes>(tree: &mut H, size: u64) -> Result<Digest, H::Error> {
    if size == 0 {
        return Ok(empty_root());
    }
    range_root(tree, 0, size)
}

/// The root of the leaves from `start` to `end`. `start` is a multiple of the largest power of two below the length.
fn range_root<H: Hashes>(tree: &mut H, start: u64, end: u64) -> Result<Digest, H::Error> {
    let mut parts = Vec::new();
    let mut at = start;
    while at < end {
        let step = 1_u64 << (end - at).ilog2();
        parts.push(complete_root(tree, at, step.ilog2())?);
        at += step;
    }
    let mut parts = parts.iter().rev();
    let last = parts.next().copied().unwrap_or_else(empty_root);
    Ok(parts.fold(last, |right, left| node_hash(left, &right)))
}

/// The root of the complete subtree of 2^`bits` leaves that begins at `start`.
fn complete_root<H: Hashes>(tree: &mut H, start: u64, bits: u32) -> Result<Digest, H::Error> {
    let level = bits / TILE_BITS;
    let from = start >> (level * TILE_BITS);
    let hashes = tree.hashes(level, from, from + (1 << (bits % TILE_BITS)))?;
    Ok(perfect_root(&hashes))
}

/// The largest power of two that is smaller than `length`, which is at least 2.
fn split(length: u64) -> u64 {
    1 << (length - 1).ilog2()
}

/// The audit path of leaf `index` in the tree over the first `size` leaves: the leaf's sibling first.
pub(crate) fn inclusion_path<H: Hashes>(
    tree: &mut H,
    index: u64,
    size: u64,
) -> Result<Vec<Digest>, H::Error> {
    let (mut start, mut end) = (0, size);
    let mut path = Vec::new();
    while end - start > 1 {
        let middle = start + split(end - start);
        if index < middle {
            path.push(range_root(tree, middle, end)?);
            end = middle;
        } else {
            path.push(range_root(tree, start, middle)?);
            start = middle;
        }
    }
    path.reverse();
    Ok(path)
}

/// The proof that the tree over the first `old` leaves is a prefix of the one over the first `size`. Empty if either is.
pub(crate) fn consistency_path<H: Hashes>(
    tree: &mut H,
    old: u64,
    size: u64,
) -> Result<Vec<Digest>, H::Error> {
    let (mut start, mut end) = (0, size);
    let mut path = Vec::new();
    if old == 0 || old >= size {
        return Ok(path);
    }
    // While `old` ends inside the range, the other half is named; what is left is a subtree of the old tree, which its
    // verifier knows only if it is the whole of it.
    while old != end {
        let middle = start + split(end - start);
        if old <= middle {
            path.push(range_root(tree, middle, end)?);
            end = middle;
        } else {
            path.push(range_root(tree, start, middle)?);
            start = middle;
        }
    }
    if start > 0 {
        path.push(range_root(tree, start, end)?);
    }
    path.reverse();
    Ok(path)
}

/// The root that a leaf hash and its path lead to; `None` if the path has the wrong length for that place.
pub(crate) fn root_from_path(
    leaf: Digest,
    index: u64,
    size: u64,
    path: &[Digest],
) -> Option<Digest> {
    if index >= size {
        return None;
    }
    let (mut index, mut last) = (index, size - 1);
    let mut hash = leaf;
    for sibling in path {
        if last == 0 {
            return None;
        }
        if index % 2 == 1 || index == last {
            hash = node_hash(sibling, &hash);
            // A right edge without a sibling on this level: it is the same node on the levels above, up to the next left turn.
            while index % 2 == 0 && index > 0 {
                index /= 2;
                last /= 2;
            }
        } else {
            hash = node_hash(&hash, sibling);
        }
        index /= 2;
        last /= 2;
    }
    (last == 0).then_some(hash)
}

/// Do these two roots belong to trees of which the smaller is a prefix of the larger?
#[cfg(test)]
pub(crate) fn is_consistent(
    (old, old_root): (u64, Digest),
    (size, root): (u64, Digest),
    path: &[Digest],
) -> bool {
    if old == 0 || old == size {
        return path.is_empty() && (old == 0 || old_root == root) && old <= size;
    }
    let mut path = path.iter();
    let (mut node, mut last) = (old - 1, size - 1);
    while node % 2 == 1 {
        (node, last) = (node / 2, last / 2);
    }
    // A complete old tree is a node of the new one, so the proof does not repeat its root.
    let seed = if node > 0 {
        path.next().copied()
    } else {
        Some(old_root)
    };
    let Some(seed) = seed else { return false };
    let (mut from_old, mut from_new) = (seed, seed);
    for hash in path {
        if last == 0 {
            return false;
        }
        if node % 2 == 1 || node == last {
            from_old = node_hash(hash, &from_old);
            from_new = node_hash(hash, &from_new);
            while node % 2 == 0 && node > 0 {
                (node, last) = (node / 2, last / 2);
            }
        } else {
            from_new = node_hash(&from_new, hash);
        }
        (node, last) = (node / 2, last / 2);
    }
    last == 0 && from_old == old_root && from_new == root
}

#[cfg(test)]
// The bench compiles this file under another path.
#[path = "merkle/tests.rs"]
mod tests;
