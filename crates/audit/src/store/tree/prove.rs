//! Makes a receipt for one record: its path to its batch, the batch's path to the newest signed head, and that head.

use super::{StoredTree, TreeTables};
use crate::digest::Digest;
use crate::proof::merkle;
use crate::proof::receipt::Extra;
use crate::proof::{Batch, Receipt};

/// A record and where it stands in its chain.
#[derive(Debug)]
pub(in crate::store) struct RecordPlace {
    pub(in crate::store) body: String,
    pub(in crate::store) prev: Digest,
    pub(in crate::store) n: u64,
}

/// The receipt, from the record, the leaf that signs for it (place and text), the hashes of the records of its batch, the
/// signed head and the tree. `None` if these do not belong together: the store was changed.
pub(in crate::store) fn prove<T: TreeTables>(
    tables: &mut T,
    record: RecordPlace,
    (index, leaf): (u64, String),
    hashes: &[Digest],
    (size, note): (u64, String),
) -> Result<Option<Receipt>, T::Error> {
    let Some(batch) = Batch::from_text(&leaf) else {
        return Ok(None);
    };
    let leaves: Vec<Digest> = hashes
        .iter()
        .map(|hash| merkle::leaf_hash(hash.as_bytes()))
        .collect();
    let fits = leaves.len() as u64 == batch.size() && (batch.first..=batch.n).contains(&record.n);
    if !fits || index >= size {
        return Ok(None);
    }
    let place = record.n - batch.first;
    let Ok(batch_path) = merkle::inclusion_path(&mut leaves.as_slice(), place, batch.size());
    let path = merkle::inclusion_path(&mut StoredTree(tables), index, size)?;
    let extra = Extra {
        record: record.body,
        prev: record.prev,
        n: record.n,
        batch_path,
        leaf,
    };
    Ok(Some(Receipt {
        extra,
        index,
        path,
        note,
    }))
}
