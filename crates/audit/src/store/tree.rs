//! The tree of a store: the signed batches of all chains are its leaves, in the order in which they were taken in. The part
//! that is the same for every database.
//!
//! A writer queues the text of each batch in the transaction that signs for it; whichever process maintains the store takes
//! the queue into the tree, a few seconds later, and signs the new head. So no call waits for the tree, and none that
//! is under way can see it. Leaves, tiles and heads are only ever added. A tile of 256 hashes is stored when it is complete;
//! what is not complete is read from the rows below it.

use std::sync::Arc;

use super::{Options, StoreError};
use crate::chain::Signer;
use crate::digest::Digest;
use crate::proof::merkle::{self, Hashes, TILE, leaf_hash, perfect_root};
use crate::proof::{Batch, LogHead};

mod check;
mod prove;

pub(super) use check::TreeCheck;
pub(super) use prove::{RecordPlace, prove};

/// Batches taken into the tree in one transaction.
const STEP: u32 = 512;
/// Heads that a store keeps of its own. Published ones are kept outside.
pub(super) const KEPT_HEADS: u32 = 1000;

/// A batch that waits to become a leaf.
#[derive(Debug)]
pub(super) struct QueuedBatch {
    /// Its place in the queue.
    pub(super) id: i64,
    /// The number of its chain in this store.
    pub(super) chain: i64,
    pub(super) text: String,
}

/// A leaf to be stored.
#[derive(Debug)]
pub(super) struct Leaf<'a> {
    pub(super) index: u64,
    pub(super) chain: i64,
    pub(super) batch: &'a Batch,
    pub(super) hash: Digest,
    pub(super) text: &'a str,
}

/// A leaf as it is stored.
#[derive(Debug)]
pub(super) struct LeafRow {
    pub(super) index: u64,
    pub(super) hash: Option<Digest>,
    pub(super) text: String,
}

/// A complete tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) hashes: Vec<Digest>,
    /// The root over them.
    pub(super) root: Digest,
}

/// The tables of one database, inside a transaction that no other process can interleave with.
pub(super) trait TreeTables {
    type Error;

    /// How many leaves there are.
    fn size(&mut self) -> Result<u64, Self::Error>;
    /// The name of the log that was made with the tables.
    fn origin(&mut self) -> Result<String, Self::Error>;
    fn queued(&mut self, limit: u32) -> Result<Vec<QueuedBatch>, Self::Error>;
    /// Removes these from the queue.
    fn dequeue(&mut self, batches: &[QueuedBatch]) -> Result<(), Self::Error>;
    fn has_leaf(&mut self, chain: i64, n: u64) -> Result<bool, Self::Error>;
    fn add_leaf(&mut self, leaf: &Leaf<'_>) -> Result<(), Self::Error>;
    /// The hashes of these leaves, which no complete tile holds.
    fn leaf_hashes(&mut self, from: u64, to: u64) -> Result<Vec<Digest>, Self::Error>;
    /// Those of these leaves that are still stored, in order.
    fn leaf_rows(&mut self, from: u64, to: u64) -> Result<Vec<LeafRow>, Self::Error>;
    fn tile(&mut self, level: u32, index: u64) -> Result<Option<Tile>, Self::Error>;
    /// The roots of these complete tiles.
    fn tile_roots(&mut self, level: u32, from: u64, to: u64) -> Result<Vec<Digest>, Self::Error>;
    fn add_tile(&mut self, level: u32, index: u64, tile: &Tile) -> Result<(), Self::Error>;
    /// The newest head: its size and the signed note.
    fn newest_head(&mut self) -> Result<Option<(u64, String)>, Self::Error>;
    /// Every head there is.
    fn heads(&mut self) -> Result<Vec<(u64, String)>, Self::Error>;
    /// Stores a head, and lets go of all but the newest [`KEPT_HEADS`].
    fn add_head(&mut self, size: u64, note: &str) -> Result<(), Self::Error>;
}

/// The tree behind the tables of a database, for proofs.
struct StoredTree<'t, T>(&'t mut T);

impl<T: TreeTables> Hashes for StoredTree<'_, T> {
    type Error = T::Error;

    fn hashes(&mut self, level: u32, from: u64, to: u64) -> Result<Vec<Digest>, T::Error> {
        if let Some(tile) = self.0.tile(level, from / TILE)? {
            let at = |index: u64| usize::try_from(index % TILE).unwrap_or_default();
            let count = usize::try_from(to - from).unwrap_or_default();
            let hashes = tile.hashes.get(at(from)..at(from) + count);
            return Ok(hashes.unwrap_or_default().to_vec());
        }
        match level.checked_sub(1) {
            None => self.0.leaf_hashes(from, to),
            Some(below) => self.0.tile_roots(below, from, to),
        }
    }
}

/// Who signs heads, and under which name.
#[derive(Debug, Clone)]
pub(super) struct HeadSigner {
    signer: Arc<Signer>,
    /// The key that signed before, while readers learn the new one.
    previous: Option<Arc<Signer>>,
    /// The configured name; otherwise the one that was made with the tables.
    origin: Option<String>,
}

impl HeadSigner {
    pub(super) fn new(options: &Options, signer: Arc<Signer>) -> Result<Self, StoreError> {
        let previous = options.previous_signing_key.as_deref();
        let previous = previous.map(Signer::from_text).transpose()?;
        Ok(Self {
            signer,
            previous: previous.map(Arc::new),
            origin: options.log_origin.clone(),
        })
    }

    fn sign<T: TreeTables>(&self, tables: &mut T, size: u64) -> Result<String, T::Error> {
        let origin = match &self.origin {
            Some(origin) => origin.clone(),
            None => tables.origin()?,
        };
        let root = merkle::root(&mut StoredTree(tables), size)?;
        let head = LogHead { origin, size, root };
        let signers = [&*self.signer].into_iter().chain(self.previous.as_deref());
        Ok(head.sign(signers).to_string())
    }
}

/// Takes some of the queue into the tree and signs the head if the tree grew since the last one. Says whether more waits.
pub(super) fn grow<T: TreeTables>(tables: &mut T, signer: &HeadSigner) -> Result<bool, T::Error> {
    let queue = tables.queued(STEP)?;
    let mut size = tables.size()?;
    for queued in &queue {
        // A text that is not a batch was not written by a gateway. `verify` reports what it should have signed for.
        let Some(batch) = Batch::from_text(&queued.text) else {
            tracing::error!(
                id = queued.id,
                "a queued batch cannot be read; it is left out"
            );
            continue;
        };
        // A batch that is sent twice, because the answer to the first attempt was lost, is queued twice.
        if tables.has_leaf(queued.chain, batch.n)? {
            continue;
        }
        tables.add_leaf(&Leaf {
            index: size,
            chain: queued.chain,
            batch: &batch,
            hash: leaf_hash(queued.text.as_bytes()),
            text: &queued.text,
        })?;
        size += 1;
        complete_tiles(tables, size)?;
    }
    tables.dequeue(&queue)?;
    let signed = tables.newest_head()?.map_or(0, |(size, _)| size);
    if size > signed {
        let note = signer.sign(tables, size)?;
        tables.add_head(size, &note)?;
    }
    Ok(queue.len() >= STEP as usize)
}

/// Stores the tiles that the last leaf completed, from the lowest level up.
fn complete_tiles<T: TreeTables>(tables: &mut T, size: u64) -> Result<(), T::Error> {
    let mut count = size;
    for level in 0.. {
        if count == 0 || !count.is_multiple_of(TILE) {
            break;
        }
        let hashes = match level {
            0 => tables.leaf_hashes(count - TILE, count)?,
            _ => tables.tile_roots(level - 1, count - TILE, count)?,
        };
        let root = perfect_root(&hashes);
        count /= TILE;
        tables.add_tile(level, count - 1, &Tile { hashes, root })?;
    }
    Ok(())
}

/// The proof that one size of the tree is a prefix of another; nothing if the tree is smaller.
pub(super) fn consistency_proof<T: TreeTables>(
    tables: &mut T,
    old: u64,
    size: u64,
) -> Result<Vec<Digest>, T::Error> {
    if size > tables.size()? {
        return Ok(Vec::new());
    }
    merkle::consistency_path(&mut StoredTree(tables), old, size)
}

/// The head that says most about the leaf `index`: the one that most keys have signed, and of those the newest.
pub(super) fn best_head(heads: Vec<(u64, String)>, index: u64) -> Option<(u64, String)> {
    let covers = heads.into_iter().filter(|(size, _)| *size > index);
    covers.max_by_key(|(size, note)| (note.lines().count(), *size))
}

/// The hashes of a tile as its bytes.
pub(super) fn join_hashes(hashes: &[Digest]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| *hash.as_bytes()).collect()
}

/// A tile from what is stored of it. What is not 256 hashes is a tile that fits nothing.
pub(super) fn read_tile(hashes: &[u8], root: &[u8]) -> Tile {
    let hashes = hashes.chunks(32).map_while(Digest::from_slice).collect();
    let root = Digest::from_slice(root).unwrap_or(crate::digest::NO_HASH);
    Tile { hashes, root }
}
