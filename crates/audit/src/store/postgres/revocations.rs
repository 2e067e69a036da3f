//! Revoked keys, for all gateways that share the database.

use super::connection::Connection;
use super::error::PostgresError;
use crate::store::revocations::{KeyDigest, Revocation};

/// False if the key was revoked before.
pub(super) fn add(
    connection: &mut Connection,
    revocation: Revocation<'_>,
) -> Result<bool, PostgresError> {
    let sql = "INSERT INTO revocation(key, caller) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let Revocation { caller, key } = revocation;
    Ok(connection.execute(sql, &[&&key[..], &caller])? > 0)
}

/// Those of the keys that have been revoked.
pub(super) fn find(
    connection: &mut Connection,
    keys: &[KeyDigest],
) -> Result<Vec<KeyDigest>, PostgresError> {
    let asked: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
    let rows = connection.query("SELECT key FROM revocation WHERE key = ANY($1)", &[&asked])?;
    let revoked = rows
        .iter()
        .filter_map(|row| row.get::<_, &[u8]>(0).try_into().ok());
    Ok(revoked.collect())
}
