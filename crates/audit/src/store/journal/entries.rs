//! The entries of a journal: each a head, the body of a record, and a tag. What a file held before it was begun again stays
//! behind the last entry until it is overwritten, so each entry says to which cycle it belongs.
//!
//! The tag tells a whole entry from one of which only a part was written, and an entry of the journal's own process from one
//! that somebody else has put there: its key is derived from the key that signs checkpoints. The next process signs for what
//! it takes in, so without the tag an attacker who can write the data directory, and has no key, would have records signed.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::chain::Signer;
use crate::id::Ulid;
use crate::record::body::Body;

/// The head: number of the cycle, floor, number of the entry, length of the body. Little-endian.
const HEAD: usize = 28;
const TAG: usize = 16;

/// A run of entries from the start of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cycle {
    /// Counts up.
    pub(super) number: u64,
    /// Every record of the cycle has a place in the database that is greater than this.
    pub(super) floor: u64,
}

/// An entry as it was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) cycle: Cycle,
    pub(super) body: Body,
}

/// The key of the tags in the journal of one chain.
pub(crate) struct JournalKey(LessSafeKey);

impl std::fmt::Debug for JournalKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JournalKey")
    }
}

impl JournalKey {
    /// For a chain whose checkpoints are signed by `signer`.
    pub(crate) fn new(chain: Ulid, signer: &Signer) -> Option<Self> {
        let purpose = [b"countersign journal 1 ", &chain.to_bytes()[..]].concat();
        let secret = signer.derive(&purpose);
        let key = UnboundKey::new(&AES_256_GCM, &secret).ok()?;
        Some(Self(LessSafeKey::new(key)))
    }

    /// The tag of an entry: AES-GCM over nothing but associated data.
    fn tag(&self, number: u64, entry: &[u8]) -> Option<[u8; TAG]> {
        let aad = Aad::from(entry);
        let sealed = self
            .0
            .seal_in_place_separate_tag(nonce(number), aad, &mut []);
        sealed.ok()?.as_ref().try_into().ok()
    }

    fn verifies(&self, number: u64, entry: &[u8], mut tag: [u8; TAG]) -> bool {
        let opened = self
            .0
            .open_in_place(nonce(number), Aad::from(entry), &mut tag);
        opened.is_ok()
    }
}

/// No two entries of a chain have the same number, and each chain has its own key.
fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Nonce::assume_unique_for_key(bytes)
}

/// Writes entries.
#[derive(Debug)]
pub(super) struct Encoder {
    key: JournalKey,
    /// Of the last entry, also if it never came into a file.
    number: u64,
}

impl Encoder {
    pub(super) fn new(key: JournalKey) -> Self {
        Self { key, number: 0 }
    }

    /// Writes an entry to the end of `out`. Nothing if it is too long.
    pub(super) fn write(&mut self, cycle: Cycle, body: &Body, out: &mut Vec<u8>) -> Option<()> {
        let start = out.len();
        let body = body.as_bytes();
        let length = u32::try_from(body.len()).ok()?;
        self.number += 1;
        for number in [cycle.number, cycle.floor, self.number] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(body);
        let tag = self.key.tag(self.number, &out[start..])?;
        out.extend_from_slice(&tag);
        Some(())
    }
}

/// The entries of the cycle that a file begins with, up to the first that is not whole.
pub(super) fn decode(mut bytes: &[u8], key: &JournalKey) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    while let Some((entry, rest)) = decode_one(bytes, key) {
        if entries
            .first()
            .is_some_and(|first| first.cycle != entry.cycle)
        {
            break;
        }
        entries.push(entry);
        bytes = rest;
    }
    entries
}

fn decode_one<'b>(bytes: &'b [u8], key: &JournalKey) -> Option<(Entry, &'b [u8])> {
    let (head, _) = bytes.split_first_chunk::<HEAD>()?;
    let (numbers, length) = head.split_last_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (entry, rest) = bytes.split_at_checked(HEAD + length)?;
    let (tag, rest) = rest.split_first_chunk::<TAG>()?;
    let mut numbers = numbers.chunks_exact(8).map(<[u8; 8]>::try_from);
    let mut next = || Some(u64::from_le_bytes(numbers.next()?.ok()?));
    let cycle = Cycle {
        number: next()?,
        floor: next()?,
    };
    if !key.verifies(next()?, entry, *tag) {
        return None;
    }
    let body = Body::from_stored(entry.get(HEAD..)?)?;
    Some((Entry { cycle, body }, rest))
}
