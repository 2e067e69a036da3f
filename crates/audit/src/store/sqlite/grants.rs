//! Tokens for servers. Every change is one statement, so that processes that share the file cannot come between.

use rusqlite::{Connection, OptionalExtension, params};

use crate::store::StoreError;
use crate::store::grants::{GrantLease, GrantOwner, StoredGrant};
use crate::time::Timestamp;

pub(super) fn get(
    connection: &Connection,
    owner: GrantOwner<'_>,
) -> rusqlite::Result<Option<StoredGrant>> {
    let sql = "SELECT issuer, generation, sealed FROM server_grant
        WHERE server = ?1 AND caller = ?2 AND length(sealed) > 0";
    let row = connection.query_row(sql, [owner.server, owner.caller], |row| {
        Ok(StoredGrant {
            issuer: row.get(0)?,
            generation: row.get(1)?,
            sealed: row.get(2)?,
        })
    });
    row.optional()
}

/// The generations of these owners' tokens, in their order; nothing for an owner without one.
pub(super) fn generations(
    connection: &Connection,
    owners: &[GrantOwner<'_>],
) -> rusqlite::Result<Vec<Option<u64>>> {
    let sql = "SELECT generation FROM server_grant WHERE server = ?1 AND caller = ?2 AND length(sealed) > 0";
    let mut statement = connection.prepare_cached(sql)?;
    let generation = |owner: &GrantOwner<'_>| {
        let row = statement.query_row([owner.server, owner.caller], |row| row.get(0));
        row.optional()
    };
    owners.iter().map(generation).collect()
}

/// Stores a new token in place of the old one, and gives its generation.
pub(super) fn put(
    connection: &Connection,
    owner: GrantOwner<'_>,
    issuer: &str,
    sealed: &[u8],
) -> Result<u64, StoreError> {
    let sql = "INSERT INTO server_grant(server, caller, issuer, generation, sealed) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT(server, caller) DO UPDATE SET issuer = excluded.issuer, sealed = excluded.sealed, holder = '',
        leased_until = 0, generation = max(generation + 1, excluded.generation) RETURNING generation";
    let now = Timestamp::now().as_millis();
    let GrantOwner { server, caller } = owner;
    let values = params![server, caller, issuer, now, sealed];
    let row = connection.query_row(sql, values, |row| row.get(0));
    row.map_err(StoreError::Write)
}

pub(super) fn lease(
    connection: &Connection,
    owner: GrantOwner<'_>,
    lease: GrantLease<'_>,
) -> Result<bool, StoreError> {
    let sql = "UPDATE server_grant SET holder = ?4, leased_until = ?5
        WHERE server = ?1 AND caller = ?2 AND generation = ?3 AND (leased_until <= ?6 OR holder = ?4)";
    let now = Timestamp::now().as_millis();
    let lasts = u64::try_from(lease.lasts.as_millis()).unwrap_or(u64::MAX);
    let until = now.saturating_add(lasts);
    let GrantOwner { server, caller } = owner;
    let values = params![server, caller, lease.generation, lease.holder, until, now];
    changed(connection.execute(sql, values))
}

pub(super) fn release(
    connection: &Connection,
    owner: GrantOwner<'_>,
    lease: GrantLease<'_>,
) -> Result<bool, StoreError> {
    let sql = "UPDATE server_grant SET holder = '', leased_until = 0
        WHERE server = ?1 AND caller = ?2 AND generation = ?3 AND holder = ?4";
    let GrantOwner { server, caller } = owner;
    let values = params![server, caller, lease.generation, lease.holder];
    changed(connection.execute(sql, values))
}

/// Only the generation counts: a lease may have run out while the token was exchanged, and the new token is all there is.
pub(super) fn swap(
    connection: &Connection,
    owner: GrantOwner<'_>,
    generation: u64,
    sealed: &[u8],
) -> Result<bool, StoreError> {
    let sql = "UPDATE server_grant SET sealed = ?4, generation = generation + 1, holder = '', leased_until = 0
        WHERE server = ?1 AND caller = ?2 AND generation = ?3";
    let GrantOwner { server, caller } = owner;
    changed(connection.execute(sql, params![server, caller, generation, sealed]))
}

/// Removes a token. Its row stays, so that generations do not begin anew and a swap that comes too late finds another one.
pub(super) fn remove(connection: &Connection, owner: GrantOwner<'_>) -> Result<bool, StoreError> {
    let sql = "UPDATE server_grant SET sealed = x'', issuer = '', generation = generation + 1, holder = '', leased_until = 0
        WHERE server = ?1 AND caller = ?2 AND length(sealed) > 0";
    changed(connection.execute(sql, [owner.server, owner.caller]))
}

fn changed(rows: rusqlite::Result<usize>) -> Result<bool, StoreError> {
    rows.map(|rows| rows > 0).map_err(StoreError::Write)
}
