//! A peer's output as lines, each at most as long as a message may be. A longer one is
//! thrown away as it arrives, so its length costs no memory, and reported as refused, with the id
//! of the call it answers if it names one.

mod id_finder;

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::budget::{Budget, MemoryReservation};
use id_finder::IdFinder;

const CHUNK: usize = 64 * 1024;
/// Room for at least this much is made before a read.
const READ: usize = CHUNK / 4;

/// What a peer wrote.
#[derive(Debug)]
pub enum Line {
    /// One line, without its end.
    Whole(Bytes),
    /// A line that was not kept, and the id in it as it is written, if it was found. It has not been checked.
    Refused(LineRefusal, Option<Bytes>),
    /// The output has ended; see [`Lines::rest`] for what has no line end.
    End,
}

/// Why a line was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineRefusal {
    /// It is longer than a message may be.
    TooLarge,
    /// No memory for it in time.
    NoMemory,
}

/// Reads lines from a peer.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line end.
    searched: usize,
    limit: usize,
    budget: Budget,
    held: MemoryReservation,
    skipping: Option<SkippedLine>,
}

/// A line that is discarded as it arrives.
#[derive(Debug)]
struct SkippedLine {
    why: LineRefusal,
    finder: IdFinder,
    reported: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// No line is longer than `limit`, and memory for long ones is taken from `budget`.
    pub fn new(source: R, limit: usize, budget: Budget) -> Self {
        Self {
            source,
            buffer: BytesMut::with_capacity(CHUNK),
            searched: 0,
            limit,
            budget,
            held: MemoryReservation::default(),
            skipping: None,
        }
    }

    /// The next line. Not to be dropped half-way and called again if lines matter.
    pub async fn next(&mut self) -> io::Result<Line> {
        loop {
            if let Some(line) = self.take() {
                return Ok(line);
            }
            // What fits into the first chunk is free, however many reads it comes in.
            if self.skipping.is_none() && self.buffer.len() > CHUNK - READ {
                let wanted = self.buffer.len().saturating_add(CHUNK);
                if self.budget.cover(&mut self.held, wanted).await.is_err() {
                    self.skip(LineRefusal::NoMemory);
                    continue;
                }
            }
            self.buffer.reserve(READ);
            if self.source.read_buf(&mut self.buffer).await? == 0 {
                return Ok(Line::End);
            }
        }
    }

    /// What was left at the end, without a line end. A peer that was cut off leaves half a message like this.
    pub fn rest(&mut self) -> Option<Bytes> {
        let rest = std::mem::take(&mut self.buffer).freeze();
        let is_line = self.skipping.is_none() && !rest.is_empty();
        is_line.then(|| std::mem::take(&mut self.held).attach(rest))
    }

    /// What the buffer has to say by itself.
    fn take(&mut self) -> Option<Line> {
        loop {
            if self.skipping.is_some() {
                if let Some(line) = self.pass() {
                    return Some(line);
                }
                if self.skipping.is_some() {
                    return None;
                }
            }
            let unseen = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(end) = memchr(b'\n', unseen) {
                let line = self.buffer.split_to(self.searched + end).freeze();
                self.buffer.advance(1);
                self.searched = 0;
                if line.len() > self.limit {
                    return Some(self.refuse_whole(&line));
                }
                return Some(Line::Whole(std::mem::take(&mut self.held).attach(line)));
            }
            self.searched = self.buffer.len();
            if self.searched <= self.limit {
                return None;
            }
            self.skip(LineRefusal::TooLarge);
        }
    }

    fn refuse_whole(&mut self, line: &[u8]) -> Line {
        self.held = MemoryReservation::default();
        let mut finder = IdFinder::default();
        finder.feed(line);
        Line::Refused(LineRefusal::TooLarge, finder.id())
    }

    /// Starts to throw the line in the buffer away.
    fn skip(&mut self, why: LineRefusal) {
        self.held = MemoryReservation::default();
        self.skipping = Some(SkippedLine {
            why,
            finder: IdFinder::default(),
            reported: false,
        });
    }

    /// Throws away what the buffer holds of the line, and reports it as soon as its id is known.
    fn pass(&mut self) -> Option<Line> {
        let skipping = self.skipping.as_mut()?;
        let end = memchr(b'\n', &self.buffer);
        let part = self.buffer.split_to(end.unwrap_or(self.buffer.len()));
        skipping.finder.feed(&part);
        let (id, why) = (skipping.finder.id(), skipping.why);
        let report = !skipping.reported && (id.is_some() || end.is_some());
        skipping.reported |= report;
        if end.is_some() {
            self.buffer.advance(1);
            self.skipping = None;
        }
        self.searched = 0;
        drop(part);
        if self.buffer.is_empty() && self.buffer.capacity() > 16 * CHUNK {
            self.buffer = BytesMut::with_capacity(CHUNK);
        }
        report.then_some(Line::Refused(why, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(input: &[u8], limit: usize) -> Vec<String> {
        let mut lines = Lines::new(input, limit, Budget::new(1 << 20));
        let mut seen = Vec::new();
        loop {
            match lines.next().await.expect("memory does not fail") {
                Line::Whole(line) => seen.push(String::from_utf8_lossy(&line).into_owned()),
                Line::Refused(why, id) => {
                    let id = id.map(|id| String::from_utf8_lossy(&id).into_owned());
                    seen.push(format!("{why:?} {}", id.unwrap_or_default()));
                }
                Line::End => {
                    let rest = lines.rest();
                    seen.extend(
                        rest.map(|rest| format!("rest: {}", String::from_utf8_lossy(&rest))),
                    );
                    return seen;
                }
            }
        }
    }

    #[tokio::test]
    async fn lines_come_one_by_one_and_an_unfinished_one_is_left() {
        let expected = ["one", "", "two\r", "rest: three"];
        assert_eq!(all(b"one\n\ntwo\r\nthree", 10).await, expected);
        assert_eq!(all(b"one\n", 10).await, ["one"]);
        assert_eq!(all(b"123456", 5).await, [""; 0]);
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_refused_and_the_next_is_not() {
        assert_eq!(
            all(b"12345\n123456\n1\n", 5).await,
            ["12345", "TooLarge ", "1"]
        );
        let mut input = br#"{"id":7,"result":""#.to_vec();
        input.extend(vec![b'x'; 500_000]);
        input.extend(b"\"}\nnext\n");
        assert_eq!(all(&input, 100_000).await, ["TooLarge 7", "next"]);
        let mut input = br#"{"result":""#.to_vec();
        input.extend(vec![b'x'; 500_000]);
        input.extend(b"\",\"id\":8}\nnext\n");
        assert_eq!(all(&input, 100_000).await, ["TooLarge 8", "next"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_without_memory_is_refused() {
        let mut input = vec![b'x'; 2 << 20];
        input.extend(b"\nnext\n");
        assert_eq!(all(&input, 4 << 20).await, ["NoMemory ", "next"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_small_line_in_two_reads_finds_room_when_all_memory_is_held() {
        let budget = Budget::new(1 << 20);
        let mut all = MemoryReservation::default();
        budget.cover(&mut all, 1 << 20).await.expect("all of it");
        let input = AsyncReadExt::chain(&b"half of "[..], &b"a line\n"[..]);
        let mut lines = Lines::new(input, 1 << 20, budget);
        let line = lines.next().await.expect("memory does not fail");
        assert!(matches!(line, Line::Whole(line) if line == "half of a line"));
    }
}
