//! Puts into the database what the journals of killed processes hold and the database does not, and signs for it.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, params};

use super::append::{State, insert_all, insert_checkpoint};
use super::files::Files;
use super::transaction::immediate;
use crate::chain::{Checkpoint, CheckpointKind, append_to_log};
use crate::digest::Digest;
use crate::record::Kind;
use crate::record::body::{Body, decode};
use crate::store::data_dir::existing_signer;
use crate::store::journal::{AbandonedJournal, JournalKey, JournalRecords, abandoned};
use crate::store::{Options, StoreError};

/// Call it under the store's lock, with a connection to the main database.
pub(super) fn replay(
    files: &Files,
    connection: &Connection,
    options: &Options,
) -> Result<(), StoreError> {
    for journal in abandoned(&files.main)? {
        let Some(count) = append_missing(connection, &journal, options)? else {
            let chain = journal.chain;
            tracing::warn!(%chain, "a process that was killed has left records that only its signing key can tell from forged ones; they are taken in when the store is opened with that key");
            continue;
        };
        if count > 0 {
            let chain = journal.chain;
            tracing::info!(%chain, records = count, "the last records of a process that was killed are in the activity store now");
        }
        journal.remove();
    }
    Ok(())
}

/// Appends the records of a journal that the database does not have, to their chain. Gives their number; nothing if the key
/// of the chain is missing.
fn append_missing(
    connection: &Connection,
    journal: &AbandonedJournal,
    options: &Options,
) -> Result<Option<usize>, StoreError> {
    if journal.is_empty() {
        return Ok(Some(0));
    }
    let transaction = immediate(connection)?;
    let Some((chain, key)) = chain(&transaction, journal).map_err(StoreError::Read)? else {
        return Ok(Some(0));
    };
    let signer = existing_signer(options)?.filter(|signer| signer.public().to_string() == key);
    let with_key = |signer| Some((JournalKey::new(journal.chain, &signer)?, signer));
    let Some((key, signer)) = signer.and_then(with_key) else {
        return Ok(None);
    };
    let Some(records) = journal.records(&key) else {
        return Ok(Some(0));
    };
    let missing = missing(&transaction, &records, chain).map_err(StoreError::Read)?;
    if missing.is_empty() {
        return Ok(Some(0));
    }
    let Some(mut state) = last_of(&transaction, chain).map_err(StoreError::Read)? else {
        tracing::warn!(chain = %journal.chain, "a journal belongs to a chain that has ended; it is left out");
        return Ok(Some(0));
    };
    let count = missing.len();
    insert_all(&transaction, &mut state, missing).map_err(StoreError::Write)?;
    // There may be more of them than a process leaves unsigned.
    let (head, lost) = (state.head(journal.chain), lost(&transaction, chain));
    let lost = lost.map_err(StoreError::Read)?;
    let checkpoint = Checkpoint::sign(&signer, CheckpointKind::Head, head, lost);
    insert_checkpoint(&transaction, chain, &checkpoint).map_err(StoreError::Write)?;
    transaction.commit().map_err(StoreError::Write)?;
    if let Err(error) = append_to_log(&options.data_dir, &checkpoint, false) {
        tracing::error!(%error, "cannot append to checkpoints.log");
    }
    Ok(Some(count))
}

/// The chain of a journal, and the public key of the process that has begun it.
fn chain(
    connection: &Connection,
    journal: &AbandonedJournal,
) -> rusqlite::Result<Option<(i64, String)>> {
    let sql = "SELECT id, key FROM chain JOIN checkpoint ON chain = id WHERE chain_id = ?1 ORDER BY n DESC LIMIT 1";
    let id = journal.chain.to_string();
    let row = connection.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?)));
    row.optional()
}

/// The records of a journal that the database does not have.
fn missing<'j>(
    connection: &Connection,
    records: &'j JournalRecords,
    chain: i64,
) -> rusqlite::Result<Vec<&'j Body>> {
    let mut missing: HashSet<&[u8]> = records.bodies.iter().map(Body::as_bytes).collect();
    let sql = "SELECT body FROM activity WHERE seq > ?1 AND chain = ?2";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(params![records.floor, chain])?;
    while let Some(row) = rows.next()? {
        missing.remove(row.get_ref(0)?.as_bytes().unwrap_or_default());
    }
    let bodies = records.bodies.iter();
    Ok(bodies
        .filter(|body| missing.remove(body.as_bytes()))
        .collect())
}

/// How many records of a chain were lost, as far as is known.
fn lost(connection: &Connection, chain: i64) -> rusqlite::Result<u64> {
    let sql = "SELECT ifnull(max(lost), 0) FROM checkpoint WHERE chain = ?1";
    connection.query_row(sql, [chain], |row| row.get(0))
}

/// Where a chain goes on; nothing if its process ended it, or if nothing of it is left.
fn last_of(connection: &Connection, chain: i64) -> rusqlite::Result<Option<State>> {
    let sql = "SELECT n, hash, body FROM activity WHERE chain = ?1 ORDER BY seq DESC LIMIT 1";
    let last = connection.query_row(sql, [chain], |row| {
        let (n, hash): (u64, [u8; 32]) = (row.get(0)?, row.get(1)?);
        let record = decode(row.get_ref(2)?.as_bytes().unwrap_or_default());
        let has_ended = record.is_ok_and(|record| record.kind() == Kind::SystemStop);
        let state = State::after(chain, n, Digest::from_bytes(hash));
        Ok((!has_ended).then_some(state))
    });
    last.optional().map(Option::flatten)
}
