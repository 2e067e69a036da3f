//! The catalogue: each tool as its server declared it, with digest and generation, so that a record's schema can be looked up later.
//!
//! A new digest is a new generation. The last 16 generations of a tool are kept, and of each server no more bytes than its share:
//! a server that lists other tools every time must not fill the disk.

use countersign_inspect::decode_hex;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::transaction::{Transaction, immediate};
use crate::digest::Digest;
use crate::store::StoreError;
use crate::store::catalogue::{CapturedTool, Generation, ToolDeclaration};
use crate::time::Timestamp;

mod share;

pub(super) use share::total_bytes;

const KEPT: u64 = 16;
/// Tools per transaction.
const STEP: usize = 256;
const COLUMNS: &str = "server, tool, generation, digest, raw, captured_at";

/// Remembers tools, then lets go of what exceeds the server's share. The generations are in the order of `tools`.
pub(crate) fn put(
    connection: &Connection,
    server: &str,
    tools: &[ToolDeclaration<'_>],
    share: u64,
) -> Result<Vec<Generation>, StoreError> {
    let mut generations = Vec::with_capacity(tools.len());
    // Short transactions: calls are waiting to write their records.
    for step in tools.chunks(STEP) {
        let transaction = immediate(connection)?;
        let known = generations.len();
        for tool in step {
            generations.push(put_one(&transaction, server, tool)?);
        }
        if generations.iter().skip(known).any(|stored| stored.is_new) {
            share::enforce(&transaction, server, share).map_err(StoreError::Write)?;
            transaction.commit().map_err(StoreError::Write)?;
        }
    }
    Ok(generations)
}

fn put_one(
    transaction: &Transaction<'_>,
    server: &str,
    declared: &ToolDeclaration<'_>,
) -> Result<Generation, StoreError> {
    let ToolDeclaration { tool, digest, raw } = declared;
    let latest: Option<(u64, String)> = transaction
        .prepare_cached("SELECT generation, digest FROM catalogue WHERE server = ?1 AND tool = ?2 ORDER BY generation DESC LIMIT 1")
        .and_then(|mut latest| {
            let row = latest.query_row([server, tool], |row| Ok((row.get(0)?, row.get(1)?)));
            row.optional()
        })
        .map_err(StoreError::Read)?;
    let number = match latest {
        Some((number, known)) if known == *digest => {
            return Ok(Generation {
                number,
                is_new: false,
            });
        }
        Some((number, _)) => number + 1,
        None => 1,
    };
    let write = || -> rusqlite::Result<()> {
        let sql = format!("INSERT INTO catalogue({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
        let at = Timestamp::now().as_millis();
        transaction
            .prepare_cached(&sql)?
            .execute(params![server, tool, number, digest, raw, at])?;
        let sql = "DELETE FROM catalogue WHERE server = ?1 AND tool = ?2 AND generation <= ?3";
        let gone = number.saturating_sub(KEPT);
        transaction
            .prepare_cached(sql)?
            .execute(params![server, tool, gone])?;
        Ok(())
    };
    write().map_err(StoreError::Write)?;
    Ok(Generation {
        number,
        is_new: true,
    })
}

pub(crate) fn get(
    connection: &Connection,
    server: &str,
    tool: &str,
    generation: Option<u64>,
) -> rusqlite::Result<Option<CapturedTool>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM catalogue WHERE server = ?1 AND tool = ?2 AND generation = ifnull(?3, generation)
         ORDER BY generation DESC LIMIT 1"
    );
    connection
        .query_row(&sql, params![server, tool, generation], captured)
        .optional()
}

/// The newest generation of each tool of a server.
pub(crate) fn list(connection: &Connection, server: &str) -> rusqlite::Result<Vec<CapturedTool>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM catalogue AS c WHERE server = ?1
         AND generation = (SELECT max(generation) FROM catalogue WHERE server = c.server AND tool = c.tool) ORDER BY tool"
    );
    let mut statement = connection.prepare(&sql)?;
    statement.query_map([server], captured)?.collect()
}

pub(crate) fn remove(connection: &Connection, server: &str) -> Result<u64, StoreError> {
    let removed = connection
        .execute("DELETE FROM catalogue WHERE server = ?1", [server])
        .map_err(StoreError::Write)?;
    Ok(removed as u64)
}

/// The first tool whose declaration does not fit its digest, as `server:tool`. Digests of another kind are not looked at.
pub(super) fn first_changed(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT server, tool, digest, raw FROM catalogue ORDER BY server, tool, generation";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let digest: String = row.get(2)?;
        let digest = decode_hex::<32>(&digest).map(Digest::from_bytes);
        let raw = row.get_ref(3)?.as_bytes().unwrap_or_default();
        if digest.is_some_and(|digest| digest != Digest::sha256(raw)) {
            let (server, tool): (String, String) = (row.get(0)?, row.get(1)?);
            return Ok(Some(format!("{server}:{tool}")));
        }
    }
    Ok(None)
}

fn captured(row: &Row<'_>) -> rusqlite::Result<CapturedTool> {
    Ok(CapturedTool {
        server: row.get(0)?,
        tool: row.get(1)?,
        generation: row.get(2)?,
        digest: row.get(3)?,
        raw: row.get(4)?,
        captured_at: Timestamp::from_millis(row.get(5)?),
    })
}
