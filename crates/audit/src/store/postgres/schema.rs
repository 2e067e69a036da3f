//! The tables, as numbered migrations that only go forward, in a schema of their own.
//!
//! The owner of the tables migrates, under a lock. Any other user finds them as they must be or is refused. Roles that
//! exist get their rights each time the owner opens the store: `countersign_writer` may add records, `countersign_reader`
//! may read them, and neither may change or remove one.

use super::connection::Connection;
use super::error::PostgresError;
use crate::store::StoreError;

/// Step `i` takes the database from format `i` to `i + 1`.
const MIGRATIONS: [&str; 5] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
];
const KNOWN: i32 = 5;
/// Held while tables are made, partitions are made, or a chain is begun.
pub(super) const LOCK: &str = "SELECT pg_advisory_xact_lock(4842107250913201)";

const GRANTS: &str = "
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'countersign_reader') THEN
        GRANT USAGE ON SCHEMA countersign TO countersign_reader;
        GRANT SELECT ON ALL TABLES IN SCHEMA countersign TO countersign_reader;
    END IF;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'countersign_writer') THEN
        GRANT USAGE ON SCHEMA countersign TO countersign_writer;
        GRANT SELECT ON ALL TABLES IN SCHEMA countersign TO countersign_writer;
        GRANT INSERT ON chain, activity, found, checkpoint, floor, leaf, tile, revocation TO countersign_writer;
        GRANT INSERT, UPDATE, DELETE ON tree_queue, tree_head, server_grant TO countersign_writer;
        GRANT INSERT, UPDATE, DELETE ON catalogue, rollup, rollup_rule, recent, span, day_span TO countersign_writer;
        GRANT UPDATE (counted) ON meta TO countersign_writer;
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA countersign TO countersign_writer;
        GRANT EXECUTE ON FUNCTION make_day(int), drop_day(int) TO countersign_writer;
    END IF;
END $$";

/// What a user finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Format {
    version: i32,
    oldest_writer: i32,
}

/// Makes the tables if there are none, and brings older ones up to date. Says whether anything changed.
pub(super) fn migrate(connection: &mut Connection) -> Result<bool, StoreError> {
    let is_old = |format: Option<Format>| format.is_none_or(|format| format.version < KNOWN);
    let before = find(connection)?;
    if is_old(before) {
        let migrated = connection.transaction("BEGIN", |connection| {
            connection.query(LOCK, &[])?;
            // Another process may have been faster.
            let from = find(connection)?.map_or(0, |format| format.version);
            steps(connection, from)
        });
        if let Err(error) = migrated {
            let found = before.map_or(0, |format| format.version);
            let is_owner = !error.is_forbidden();
            let older = PostgresError::Older {
                found,
                needed: KNOWN,
            };
            return Err(StoreError::postgres(if is_owner { error } else { older }));
        }
    }
    check(find(connection)?)?;
    Ok(is_old(before))
}

/// Refuses tables that this program must not write.
pub(super) fn check_writable(connection: &mut Connection) -> Result<(), StoreError> {
    check(find(connection)?)
}

fn check(format: Option<Format>) -> Result<(), StoreError> {
    let older = |found| PostgresError::Older {
        found,
        needed: KNOWN,
    };
    match format {
        None => Err(StoreError::postgres(older(0))),
        Some(format) if format.version < KNOWN => Err(StoreError::postgres(older(format.version))),
        Some(format) if format.oldest_writer > KNOWN => {
            Err(StoreError::postgres(PostgresError::TooOld {
                needed: format.oldest_writer,
                known: KNOWN,
            }))
        }
        Some(_) => Ok(()),
    }
}

fn find(connection: &mut Connection) -> Result<Option<Format>, PostgresError> {
    // to_regclass would answer from a cache, which another session's migration does not change at once.
    let there =
        "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE n.nspname = 'countersign' AND c.relname = 'meta')";
    let row = connection.first(there, &[])?;
    if !row.is_some_and(|row| row.get(0)) {
        return Ok(None);
    }
    let row = connection.first("SELECT version, oldest_writer FROM countersign.meta", &[])?;
    Ok(row.map(|row| Format {
        version: row.get(0),
        oldest_writer: row.get(1),
    }))
}

fn steps(connection: &mut Connection, from: i32) -> Result<(), PostgresError> {
    connection.run("CREATE SCHEMA IF NOT EXISTS countersign")?;
    let done = usize::try_from(from).unwrap_or_default();
    for step in MIGRATIONS.iter().skip(done) {
        connection.run(step)?;
    }
    connection.run(&format!("UPDATE meta SET version = {KNOWN}"))?;
    connection.run(GRANTS)
}

/// Gives the roles their rights, if this user owns the tables.
pub(super) fn grant(connection: &mut Connection) -> Result<(), PostgresError> {
    let owner = "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'countersign.meta'::regclass";
    let row = connection.first(owner, &[])?;
    if row.is_some_and(|row| row.get(0)) {
        connection.run(GRANTS)?;
    }
    Ok(())
}

/// Makes places grow on after the database was restored into a cluster that has counted fewer transactions.
pub(super) fn raise_base(connection: &mut Connection) -> Result<(), PostgresError> {
    let behind = "SELECT (SELECT max(seq) FROM activity) - ((pg_snapshot_xmax(pg_current_snapshot())::text::bigint << 16) + seq_base) FROM meta";
    let row = connection.first(behind, &[])?;
    let behind: Option<i64> = row.and_then(|row| row.get(0));
    if behind.is_some_and(|behind| behind >= 0) {
        let raise = "UPDATE meta SET seq_base = seq_base + ($1::bigint | 65535) + 1";
        connection.execute(raise, &[&behind])?;
    }
    Ok(())
}
