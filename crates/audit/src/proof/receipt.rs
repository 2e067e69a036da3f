//! `Receipt`: everything a reader needs to see that one record is in the log, in the form of
//! <https://c2sp.org/tlog-proof>: the record, its path to the batch, the batch's path to the root, and the signed log head.
//!
//! It is checked without the store, without a network and without trust in the text: only the keys are trusted.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::batch::Batch;
use super::log_head::{LogHead, LogHeadError};
use super::merkle::{self, MAX_PATH};
use super::note::{Note, VerifierKey};
use crate::chain::TrustedKeys;
use crate::digest::{Digest, chain_hash};
use crate::id::Ulid;
use crate::record::Record;
use crate::record::body::decode;

const HEADER: &str = "c2sp.org/tlog-proof@v1\n";
/// Longer texts are refused. A record with a payload can be large.
const MAX_RECEIPT: usize = 64 << 20;

/// Why a receipt is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReceiptError {
    /// It is not in the form of a receipt.
    #[error("not a receipt: {0}")]
    Form(&'static str),
    /// The log head in it is not accepted.
    #[error(transparent)]
    Head(#[from] LogHeadError),
    /// The log head is that of another log than a key was given for.
    #[error("the receipt is of another log than the key")]
    OtherLog,
    /// A witness that was named has not cosigned the log head.
    #[error("the log checkpoint is not cosigned by a witness that was named")]
    NoWitness,
    /// The record does not lead to the root of its batch.
    #[error("the record is not the one that the log holds: it or its proof was changed")]
    Record,
    /// The batch's own signature does not hold.
    #[error("the signature of the chain does not hold")]
    Batch,
    /// The batch does not lead to the signed root.
    #[error("the proof does not lead to the signed root")]
    Path,
}

/// A record and the proof that the log holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub(crate) extra: Extra,
    /// The place of the batch in the log.
    pub(crate) index: u64,
    pub(crate) path: Vec<Digest>,
    /// The signed log head.
    pub(crate) note: String,
}

/// What leads from the record to the leaf of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Extra {
    /// The record, as it is stored.
    pub(crate) record: String,
    /// The hash of the record before it in its chain.
    pub(crate) prev: Digest,
    /// The number of the record in its chain.
    pub(crate) n: u64,
    /// The path from the record's hash to the root of its batch.
    pub(crate) batch_path: Vec<Digest>,
    /// The batch, as it is a leaf of the log.
    pub(crate) leaf: String,
}

/// What an accepted receipt shows.
#[derive(Debug, Clone)]
pub struct VerifiedReceipt {
    /// The record.
    pub record: Record,
    /// The record, as it is stored.
    pub body: String,
    /// Its chain.
    pub chain_id: Ulid,
    /// Its number in the chain.
    pub n: u64,
    /// Its hash.
    pub hash: Digest,
    /// The log.
    pub head: LogHead,
    /// The names of the given witnesses that cosigned the log head.
    pub witnesses: Vec<String>,
}

impl Receipt {
    /// Reads the text. Refuses every text that it would not have written.
    pub fn parse(text: &str) -> Result<Self, ReceiptError> {
        let form = ReceiptError::Form;
        if text.len() > MAX_RECEIPT {
            return Err(form("too long"));
        }
        let rest = text
            .strip_prefix(HEADER)
            .ok_or(form("another first line"))?;
        let (proof, note) = rest.split_once("\n\n").ok_or(form("no checkpoint"))?;
        let mut lines = proof.split('\n');
        let extra = lines.next().and_then(|line| line.strip_prefix("extra "));
        let extra = STANDARD.decode(extra.ok_or(form("no extra data"))?);
        let extra = extra.map_err(|_| form("the extra data is not base64"))?;
        let extra = serde_json::from_slice(&extra);
        let extra: Extra = extra.map_err(|_| form("the extra data is not that of a record"))?;
        let index = lines.next().and_then(|line| line.strip_prefix("index "));
        let index = index.and_then(|index| index.parse().ok());
        let path: Option<Vec<Digest>> = lines.take(MAX_PATH + 1).map(decode_base64).collect();
        let receipt = Self {
            extra,
            index: index.ok_or(form("no index"))?,
            path: path.ok_or(form("the path is not one of hashes"))?,
            note: note.to_owned(),
        };
        if receipt.to_string() == text {
            Ok(receipt)
        } else {
            Err(form("not in its canonical form"))
        }
    }

    /// The signed log head in it, as a note.
    pub fn log_head(&self) -> &str {
        &self.note
    }

    /// Checks everything, with nothing but these keys: a log key for the head, and every witness that is named.
    pub fn verify(
        &self,
        trusted: &TrustedKeys,
        named: &[VerifierKey],
    ) -> Result<VerifiedReceipt, ReceiptError> {
        let (head, witnesses) = self.head(trusted, named)?;
        let extra = &self.extra;
        let batch = Batch::from_text(&extra.leaf);
        let batch = batch.ok_or(ReceiptError::Form("the leaf is not a batch of records"))?;
        let leaf = merkle::leaf_hash(extra.leaf.as_bytes());
        if merkle::root_from_path(leaf, self.index, head.size, &self.path) != Some(head.root) {
            return Err(ReceiptError::Path);
        }
        let hash = chain_hash(&extra.prev, extra.record.as_bytes());
        if !batch.includes(extra.n, &hash, &extra.batch_path) {
            return Err(ReceiptError::Record);
        }
        if !batch.is_signed() {
            return Err(ReceiptError::Batch);
        }
        let record = decode(extra.record.as_bytes());
        Ok(VerifiedReceipt {
            record: record.map_err(|_| ReceiptError::Form("the record cannot be decoded"))?,
            body: extra.record.clone(),
            chain_id: batch.chain_id,
            n: extra.n,
            hash,
            head,
            witnesses,
        })
    }

    fn head(
        &self,
        trusted: &TrustedKeys,
        named: &[VerifierKey],
    ) -> Result<(LogHead, Vec<String>), ReceiptError> {
        let note = Note::parse(&self.note).map_err(LogHeadError::from)?;
        let (witnesses, logs): (Vec<_>, Vec<_>) = named.iter().partition(|key| key.is_witness());
        let logs_keys = logs.iter().map(|log| log.key);
        let trusted = logs_keys.fold(trusted.clone(), TrustedKeys::with);
        let head = LogHead::from_note(&note, &trusted)?;
        if !logs.is_empty() && logs.iter().all(|log| log.name != head.origin) {
            return Err(ReceiptError::OtherLog);
        }
        for witness in &witnesses {
            if !witness.has_signed(&note).map_err(LogHeadError::from)? {
                return Err(ReceiptError::NoWitness);
            }
        }
        let names = witnesses.iter().map(|witness| witness.name.clone());
        Ok((head, names.collect()))
    }
}

impl std::fmt::Display for Receipt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let extra = serde_json::to_vec(&self.extra).map_err(|_| std::fmt::Error)?;
        write!(
            f,
            "{HEADER}extra {}\nindex {}\n",
            STANDARD.encode(extra),
            self.index
        )?;
        for hash in &self.path {
            writeln!(f, "{}", STANDARD.encode(hash.as_bytes()))?;
        }
        f.write_char('\n')?;
        f.write_str(&self.note)
    }
}

fn decode_base64(line: &str) -> Option<Digest> {
    Digest::from_slice(&STANDARD.decode(line).ok()?)
}
