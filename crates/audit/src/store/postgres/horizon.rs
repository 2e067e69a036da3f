//! The horizon: the place below which the store does not change any more.
//!
//! Places are given when a transaction begins to write, and become visible when it is committed: a record may appear
//! below one that is already there. A follower that asked for everything after the last place it saw would miss it. So
//! followers read up to the horizon: the oldest transaction under way in this database, asked for before the records.
//! Transactions of other databases of the cluster do not hold it back.

use super::connection::Connection;
use super::error::PostgresError;
use super::value::unsigned;

/// Every transaction before the snapshot's end has ended, except those that other connections say are theirs. Theirs are
/// numbers of 32 bits, so the distance to the end is what counts. `backend_xid` is visible to every role.
const HORIZON: &str = "
SELECT ((s.xmax - coalesce((
    SELECT max(b.behind) FROM (
        SELECT (s.xmax - p.backend_xid::text::bigint) & 4294967295 AS behind FROM pg_stat_activity p
        WHERE p.backend_xid IS NOT NULL AND p.datname = current_database() AND p.pid <> pg_backend_pid()
    ) b WHERE b.behind < 2147483648), 0)) << 16) + m.seq_base
FROM (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS xmax) s, meta m";

/// Every record with a lower place is visible to the next statement, or will never be.
pub(super) fn read(connection: &mut Connection) -> Result<u64, PostgresError> {
    let row = connection.first(HORIZON, &[])?;
    row.map(|row| unsigned(row.get(0)))
        .ok_or(PostgresError::Value("no horizon"))
}
