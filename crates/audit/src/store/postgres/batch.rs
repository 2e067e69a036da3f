//! `Batch`: records of one chain on their way into the database, as the arrays of one statement.
//!
//! It keeps its bytes until the database has answered: if a connection breaks, whether the statement was committed is
//! unknown, and the same batch is sent again. Its keys are the same, so it is stored once.

use super::connection::Connection;
use super::error::PostgresError;
use super::value::{Uuid, signed, small, storable};
use crate::chain::Checkpoint;
use crate::digest::{Digest, chain_hash};
use crate::proof::merkle::{Frontier, leaf_hash};
use crate::record::body::{Body, decode};
use crate::record::indexed_fields::IndexedFields;
use crate::record::{DecodeError, Head};

/// A batch is one statement in a transaction of its own: records, what was found in them, and a checkpoint if one is due.
/// A record's place is its transaction's number and its own number in it.
const INSERT: &str = "
WITH place AS (SELECT (pg_current_xact_id()::text::bigint << 16) + seq_base AS base FROM meta),
record AS (
    INSERT INTO activity(day, chain, n, seq, id, at, kind, status, decision, server, tool, client, request_id, parent, hash, body)
    SELECT $1, $2, $3::bigint + r.ordinal - 1, place.base + r.ordinal, r.id, r.at, r.kind, r.status, r.decision, r.server, r.tool,
        r.client, r.request_id, r.parent, r.hash, r.body
    FROM place, unnest($4::uuid[], $5::bigint[], $6::smallint[], $7::smallint[], $8::smallint[], $9::text[], $10::text[], $11::text[],
        $12::text[], $13::uuid[], $14::bytea[], $15::bytea[])
        WITH ORDINALITY AS r(id, at, kind, status, decision, server, tool, client, request_id, parent, hash, body, ordinal)
    ON CONFLICT DO NOTHING RETURNING 1
), term AS (
    INSERT INTO found(day, term, seq) SELECT $1, t.term, place.base + t.ordinal
    FROM place, unnest($16::text[], $17::int[]) AS t(term, ordinal) WHERE EXISTS (SELECT FROM record) ON CONFLICT DO NOTHING
), signed AS (
    INSERT INTO checkpoint(chain, n, hash, at, lost, key, signature)
    SELECT $2, $18::bigint, $19::bytea, $20::bigint, $21::bigint, $22::text, $23::text WHERE $18::bigint IS NOT NULL
    ON CONFLICT DO NOTHING
), queued AS (
    INSERT INTO tree_queue(chain, body) SELECT $2, $24::text WHERE $24::text IS NOT NULL
) SELECT count(*) FROM record";

/// Records of one chain, with their numbers and hashes.
#[derive(Debug)]
pub(super) struct Batch {
    /// The day of the first attempt. A later attempt must meet the same key, so it has the same day.
    pub(super) day: i32,
    first: u64,
    prev: Digest,
    pub(super) bodies: Vec<Body>,
    columns: Columns,
    pub(super) checkpoint: Option<Checkpoint>,
    /// The statement for the tree that comes with the checkpoint.
    pub(super) statement: Option<String>,
}

#[derive(Debug, Default)]
struct Columns {
    id: Vec<Uuid>,
    at: Vec<i64>,
    kind: Vec<i16>,
    status: Vec<i16>,
    decision: Vec<Option<i16>>,
    server: Vec<Option<String>>,
    tool: Vec<Option<String>>,
    client: Vec<Option<String>>,
    request_id: Vec<Option<String>>,
    parent: Vec<Option<Uuid>>,
    hash: Vec<Digest>,
    term: Vec<String>,
    term_ordinal: Vec<i32>,
}

impl Batch {
    /// The records as the next ones of a chain that stands at number `first` and hash `prev`.
    pub(super) fn new(
        day: i32,
        first: u64,
        prev: Digest,
        bodies: &[Body],
    ) -> Result<Self, DecodeError> {
        let mut columns = Columns::default();
        let mut hash = prev;
        for body in bodies {
            hash = chain_hash(&hash, body.as_bytes());
            columns.push(body.as_bytes(), hash)?;
        }
        Ok(Self {
            day,
            first,
            prev,
            bodies: bodies.to_vec(),
            columns,
            checkpoint: None,
            statement: None,
        })
    }

    /// The number the record after this batch gets, and the hash it builds on.
    pub(super) fn end(&self) -> (u64, Digest) {
        let hash = self.columns.hash.last().copied();
        (
            self.first + self.bodies.len() as u64,
            hash.unwrap_or(self.prev),
        )
    }

    /// Appends the hashes of its records to a Merkle tree.
    pub(super) fn extend(&self, records: &mut Frontier) {
        let hashes = self.columns.hash.iter();
        hashes.for_each(|hash| records.push(leaf_hash(hash.as_bytes())));
    }

    /// The last record of the batch.
    pub(super) fn head(&self, chain_id: crate::id::Ulid) -> Head {
        let (next, hash) = self.end();
        Head {
            chain_id,
            n: next.saturating_sub(1),
            hash,
        }
    }

    /// Sends it. False if every record was there already: an earlier attempt had been committed.
    pub(super) fn send(
        &self,
        connection: &mut Connection,
        chain: i32,
    ) -> Result<bool, PostgresError> {
        let columns = &self.columns;
        let first = signed(self.first);
        let hashes: Vec<&[u8]> = columns
            .hash
            .iter()
            .map(|hash| &hash.as_bytes()[..])
            .collect();
        let bodies: Vec<&[u8]> = self.bodies.iter().map(Body::as_bytes).collect();
        let checkpoint = self.checkpoint.as_ref();
        let n = checkpoint.map(|signed_head| signed(signed_head.head.n));
        let hash = checkpoint.map(|signed_head| &signed_head.head.hash.as_bytes()[..]);
        let at = checkpoint.map(|signed_head| signed(signed_head.at.as_millis()));
        let lost = checkpoint.map(|signed_head| signed(signed_head.lost));
        let key = checkpoint.map(|signed_head| signed_head.key.as_str());
        let signature = checkpoint.map(|signed_head| signed_head.signature.as_str());
        let rows = connection.query(
            INSERT,
            &[
                &self.day,
                &chain,
                &first,
                &columns.id,
                &columns.at,
                &columns.kind,
                &columns.status,
                &columns.decision,
                &columns.server,
                &columns.tool,
                &columns.client,
                &columns.request_id,
                &columns.parent,
                &hashes,
                &bodies,
                &columns.term,
                &columns.term_ordinal,
                &n,
                &hash,
                &at,
                &lost,
                &key,
                &signature,
                &self.statement,
            ],
        )?;
        let row = rows.first().ok_or(PostgresError::Value("a count"))?;
        Ok(row.get::<_, i64>(0) > 0)
    }
}

impl Columns {
    fn push(&mut self, body: &[u8], hash: Digest) -> Result<(), DecodeError> {
        let decoded;
        let record = if let Some(record) = IndexedFields::plain(body) {
            record
        } else {
            decoded = decode(body)?;
            IndexedFields::from(&decoded)
        };
        let text = |text: Option<&str>| text.map(|text| storable(text).into_owned());
        self.id.push(Uuid(record.id));
        self.at.push(signed(record.timestamp.as_millis()));
        self.kind.push(small(record.kind.code()));
        self.status.push(small(record.status.code()));
        self.decision.push(record.decision_code().map(small));
        self.server.push(text(record.server));
        self.tool.push(text(record.tool));
        self.client.push(text(record.client));
        self.request_id.push(text(record.request_id));
        self.parent.push(record.parent_id.map(Uuid));
        self.hash.push(hash);
        let ordinal = i32::try_from(self.hash.len()).unwrap_or(i32::MAX);
        for term in terms(&record) {
            self.term.push(term);
            self.term_ordinal.push(ordinal);
        }
        Ok(())
    }
}

/// What a record is found by besides its columns: rules and stages, each once.
pub(super) fn terms(record: &IndexedFields<'_>) -> Vec<String> {
    let rules = record
        .findings
        .iter()
        .map(|finding| rule_term(&finding.rule));
    let stages = record
        .findings
        .iter()
        .map(|finding| stage_term(finding.stage));
    let mut terms: Vec<String> = rules.chain(stages).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

pub(super) fn rule_term(rule: &str) -> String {
    format!("r:{}", storable(rule))
}

pub(super) fn stage_term(stage: crate::record::Stage) -> String {
    format!("s:{}", stage as i64)
}
