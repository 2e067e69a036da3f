//! The entries of a journal: each a head and the body of a record. What a file held before it was begun again stays behind
//! the last entry until it is overwritten, so each entry says to which cycle it belongs, and a checksum tells a whole entry
//! from one of which only a part was written.

use crc32fast::Hasher;

use crate::record::body::Body;

/// The head: number of the cycle, floor, length of the body, checksum. Little-endian.
const HEAD: usize = 24;

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

/// Writes an entry to the end of `out`.
pub(super) fn encode(cycle: Cycle, body: &Body, out: &mut Vec<u8>) {
    let start = out.len();
    let body = body.as_bytes();
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&cycle.number.to_le_bytes());
    out.extend_from_slice(&cycle.floor.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    let checksum = checksum(&out[start..], body);
    out.extend_from_slice(&checksum.to_le_bytes());
    out.extend_from_slice(body);
}

/// The entries of the cycle that a file begins with, up to the first that is not whole.
pub(super) fn decode(mut bytes: &[u8]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    while let Some((entry, rest)) = decode_one(bytes) {
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

fn decode_one(bytes: &[u8]) -> Option<(Entry, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let (head, check) = head.split_last_chunk::<4>()?;
    let (numbers, length) = head.split_last_chunk::<4>()?;
    let (number, floor) = numbers.split_first_chunk::<8>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (body, rest) = rest.split_at_checked(length)?;
    if checksum(head, body) != u32::from_le_bytes(*check) {
        return None;
    }
    let cycle = Cycle {
        number: u64::from_le_bytes(*number),
        floor: u64::from_le_bytes(floor.try_into().ok()?),
    };
    let body = Body::from_stored(body)?;
    Some((Entry { cycle, body }, rest))
}

fn checksum(head: &[u8], body: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(head);
    hasher.update(body);
    hasher.finalize()
}
