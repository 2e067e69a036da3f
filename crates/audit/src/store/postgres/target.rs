//! `Target`: a PostgreSQL store that a log is copied into.

use std::collections::{BTreeSet, HashMap};

use super::connection::Connection;
use super::value::{Uuid, signed, small, storable, unsigned};
use super::{READ_DEADLINE, batch, days, prepare};
use crate::chain::Checkpoint;
use crate::record::body::decode;
use crate::record::indexed_fields::IndexedFields;
use crate::store::copied::{CopiedChain, CopiedCheckpoint, CopiedRow};
use crate::store::{CapturedTool, StoreError};

/// As the statement of `batch`, for rows of several chains and days. What is there already is left as it is.
const INSERT: &str = "
WITH place AS (SELECT (pg_current_xact_id()::text::bigint << 16) + seq_base AS base FROM meta),
record AS (
    INSERT INTO activity(day, chain, n, seq, id, at, kind, status, decision, server, tool, client, request_id, parent, hash, body)
    SELECT r.day, r.chain, r.n, place.base + r.ordinal, r.id, r.at, r.kind, r.status, r.decision, r.server, r.tool,
        r.client, r.request_id, r.parent, r.hash, r.body
    FROM place, unnest($1::int[], $2::int[], $3::bigint[], $4::uuid[], $5::bigint[], $6::smallint[], $7::smallint[], $8::smallint[],
        $9::text[], $10::text[], $11::text[], $12::text[], $13::uuid[], $14::bytea[], $15::bytea[])
        WITH ORDINALITY AS r(day, chain, n, id, at, kind, status, decision, server, tool, client, request_id, parent, hash, body, ordinal)
    ON CONFLICT DO NOTHING RETURNING day, seq
), term AS (
    INSERT INTO found(day, term, seq) SELECT record.day, t.term, record.seq
    FROM place, unnest($16::text[], $17::int[]) AS t(term, ordinal), record WHERE record.seq = place.base + t.ordinal
    ON CONFLICT DO NOTHING
) SELECT count(*) FROM record";

/// A store that is written from another one.
pub(in crate::store) struct Target {
    connection: Connection,
    /// By the number of a chain in the source.
    chains: HashMap<i64, ChainCopy>,
    made_days: BTreeSet<i32>,
}

/// How far a chain is copied.
#[derive(Clone, Copy, Default)]
struct ChainCopy {
    /// Its number here.
    id: i32,
    /// The day of its last record.
    day: i32,
    /// The number of the last record that an earlier copy has left here. A chain is copied in its order, so everything
    /// before it was there too; retention may have removed some of it since.
    last: Option<i64>,
}

#[derive(Default)]
struct Columns {
    day: Vec<i32>,
    chain: Vec<i32>,
    n: Vec<i64>,
    id: Vec<Uuid>,
    at: Vec<i64>,
    kind: Vec<i16>,
    status: Vec<i16>,
    decision: Vec<Option<i16>>,
    names: [Vec<Option<String>>; 4],
    parent: Vec<Option<Uuid>>,
    term: Vec<String>,
    term_ordinal: Vec<i32>,
}

impl Target {
    pub(in crate::store) fn open(url: &str) -> Result<Self, StoreError> {
        let address = url.parse().map_err(StoreError::postgres)?;
        prepare(&address)?;
        let connection =
            Connection::open(&address, "SET synchronous_commit = local", READ_DEADLINE);
        Ok(Self {
            connection: connection.map_err(StoreError::postgres)?,
            chains: HashMap::new(),
            made_days: BTreeSet::new(),
        })
    }

    pub(in crate::store) fn chains(&self) -> u64 {
        self.chains.len() as u64
    }

    pub(in crate::store) fn add_chain(&mut self, chain: CopiedChain) -> Result<(), StoreError> {
        let text = chain.chain_id.to_string();
        let insert = "INSERT INTO chain(chain_id) VALUES ($1) ON CONFLICT DO NOTHING";
        self.connection.execute(insert, &[&text])?;
        let row = self
            .connection
            .first("SELECT id FROM chain WHERE chain_id = $1", &[&text])?;
        let id: i32 = row.map_or(0, |row| row.get(0));
        let last = "SELECT n, day FROM activity WHERE chain = $1 ORDER BY n DESC LIMIT 1";
        let row = self.connection.first(last, &[&id])?;
        let copy = ChainCopy {
            id,
            day: row.as_ref().map_or(0, |row| row.get(1)),
            last: row.map(|row| row.get(0)),
        };
        self.chains.insert(chain.number, copy);
        Ok(())
    }

    /// Gives how many of them were not there yet.
    pub(in crate::store) fn add_rows(&mut self, rows: &[CopiedRow]) -> Result<u64, StoreError> {
        let is_copied = |row: &&CopiedRow| {
            let last = self.chains.get(&row.chain).and_then(|chain| chain.last);
            last.is_some_and(|last| signed(row.n) <= last)
        };
        let rows: Vec<&CopiedRow> = rows.iter().filter(|row| !is_copied(row)).collect();
        if rows.is_empty() {
            return Ok(0);
        }
        let mut columns = Columns::default();
        for row in &rows {
            let record = decode(&row.body);
            let record = record.map_err(|source| StoreError::Record {
                seq: row.seq,
                source,
            })?;
            let chain = self.chains.entry(row.chain).or_default();
            // Days of a chain never go back, so that retention removes its beginning and nothing else.
            chain.day = days::of(record.timestamp).max(chain.day).min(days::today());
            columns.push(chain.day, chain.id, row.n, &IndexedFields::from(&record));
        }
        for day in &columns.day {
            if self.made_days.insert(*day) {
                days::make(&mut self.connection, *day)?;
            }
        }
        let hashes: Vec<&[u8]> = rows.iter().map(|row| &row.hash.as_bytes()[..]).collect();
        let bodies: Vec<&[u8]> = rows.iter().map(|row| row.body.as_slice()).collect();
        let c = &columns;
        let row = self.connection.first(
            INSERT,
            &[
                &c.day,
                &c.chain,
                &c.n,
                &c.id,
                &c.at,
                &c.kind,
                &c.status,
                &c.decision,
                &c.names[0],
                &c.names[1],
                &c.names[2],
                &c.names[3],
                &c.parent,
                &hashes,
                &bodies,
                &c.term,
                &c.term_ordinal,
            ],
        )?;
        Ok(row.map_or(0, |row| unsigned(row.get(0))))
    }

    pub(in crate::store) fn add_signed(
        &mut self,
        checkpoints: Vec<CopiedCheckpoint>,
        floors: Vec<CopiedCheckpoint>,
    ) -> Result<(), StoreError> {
        for (table, signed_heads) in [("checkpoint", checkpoints), ("floor", floors)] {
            for (chain, checkpoint) in signed_heads {
                self.add_checkpoint(table, chain, &checkpoint)?;
            }
        }
        Ok(())
    }

    fn add_checkpoint(
        &mut self,
        table: &str,
        chain: i64,
        checkpoint: &Checkpoint,
    ) -> Result<(), StoreError> {
        let Some(ChainCopy { id: chain, .. }) = self.chains.get(&chain) else {
            return Ok(());
        };
        let sql = format!(
            "INSERT INTO {table}(chain, n, hash, at, lost, key, signature) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING"
        );
        let hash = &checkpoint.head.hash.as_bytes()[..];
        let (n, at) = (signed(checkpoint.head.n), signed(checkpoint.at.as_millis()));
        let lost = signed(checkpoint.lost);
        self.connection.execute(
            &sql,
            &[
                chain,
                &n,
                &hash,
                &at,
                &lost,
                &checkpoint.key,
                &checkpoint.signature,
            ],
        )?;
        Ok(())
    }

    /// Queues signed batches for the target's own log. Those that it has are passed over when they are taken in.
    pub(in crate::store) fn add_batches(
        &mut self,
        batches: &[(i64, String)],
    ) -> Result<(), StoreError> {
        for (chain, text) in batches {
            if let Some(ChainCopy { id: chain, .. }) = self.chains.get(chain) {
                let sql = "INSERT INTO tree_queue(chain, body) VALUES ($1, $2)";
                self.connection.execute(sql, &[chain, text])?;
            }
        }
        Ok(())
    }

    /// Declarations that the target has are left as they are.
    pub(in crate::store) fn add_revocations(
        &mut self,
        revocations: &[(Vec<u8>, String)],
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO revocation(key, caller) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        for (key, caller) in revocations {
            let caller = storable(caller);
            self.connection.execute(sql, &[key, &&*caller])?;
        }
        Ok(())
    }

    pub(in crate::store) fn add_tools(&mut self, tools: &[CapturedTool]) -> Result<(), StoreError> {
        let sql = "INSERT INTO catalogue(server, tool, generation, digest, raw, captured_at, seen)
                   VALUES ($1, $2, $3, $4, $5, $6, nextval('catalogue_seen')) ON CONFLICT DO NOTHING";
        for tool in tools {
            let (generation, at) = (
                signed(tool.generation),
                signed(tool.captured_at.as_millis()),
            );
            let (server, name) = (storable(&tool.server), storable(&tool.tool));
            let digest = storable(&tool.digest);
            self.connection.execute(
                sql,
                &[&&*server, &&*name, &generation, &&*digest, &tool.raw, &at],
            )?;
        }
        Ok(())
    }
}

impl Columns {
    fn push(&mut self, day: i32, chain: i32, n: u64, record: &IndexedFields<'_>) {
        self.day.push(day);
        self.chain.push(chain);
        self.n.push(signed(n));
        self.id.push(Uuid(record.id));
        self.at.push(signed(record.timestamp.as_millis()));
        self.kind.push(small(record.kind.code()));
        self.status.push(small(record.status.code()));
        self.decision.push(record.decision_code().map(small));
        let names = [record.server, record.tool, record.client, record.request_id];
        for (column, name) in self.names.iter_mut().zip(names) {
            column.push(name.map(|name| storable(name).into_owned()));
        }
        self.parent.push(record.parent_id.map(Uuid));
        let ordinal = i32::try_from(self.id.len()).unwrap_or(i32::MAX);
        for term in batch::terms(record) {
            self.term.push(term);
            self.term_ordinal.push(ordinal);
        }
    }
}
