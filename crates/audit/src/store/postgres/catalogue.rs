//! The catalogue: each tool as its server declared it. Any gateway writes it.
//!
//! A generation belongs to its digest: a server that goes back to an earlier declaration goes back to its number.
//! Otherwise gateways that see a server in the middle of its upgrade would count on for ever. The last 16 generations of
//! a tool are kept, and of each server no more bytes than its share.

use std::collections::HashMap;

use countersign_inspect::decode_hex;
use tokio_postgres::Row;

use super::connection::Connection;
use super::error::PostgresError;
use super::value::{signed, storable, unsigned};
use crate::digest::Digest;
use crate::store::catalogue::{CapturedTool, Generation, ToolDeclaration};
use crate::time::Timestamp;

const KEPT: i64 = 16;
/// What a row costs beside its texts.
const ROW: i64 = 128;
/// Declarations sent in one statement.
const STEP: usize = 256;
const COLUMNS: &str = "server, tool, generation, digest, raw, captured_at";

/// What is known of a tool.
#[derive(Debug, Default)]
struct Known {
    by_digest: HashMap<String, i64>,
    /// The digest seen last.
    current: String,
    seen: i64,
    last_generation: i64,
}

/// Remembers tools, then lets go of what exceeds the server's share. The generations are in the order of `tools`.
pub(super) fn put(
    connection: &mut Connection,
    server: &str,
    tools: &[ToolDeclaration<'_>],
    share: u64,
) -> Result<Vec<Generation>, PostgresError> {
    let server = &*storable(server);
    let mut known = known(connection, server)?;
    if let Some(unchanged) = unchanged(&known, tools) {
        return Ok(unchanged);
    }
    connection.transaction("BEGIN", |connection| {
        let lock = "SELECT pg_advisory_xact_lock(4842107, hashtext($1))";
        connection.query(lock, &[&server])?;
        known = self::known(connection, server)?;
        let mut generations = Vec::with_capacity(tools.len());
        for step in tools.chunks(STEP) {
            put_step(connection, server, step, &mut known, &mut generations)?;
        }
        remove_replaced(connection, server)?;
        remove_surplus(connection, server, share)?;
        Ok(generations)
    })
}

fn known(
    connection: &mut Connection,
    server: &str,
) -> Result<HashMap<String, Known>, PostgresError> {
    let sql = "SELECT tool, generation, digest, seen FROM catalogue WHERE server = $1";
    let mut tools: HashMap<String, Known> = HashMap::new();
    connection.for_each(sql, &[&server], |row| {
        let tool = tools.entry(row.get(0)).or_default();
        let (generation, digest, seen): (i64, String, i64) = (row.get(1), row.get(2), row.get(3));
        if seen > tool.seen {
            (tool.seen, tool.current) = (seen, digest.clone());
        }
        tool.last_generation = tool.last_generation.max(generation);
        tool.by_digest.insert(digest, generation);
        Ok(true)
    })?;
    Ok(tools)
}

/// The generations, if every tool is what it was when it was seen last.
fn unchanged(
    known: &HashMap<String, Known>,
    tools: &[ToolDeclaration<'_>],
) -> Option<Vec<Generation>> {
    let generation = |declared: &ToolDeclaration<'_>| {
        let tool = known.get(&*storable(declared.tool))?;
        let number = tool.by_digest.get(declared.digest)?;
        (tool.current == declared.digest).then(|| Generation {
            number: unsigned(*number),
            is_new: false,
        })
    };
    tools.iter().map(generation).collect()
}

fn put_step(
    connection: &mut Connection,
    server: &str,
    tools: &[ToolDeclaration<'_>],
    known: &mut HashMap<String, Known>,
    generations: &mut Vec<Generation>,
) -> Result<(), PostgresError> {
    let (mut new, mut again) = (NewRows::default(), (Vec::new(), Vec::new()));
    for declared in tools {
        let name = storable(declared.tool).into_owned();
        let tool = known.entry(name.clone()).or_default();
        let stored = tool.by_digest.get(declared.digest).copied();
        let is_current = tool.current == declared.digest;
        let number = stored.unwrap_or_else(|| {
            tool.last_generation += 1;
            tool.by_digest
                .insert(declared.digest.to_owned(), tool.last_generation);
            new.push(&name, tool.last_generation, declared);
            tool.last_generation
        });
        if !is_current {
            declared.digest.clone_into(&mut tool.current);
            again.0.push(name);
            again.1.push(storable(declared.digest).into_owned());
        }
        generations.push(Generation {
            number: unsigned(number),
            is_new: stored.is_none(),
        });
    }
    new.insert(connection, server)?;
    // In the order of the list: what was declared last was seen last.
    let sql = "UPDATE catalogue c SET seen = nextval('catalogue_seen')
               FROM unnest($2::text[], $3::text[]) AS s(tool, digest) WHERE c.server = $1 AND c.tool = s.tool AND c.digest = s.digest";
    connection.execute(sql, &[&server, &again.0, &again.1])?;
    Ok(())
}

#[derive(Default)]
struct NewRows<'a> {
    tool: Vec<String>,
    generation: Vec<i64>,
    digest: Vec<String>,
    raw: Vec<&'a [u8]>,
}

impl<'a> NewRows<'a> {
    fn push(&mut self, tool: &str, generation: i64, declared: &ToolDeclaration<'a>) {
        self.tool.push(tool.to_owned());
        self.generation.push(generation);
        self.digest.push(storable(declared.digest).into_owned());
        self.raw.push(declared.raw);
    }

    fn insert(&self, connection: &mut Connection, server: &str) -> Result<(), PostgresError> {
        let sql = "INSERT INTO catalogue(server, tool, generation, digest, raw, captured_at, seen)
                   SELECT $1, r.tool, r.generation, r.digest, r.raw, $6::bigint, 0
                   FROM unnest($2::text[], $3::bigint[], $4::text[], $5::bytea[]) AS r(tool, generation, digest, raw)";
        let now = signed(Timestamp::now().as_millis());
        let values: super::connection::Values<'_> = &[
            &server,
            &self.tool,
            &self.generation,
            &self.digest,
            &self.raw,
            &now,
        ];
        connection.execute(sql, values).map(drop)
    }
}

fn remove_replaced(connection: &mut Connection, server: &str) -> Result<(), PostgresError> {
    let sql = "DELETE FROM catalogue c USING (
                   SELECT tool, generation, row_number() OVER (PARTITION BY tool ORDER BY seen DESC) AS rank FROM catalogue WHERE server = $1
               ) r WHERE c.server = $1 AND c.tool = r.tool AND c.generation = r.generation AND r.rank > $2";
    connection.execute(sql, &[&server, &KEPT]).map(drop)
}

/// Oldest first: declarations that were replaced, then the marks that a tool is gone, and only then what is listed now.
fn remove_surplus(
    connection: &mut Connection,
    server: &str,
    share: u64,
) -> Result<(), PostgresError> {
    let sql = "DELETE FROM catalogue c USING (
        SELECT tool, generation, size, sum(size) OVER () AS used,
            sum(size) OVER (ORDER BY is_current, octet_length(raw) > 0, captured_at, tool, generation) AS running
        FROM (SELECT *, octet_length(raw) + 2 * octet_length(server) + 2 * octet_length(tool) + $3::bigint AS size,
            row_number() OVER (PARTITION BY tool ORDER BY seen DESC) = 1 AS is_current FROM catalogue WHERE server = $1) s
        ) r WHERE c.server = $1 AND c.tool = r.tool AND c.generation = r.generation AND r.running - r.size < r.used - $2::bigint";
    connection
        .execute(sql, &[&server, &signed(share), &ROW])
        .map(drop)
}

/// A remembered tool: the generation that was seen last, or the one asked for.
pub(super) fn get(
    connection: &mut Connection,
    server: &str,
    tool: &str,
    generation: Option<u64>,
) -> Result<Option<CapturedTool>, PostgresError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM catalogue WHERE server = $1 AND tool = $2 AND generation = coalesce($3, generation) ORDER BY seen DESC LIMIT 1"
    );
    let generation = generation.map(signed);
    let row = connection.first(&sql, &[&&*storable(server), &&*storable(tool), &generation])?;
    Ok(row.as_ref().map(captured))
}

/// The generation of each tool of a server that was seen last.
pub(super) fn list(
    connection: &mut Connection,
    server: &str,
) -> Result<Vec<CapturedTool>, PostgresError> {
    let sql = format!(
        "SELECT DISTINCT ON (tool) {COLUMNS} FROM catalogue WHERE server = $1 ORDER BY tool, seen DESC"
    );
    let mut tools = Vec::new();
    connection.for_each(&sql, &[&&*storable(server)], |row| {
        tools.push(captured(row));
        Ok(true)
    })?;
    Ok(tools)
}

pub(super) fn remove(connection: &mut Connection, server: &str) -> Result<u64, PostgresError> {
    connection.execute(
        "DELETE FROM catalogue WHERE server = $1",
        &[&&*storable(server)],
    )
}

/// The first tool whose declaration does not fit its digest, as `server:tool`. Digests of another kind are not looked at.
pub(super) fn first_changed(connection: &mut Connection) -> Result<Option<String>, PostgresError> {
    let sql = "SELECT server, tool, digest, raw FROM catalogue ORDER BY server, tool, generation";
    let mut changed = None;
    connection.for_each(sql, &[], |row| {
        let digest = decode_hex::<32>(row.get(2)).map(Digest::from_bytes);
        if digest.is_some_and(|digest| digest != Digest::sha256(row.get(3))) {
            changed = Some(format!(
                "{}:{}",
                row.get::<_, &str>(0),
                row.get::<_, &str>(1)
            ));
        }
        Ok(changed.is_none())
    })?;
    Ok(changed)
}

fn captured(row: &Row) -> CapturedTool {
    CapturedTool {
        server: row.get(0),
        tool: row.get(1),
        generation: unsigned(row.get(2)),
        digest: row.get(3),
        raw: row.get(4),
        captured_at: Timestamp::from_millis(unsigned(row.get(5))),
    }
}
