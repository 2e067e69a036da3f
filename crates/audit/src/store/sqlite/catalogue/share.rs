//! A server's share of the catalogue: how many bytes its declarations may take, and which of them go first.

use rusqlite::{Connection, params};

/// What a row costs beside its texts: the rest of its columns, and its entry in the primary key.
const ROW: u64 = 128;

/// What the whole catalogue takes, about.
pub(in crate::store::sqlite) fn total_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT ifnull(sum(length(raw) + 2 * length(server) + 2 * length(tool) + ?1), 0) FROM catalogue";
    connection.query_row(sql, [ROW], |row| row.get(0))
}

/// Removes what exceeds the share of a server, oldest first: declarations that were replaced, then the marks that a tool is gone,
/// and only then what is listed now. A mark goes after the declarations it stands behind, or the tool would come back.
pub(super) fn enforce(connection: &Connection, server: &str, share: u64) -> rusqlite::Result<()> {
    let sql = "SELECT ifnull(sum(length(raw) + 2 * length(server) + 2 * length(tool) + ?2), 0) FROM catalogue WHERE server = ?1";
    let used: u64 = connection
        .prepare_cached(sql)?
        .query_row(params![server, ROW], |row| row.get(0))?;
    let Some(mut surplus) = used.checked_sub(share).filter(|surplus| *surplus > 0) else {
        return Ok(());
    };
    let sql = "SELECT c.rowid, length(raw) + 2 * length(server) + 2 * length(tool) + ?2 FROM catalogue AS c WHERE server = ?1
         ORDER BY NOT EXISTS (SELECT 1 FROM catalogue AS n
            WHERE n.server = c.server AND n.tool = c.tool AND n.generation > c.generation),
         length(raw) > 0, captured_at, c.rowid";
    let mut oldest = connection.prepare_cached(sql)?;
    let mut remove = connection.prepare_cached("DELETE FROM catalogue WHERE rowid = ?1")?;
    // Read before anything is removed: the query must not meet its own deletions.
    let rows: Vec<(i64, u64)> = oldest
        .query_map(params![server, ROW], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    for (row, size) in rows {
        remove.execute([row])?;
        surplus = surplus.saturating_sub(size);
        if surplus == 0 {
            break;
        }
    }
    Ok(())
}
