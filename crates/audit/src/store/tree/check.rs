//! Checks the stored tree: every leaf against its text and its signature, every tile against what is below it, and every
//! signed head, the published ones included, against the leaves. Part of `verify`.
//!
//! Hands every genuine batch to the signed statements, so that the walk over the records compares them too. Memory is for
//! the roots of tiles and for the heads only.

use std::collections::BTreeMap;

use super::{LeafRow, Tile, TreeTables};
use crate::chain::TrustedKeys;
use crate::digest::Digest;
use crate::proof::merkle::{Frontier, TILE, leaf_hash, perfect_root};
use crate::proof::{Batch, LogHead, Note};
use crate::store::signed_statements::SignedStatements;
use crate::store::verification::{Break, BreakKind};

/// What the tree was found to be.
#[derive(Debug, Default)]
pub(in crate::store) struct TreeCheck {
    leaves: Frontier,
    /// The heads to compare: by size, the root, and whether it was published.
    heads: BTreeMap<u64, Vec<(Digest, bool)>>,
    first_break: Option<BreakKind>,
}

impl TreeCheck {
    /// Reads the whole tree.
    pub(in crate::store) fn run<T: TreeTables>(
        tables: &mut T,
        trusted: &TrustedKeys,
        signed: &mut SignedStatements,
    ) -> Result<Self, T::Error> {
        let mut check = Self::default();
        for head in std::mem::take(&mut signed.published) {
            check.expect(&head, true);
        }
        for (size, note) in tables.heads()? {
            check.own_head(size, &note, trusted);
        }
        let size = tables.size()?;
        let mut roots = Vec::new();
        for index in 0..size / TILE {
            let tile = tables.tile(0, index)?;
            let rows = tables.leaf_rows(index * TILE, (index + 1) * TILE)?;
            check.take_tile(tile, rows, &mut roots, (trusted, signed));
        }
        for row in tables.leaf_rows(size / TILE * TILE, size)? {
            check.take_leaf(&row, (trusted, signed));
        }
        check.check_levels(tables, roots)?;
        if check.leaves.size() != size {
            check.note(BreakKind::WrongTree);
        }
        Ok(check)
    }

    /// How many leaves there are.
    pub(in crate::store) fn size(&self) -> u64 {
        self.leaves.size()
    }

    /// What does not hold.
    pub(in crate::store) fn first_break(&self) -> Option<Break> {
        let missing = || {
            let is_published = self
                .heads
                .values()
                .flatten()
                .any(|(_, published)| *published);
            let is_missing = !self.heads.is_empty();
            is_missing.then_some(if is_published {
                BreakKind::RolledBack
            } else {
                BreakKind::WrongTree
            })
        };
        self.first_break.or_else(missing).map(Break::new)
    }

    fn expect(&mut self, head: &LogHead, is_published: bool) {
        if head.size == 0 {
            return;
        }
        let heads = self.heads.entry(head.size).or_default();
        heads.push((head.root, is_published));
    }

    fn note(&mut self, kind: BreakKind) {
        self.first_break.get_or_insert(kind);
    }

    fn own_head(&mut self, size: u64, note: &str, trusted: &TrustedKeys) {
        let head = Note::parse(note).ok();
        let head = head.and_then(|note| LogHead::from_note(&note, trusted).ok());
        match head {
            Some(head) if head.size == size => self.expect(&head, false),
            _ => self.note(BreakKind::ForgedCheckpoint),
        }
    }

    /// A complete tile of the lowest level. Rows of its leaves may be gone with the records they signed for.
    fn take_tile(
        &mut self,
        tile: Option<Tile>,
        rows: Vec<LeafRow>,
        roots: &mut Vec<Digest>,
        context: (&TrustedKeys, &mut SignedStatements),
    ) {
        let Some(tile) = tile.filter(Tile::is_whole) else {
            return self.note(BreakKind::WrongTree);
        };
        let first = self.leaves.size();
        let (trusted, signed) = context;
        for row in rows {
            let place = row
                .index
                .checked_sub(first)
                .and_then(|at| usize::try_from(at).ok());
            let expected = place.and_then(|at| tile.hashes.get(at));
            self.check_row(&row, expected, (trusted, &mut *signed));
        }
        tile.hashes.iter().for_each(|hash| self.push(*hash));
        roots.push(tile.root);
    }

    /// A leaf after the last complete tile.
    fn take_leaf(&mut self, row: &LeafRow, context: (&TrustedKeys, &mut SignedStatements)) {
        if row.index != self.leaves.size() {
            return self.note(BreakKind::WrongTree);
        }
        let hash = leaf_hash(row.text.as_bytes());
        self.check_row(row, Some(&hash), context);
        self.push(hash);
    }

    fn check_row(
        &mut self,
        row: &LeafRow,
        expected: Option<&Digest>,
        (trusted, signed): (&TrustedKeys, &mut SignedStatements),
    ) {
        let computed = leaf_hash(row.text.as_bytes());
        if row.hash != Some(computed) || expected != Some(&computed) {
            return self.note(BreakKind::WrongTree);
        }
        match Batch::from_text(&row.text) {
            Some(batch) if batch.is_genuine(trusted) => signed.add_batch(&batch),
            batch => signed.add_forged(batch.map(|batch| batch.head())),
        }
    }

    fn push(&mut self, hash: Digest) {
        self.leaves.push(hash);
        for (root, is_published) in self.heads.remove(&self.leaves.size()).unwrap_or_default() {
            if root != self.leaves.root() {
                self.note(if is_published {
                    BreakKind::DiffersFromAnchor
                } else {
                    BreakKind::WrongTree
                });
            }
        }
    }

    /// The levels above the lowest: each tile holds the roots of the tiles below it.
    fn check_levels<T: TreeTables>(
        &mut self,
        tables: &mut T,
        mut below: Vec<Digest>,
    ) -> Result<(), T::Error> {
        for level in 1.. {
            let mut roots = Vec::new();
            for (index, hashes) in (0..).zip(below.chunks_exact(256)) {
                let tile = tables.tile(level, index)?;
                match tile.filter(|tile| tile.is_whole() && tile.hashes == hashes) {
                    Some(tile) => roots.push(tile.root),
                    None => self.note(BreakKind::WrongTree),
                }
            }
            if roots.is_empty() {
                break;
            }
            below = roots;
        }
        Ok(())
    }
}

impl Tile {
    fn is_whole(&self) -> bool {
        self.hashes.len() as u64 == TILE && perfect_root(&self.hashes) == self.root
    }
}
