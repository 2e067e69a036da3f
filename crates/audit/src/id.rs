//! `Ulid`: the public name of a record. 48 bits of milliseconds, 80 random bits, 26 characters that sort by time.
//!
//! `Generator` is pure: clock and randomness are arguments. `Ids` feeds it from the system and is what a process shares.
//! Refuses to go backwards: two ids of one generator always sort in the order they were made, even if the clock steps back.
//! `NewId` therefore carries the clock's time beside the id: after the clock stepped back, the time in the ids stands still.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

use crate::time::Timestamp;

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The digit that each byte stands for, in either case; `NO_DIGIT` for any other.
const DIGITS: [u8; 256] = digits();
const NO_DIGIT: u8 = 0xff;
const TEXT_LENGTH: usize = 26;
const RANDOM_BITS: u32 = 80;
const RANDOM_MASK: u128 = (1 << RANDOM_BITS) - 1;
const MAX_MILLIS: u64 = (1 << 48) - 1;

/// A record's id: sorts by the time it was made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulid(u128);

/// The text is not a ULID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a record id: expected 26 characters of Crockford base 32, the first between 0 and 7")]
pub struct NotAUlid;

impl Ulid {
    /// The id as 16 big-endian bytes, in sorting order.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The id of 16 bytes made by [`Ulid::to_bytes`].
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// The time part.
    pub fn timestamp(self) -> Timestamp {
        let millis = u64::try_from(self.0 >> RANDOM_BITS).unwrap_or(MAX_MILLIS);
        Timestamp::from_millis(millis)
    }

    fn compose(millis: u64, random: u128) -> Self {
        Self((u128::from(millis.min(MAX_MILLIS)) << RANDOM_BITS) | (random & RANDOM_MASK))
    }

    /// The text, which is ASCII.
    pub(crate) fn encode(self) -> [u8; TEXT_LENGTH] {
        let mut text = [b'0'; TEXT_LENGTH];
        let mut rest = self.0;
        for slot in text.iter_mut().rev() {
            *slot = ALPHABET[(rest & 31) as usize];
            rest >>= 5;
        }
        text
    }
}

impl fmt::Display for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.encode();
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Ulid {
    type Err = NotAUlid;

    fn from_str(text: &str) -> Result<Self, NotAUlid> {
        let bytes = text.as_bytes();
        if bytes.len() != TEXT_LENGTH || bytes.first().is_none_or(|b| *b > b'7') {
            return Err(NotAUlid);
        }
        let (mut value, mut all) = (0_u128, 0);
        for byte in bytes {
            let digit = DIGITS[usize::from(*byte)];
            all |= digit;
            value = (value << 5) | u128::from(digit & 31);
        }
        if all == NO_DIGIT {
            return Err(NotAUlid);
        }
        Ok(Self(value))
    }
}

const fn digits() -> [u8; 256] {
    let mut digits = [NO_DIGIT; 256];
    let mut digit = 0;
    while digit < 32 {
        let byte = ALPHABET[digit as usize];
        digits[byte as usize] = digit;
        digits[byte.to_ascii_lowercase() as usize] = digit;
        digit += 1;
    }
    digits
}

impl Serialize for Ulid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.encode();
        serializer.serialize_str(std::str::from_utf8(&text).map_err(serde::ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Ulid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// An id that was just made, with the clock's time at that moment. The two times differ only after the clock stepped back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewId {
    /// The id: greater than every id before it.
    pub id: Ulid,
    /// The clock's time, which is what a record says about when it happened.
    pub at: Timestamp,
}

impl From<Ulid> for NewId {
    /// An id from elsewhere: its own time is the only one known.
    fn from(id: Ulid) -> Self {
        let at = id.timestamp();
        Self { id, at }
    }
}

/// Makes ids that only ever go up. Pure: the caller brings the clock and the randomness.
#[derive(Debug, Default)]
pub struct Generator {
    last: Option<Ulid>,
}

impl Generator {
    /// The next id at `now`. `random` is asked only when the millisecond is new, so a burst costs one call.
    pub fn next(&mut self, now: Timestamp, random: impl FnOnce() -> [u8; 10]) -> NewId {
        let fresh = self
            .last
            .is_none_or(|last| now.as_millis().min(MAX_MILLIS) > last.timestamp().as_millis());
        let id = match self.last {
            Some(last) if !fresh => Ulid(last.0.saturating_add(1)),
            _ => {
                let mut wide = [0_u8; 16];
                wide[6..].copy_from_slice(&random());
                Ulid::compose(now.as_millis(), u128::from_be_bytes(wide))
            }
        };
        self.last = Some(id);
        NewId { id, at: now }
    }
}

/// The process's source of ids: [`Generator`] fed by the system's clock and randomness.
#[derive(Debug, Default)]
pub struct Ids {
    source: Mutex<Source>,
}

#[derive(Debug, Default)]
struct Source {
    generator: Generator,
    /// Randomness that was asked for in advance.
    spare: Vec<[u8; 10]>,
}

impl Ids {
    /// A new source. One per process is enough; two never collide in practice (80 random bits).
    pub fn new() -> Self {
        Self::default()
    }

    /// The next id, now.
    pub fn next(&self) -> NewId {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let Source { generator, spare } = &mut *source;
        generator.next(Timestamp::now(), || {
            spare.pop().unwrap_or_else(|| random_bytes(spare))
        })
    }
}

/// How many ids the system is asked for randomness at once. A busy gateway needs some for each millisecond.
const SPARE: usize = 24;

/// Randomness for one id, and for some more into `spare`.
fn random_bytes(spare: &mut Vec<[u8; 10]>) -> [u8; 10] {
    let mut bytes = [0; 10 * (SPARE + 1)];
    // Without system randomness ids would still be ordered within a process; a collision between
    // processes is then caught by nothing, so the address-space layout is mixed in as the last resort.
    if getrandom::fill(&mut bytes).is_err() {
        let here = std::ptr::from_ref(&bytes).addr().to_le_bytes();
        let mut first = [0; 10];
        first[..8].copy_from_slice(&here);
        return first;
    }
    let (parts, _) = bytes.as_chunks::<10>();
    let [first, others @ ..] = parts else {
        return [0; 10];
    };
    spare.extend_from_slice(others);
    *first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_sorts_like_the_number() {
        let mut generator = Generator::default();
        let mut next = |millis, random| generator.next(Timestamp::from_millis(millis), || random);
        let first = next(1_469_922_850_259, [0; 10]).id;
        assert_eq!(first.to_string(), "01ARZ3NDEK0000000000000000");
        let second = next(1_469_922_850_260, [0xff; 10]).id;
        assert!(first < second && first.to_string() < second.to_string());
        assert_eq!(second.to_string().parse(), Ok(second));
        assert_eq!(second.to_string().to_lowercase().parse(), Ok(second));
        assert_eq!(Ulid::from_bytes(second.to_bytes()), second);
        assert_eq!(second.timestamp().as_millis(), 1_469_922_850_260);
    }

    #[test]
    fn after_the_clock_jumped_ahead_and_back_ids_go_up_and_times_follow_the_clock() {
        let mut generator = Generator::default();
        let times = [1000, 1000, 9_000_000, 1001, 1002, 9_000_001];
        let made = times.map(|at| generator.next(Timestamp::from_millis(at), || [7; 10]));
        assert!(made.is_sorted_by(|a, b| a.id < b.id), "{made:?}");
        assert_eq!(made.map(|new| new.at.as_millis()), times);
        // Randomness is asked for only where the time in the ids moves.
        let same = generator.next(Timestamp::from_millis(10), || unreachable!("stepped back"));
        assert_eq!(same.id.timestamp().as_millis(), 9_000_001);
    }

    #[test]
    fn refuses_what_is_not_a_ulid() {
        for bad in [
            "",
            "01ARZ3NDEK",
            "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "01ARZ3NDEKU000000000000000",
            "01ARZ3NDEK000000000000000é",
        ] {
            assert_eq!(bad.parse::<Ulid>(), Err(NotAUlid), "{bad}");
        }
    }

    #[test]
    fn system_ids_differ() {
        let ids = Ids::new();
        let other = Ids::new();
        let (a, b, c) = (ids.next().id, ids.next().id, other.next().id);
        assert!(a < b);
        assert_ne!(a, c);
        assert_ne!(b, c);
    }
}
