//! Revoked keys.

use rusqlite::{Connection, params};

use crate::store::StoreError;
use crate::store::revocations::{KeyDigest, Revocation};
use crate::time::Timestamp;

/// False if the key was revoked before.
pub(super) fn add(connection: &Connection, revocation: Revocation<'_>) -> Result<bool, StoreError> {
    let sql = "INSERT OR IGNORE INTO revocation(key, caller, at) VALUES (?1, ?2, ?3)";
    let Revocation { caller, key } = revocation;
    let values = params![&key[..], caller, Timestamp::now().as_millis()];
    let added = connection.execute(sql, values).map_err(StoreError::Write)?;
    Ok(added > 0)
}

/// Those of the keys that have been revoked.
pub(super) fn find(
    connection: &Connection,
    keys: &[KeyDigest],
) -> rusqlite::Result<Vec<KeyDigest>> {
    let mut statement =
        connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM revocation WHERE key = ?1)")?;
    let mut revoked = Vec::new();
    for key in keys {
        if statement.query_row([&key[..]], |row| row.get(0))? {
            revoked.push(*key);
        }
    }
    Ok(revoked)
}
