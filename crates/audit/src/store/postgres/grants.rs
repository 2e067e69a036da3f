//! Tokens for servers. Every change is one statement, and leases are by the clock of the database, so that gateways cannot
//! come between each other.

use super::connection::Connection;
use super::error::PostgresError;
use super::value::{signed, unsigned};
use crate::store::grants::{GrantLease, GrantOwner, StoredGrant};

pub(super) fn get(
    connection: &mut Connection,
    owner: GrantOwner<'_>,
) -> Result<Option<StoredGrant>, PostgresError> {
    let sql = "SELECT issuer, generation, sealed FROM server_grant
        WHERE server = $1 AND caller = $2 AND length(sealed) > 0";
    let row = connection.first(sql, &[&owner.server, &owner.caller])?;
    Ok(row.map(|row| StoredGrant {
        issuer: row.get(0),
        generation: unsigned(row.get(1)),
        sealed: row.get(2),
    }))
}

/// The generations of these owners' tokens, in their order; nothing for an owner without one.
pub(super) fn generations(
    connection: &mut Connection,
    owners: &[GrantOwner<'_>],
) -> Result<Vec<Option<u64>>, PostgresError> {
    let sql = "SELECT g.generation FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (server, caller, place)
        LEFT JOIN server_grant g ON g.server = asked.server AND g.caller = asked.caller AND length(g.sealed) > 0
        ORDER BY asked.place";
    let (servers, callers): (Vec<&str>, Vec<&str>) = owners
        .iter()
        .map(|owner| (owner.server, owner.caller))
        .unzip();
    let rows = connection.query(sql, &[&servers, &callers])?;
    let generation = |row: &tokio_postgres::Row| row.get::<_, Option<i64>>(0).map(unsigned);
    Ok(rows.iter().map(generation).collect())
}

/// Stores a new token in place of the old one, and gives its generation.
pub(super) fn put(
    connection: &mut Connection,
    owner: GrantOwner<'_>,
    issuer: &str,
    sealed: &[u8],
) -> Result<u64, PostgresError> {
    let sql = "INSERT INTO server_grant AS g (server, caller, issuer, generation, sealed)
        VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, $4)
        ON CONFLICT (server, caller) DO UPDATE SET issuer = excluded.issuer, sealed = excluded.sealed, holder = '',
        leased_until = '-infinity', generation = greatest(g.generation + 1, excluded.generation) RETURNING generation";
    let GrantOwner { server, caller } = owner;
    let row = connection.first(sql, &[&server, &caller, &issuer, &sealed])?;
    Ok(row.map_or(0, |row| unsigned(row.get(0))))
}

pub(super) fn lease(
    connection: &mut Connection,
    owner: GrantOwner<'_>,
    lease: GrantLease<'_>,
) -> Result<bool, PostgresError> {
    let sql = "UPDATE server_grant SET holder = $4, leased_until = clock_timestamp() + $5 * interval '1 millisecond'
        WHERE server = $1 AND caller = $2 AND generation = $3 AND (leased_until <= clock_timestamp() OR holder = $4)";
    let lasts = i64::try_from(lease.lasts.as_millis()).unwrap_or(i64::MAX);
    #[expect(clippy::cast_precision_loss, reason = "a lease lasts seconds")]
    let lasts = lasts as f64;
    let GrantOwner { server, caller } = owner;
    let generation = signed(lease.generation);
    let values: &[&(dyn tokio_postgres::types::ToSql + Sync)] =
        &[&server, &caller, &generation, &lease.holder, &lasts];
    Ok(connection.execute(sql, values)? > 0)
}

pub(super) fn release(
    connection: &mut Connection,
    owner: GrantOwner<'_>,
    lease: GrantLease<'_>,
) -> Result<bool, PostgresError> {
    let sql = "UPDATE server_grant SET holder = '', leased_until = '-infinity'
        WHERE server = $1 AND caller = $2 AND generation = $3 AND holder = $4";
    let GrantOwner { server, caller } = owner;
    let generation = signed(lease.generation);
    Ok(connection.execute(sql, &[&server, &caller, &generation, &lease.holder])? > 0)
}

/// Only the generation counts: a lease may have run out while the token was exchanged, and the new token is all there is.
pub(super) fn swap(
    connection: &mut Connection,
    owner: GrantOwner<'_>,
    generation: u64,
    sealed: &[u8],
) -> Result<bool, PostgresError> {
    let sql = "UPDATE server_grant SET sealed = $4, generation = generation + 1, holder = '', leased_until = '-infinity'
        WHERE server = $1 AND caller = $2 AND generation = $3";
    let GrantOwner { server, caller } = owner;
    let generation = signed(generation);
    Ok(connection.execute(sql, &[&server, &caller, &generation, &sealed])? > 0)
}

/// Removes a token. Its row stays, so that generations do not begin anew and a swap that comes too late finds another one.
pub(super) fn remove(
    connection: &mut Connection,
    owner: GrantOwner<'_>,
) -> Result<bool, PostgresError> {
    let sql = "UPDATE server_grant SET sealed = '', issuer = '', generation = generation + 1, holder = '',
        leased_until = '-infinity' WHERE server = $1 AND caller = $2 AND length(sealed) > 0";
    Ok(connection.execute(sql, &[&owner.server, &owner.caller])? > 0)
}
