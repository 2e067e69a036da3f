//! How the index packs numbers into blobs: the places of records, their times, and keys with the places they lead to.
//!
//! A blob is read without trust, because the file may be damaged or changed: what it says is bounded by what a batch or a
//! chunk may hold, and whatever does not fit is an error.

use rusqlite::{Row, types::Type};
use thiserror::Error;

use super::indexer::BATCH;

/// Keys in one row.
pub(super) const CHUNK: usize = 180;
/// A blob longer than this was not written here. Ten bytes hold any number, and a key is two.
pub(super) const LONGEST: usize = 1 + 10 * BATCH;

/// Places one by one, newest first: how far each is from the one before.
const SPARSE: u8 = 0;
/// A bit for each place, newest first.
const BITMAP: u8 = 1;

#[derive(Debug, Error)]
#[error("the activity index is damaged; delete its file and it is built anew")]
struct DamagedIndex;

pub(super) fn damaged() -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, Box::new(DamagedIndex))
}

/// A column's blob.
pub(super) fn blob_of<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r [u8]> {
    row.get_ref(column)?.as_blob().map_err(|_| damaged())
}

/// Packs places in ascending order, none of them after `last`.
pub(super) fn pack_seqs(seqs: &[u64], last: u64) -> Vec<u8> {
    let span = seqs.first().map_or(0, |first| last.saturating_sub(*first));
    let bytes = usize::try_from(span / 8).unwrap_or(usize::MAX);
    if bytes < seqs.len() {
        return bitmap(seqs, last, bytes + 1);
    }
    let mut packed = vec![SPARSE];
    let mut before = last;
    for seq in seqs.iter().rev() {
        put(&mut packed, before.saturating_sub(*seq));
        before = *seq;
    }
    packed
}

fn bitmap(seqs: &[u64], last: u64, bytes: usize) -> Vec<u8> {
    let mut packed = vec![0; bytes + 1];
    packed[0] = BITMAP;
    for seq in seqs {
        let back = usize::try_from(last.saturating_sub(*seq)).unwrap_or(usize::MAX);
        if let Some(byte) = packed.get_mut(1 + back / 8) {
            *byte |= 1 << (back % 8);
        }
    }
    packed
}

/// The places of a blob, newest first.
pub(super) fn unpack_seqs(blob: &[u8], last: u64) -> rusqlite::Result<Vec<u64>> {
    let (form, packed) = blob.split_first().ok_or_else(damaged)?;
    let seqs = match *form {
        SPARSE => unpack_sparse(packed, last)?,
        BITMAP if packed.len() <= BATCH => unpack_bitmap(packed, last)?,
        _ => return Err(damaged()),
    };
    if seqs.len() > BATCH {
        return Err(damaged());
    }
    Ok(seqs)
}

fn unpack_sparse(packed: &[u8], last: u64) -> rusqlite::Result<Vec<u64>> {
    let mut numbers = Numbers(packed);
    let mut seqs = Vec::new();
    let mut before = last;
    while !numbers.is_empty() && seqs.len() <= BATCH {
        let back = numbers.next()?;
        let seq = before.checked_sub(back).ok_or_else(damaged)?;
        if back == 0 && !seqs.is_empty() {
            return Err(damaged());
        }
        seqs.push(seq);
        before = seq;
    }
    Ok(seqs)
}

fn unpack_bitmap(packed: &[u8], last: u64) -> rusqlite::Result<Vec<u64>> {
    let mut seqs = Vec::with_capacity(BATCH);
    for (byte, from) in packed.iter().zip((0_u64..).step_by(8)) {
        let mut bits = *byte;
        while bits != 0 {
            let back = from + u64::from(bits.trailing_zeros());
            seqs.push(last.checked_sub(back).ok_or_else(damaged)?);
            bits &= bits - 1;
        }
    }
    Ok(seqs)
}

/// Packs the times of a batch, in the order of its places.
pub(super) fn pack_times(times: &[u64]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(times.len() + 8);
    let mut before = 0;
    for time in times.iter().rev() {
        put(&mut packed, signed(*time, before));
        before = *time;
    }
    packed
}

/// The times of a batch, newest place first.
pub(super) fn unpack_times(blob: &[u8]) -> rusqlite::Result<Vec<u64>> {
    let mut numbers = Numbers(blob);
    let (mut times, mut before) = (Vec::new(), 0);
    while !numbers.is_empty() && times.len() < BATCH {
        before = unsigned(numbers.next()?, before);
        times.push(before);
    }
    Ok(times)
}

/// A short name of something that is as good as unique, and a record that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) hash: u32,
    pub(super) seq: u64,
}

/// Packs sorted keys.
pub(super) fn pack_keys(keys: &[Key]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(keys.len() * 6 + 8);
    let mut before = Key { hash: 0, seq: 0 };
    for key in keys {
        put(&mut packed, u64::from(key.hash.wrapping_sub(before.hash)));
        put(&mut packed, signed(key.seq, before.seq));
        before = *key;
    }
    packed
}

/// Reads the keys of a row in their order, as long as `each` says so.
pub(super) fn unpack_keys(blob: &[u8], mut each: impl FnMut(Key) -> bool) -> rusqlite::Result<()> {
    let mut numbers = Numbers(blob);
    let (mut key, mut count) = (Key { hash: 0, seq: 0 }, 0);
    while !numbers.is_empty() {
        let step = u32::try_from(numbers.next()?).map_err(|_| damaged())?;
        let next = Key {
            hash: key.hash.checked_add(step).ok_or_else(damaged)?,
            seq: unsigned(numbers.next()?, key.seq),
        };
        if count == CHUNK || count > 0 && next <= key {
            return Err(damaged());
        }
        if !each(next) {
            break;
        }
        count += 1;
        key = next;
    }
    Ok(())
}

/// A difference as a number that is small if the difference is, in either direction.
fn signed(value: u64, before: u64) -> u64 {
    let step = value.wrapping_sub(before).cast_signed();
    ((step << 1) ^ (step >> 63)).cast_unsigned()
}

fn unsigned(step: u64, before: u64) -> u64 {
    let sign = (step & 1).wrapping_neg();
    before.wrapping_add((step >> 1) ^ sign)
}

/// Seven bits in a byte, the lowest first; the eighth says that more follow.
fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    fn next(&mut self) -> rusqlite::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or_else(damaged)?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                return Ok(value);
            }
        }
        Err(damaged())
    }
}

#[cfg(test)]
mod tests;
