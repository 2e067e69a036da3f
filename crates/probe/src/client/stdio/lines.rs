//! Lines out of chunks. One that is too long costs no memory: only its ends are kept, to see whose
//! it is. Whoever reads the chunks stamps the clock, so this does no reading itself.

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;

use crate::client::reading;

/// How much of the ends of a line that is too long is kept, to see whose it is.
const ENDS: usize = 64;

/// Lines out of chunks, none longer than the limit.
pub(super) struct Lines {
    pub(super) buffer: BytesMut,
    searched: usize,
    limit: usize,
    /// A line that is too long is under way.
    skipped: Option<Skipped>,
}

#[derive(Default)]
struct Skipped {
    start: Vec<u8>,
    end: Vec<u8>,
}

pub(super) enum Read {
    Whole(Bytes),
    /// The id it seems to answer.
    TooLarge(Option<u64>),
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            limit,
            skipped: None,
        }
    }

    pub(super) fn next(&mut self) -> Option<Read> {
        let unseen = self.buffer.get(self.searched..).unwrap_or_default();
        let found = memchr(b'\n', unseen).map(|at| self.searched + at);
        let Some(end) = found else {
            self.searched = self.buffer.len();
            if self.searched > self.limit || self.skipped.is_some() {
                let part = self.buffer.split();
                self.skipped.get_or_insert_default().feed(&part);
                self.searched = 0;
            }
            return None;
        };
        let line = self.buffer.split_to(end).freeze();
        self.buffer.advance(1);
        self.searched = 0;
        if self.skipped.is_some() || line.len() > self.limit {
            let mut skipped = self.skipped.take().unwrap_or_default();
            skipped.feed(&line);
            return Some(skipped.read());
        }
        Some(Read::Whole(line))
    }
}

impl Skipped {
    fn feed(&mut self, part: &[u8]) {
        let wanted = ENDS.saturating_sub(self.start.len()).min(part.len());
        self.start
            .extend_from_slice(part.get(..wanted).unwrap_or_default());
        let last = part.len().saturating_sub(ENDS);
        self.end
            .extend_from_slice(part.get(last..).unwrap_or_default());
        let surplus = self.end.len().saturating_sub(ENDS);
        self.end.drain(..surplus);
    }

    fn read(self) -> Read {
        let ends = [self.start, self.end].concat();
        Read::TooLarge(reading::guess_id(&ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &[u8], chunk: usize, limit: usize) -> Vec<String> {
        let mut lines = Lines::new(limit);
        let mut seen = Vec::new();
        for part in input.chunks(chunk) {
            lines.buffer.extend_from_slice(part);
            while let Some(read) = lines.next() {
                seen.push(match read {
                    Read::Whole(line) => String::from_utf8_lossy(&line).into_owned(),
                    Read::TooLarge(id) => format!("{id:?}"),
                });
            }
        }
        seen
    }

    #[test]
    fn lines_come_one_by_one_and_an_unfinished_one_is_none() {
        for chunk in 1..16 {
            assert_eq!(all(b"one\n\ntwo\r\nthree", chunk, 9), ["one", "", "two\r"]);
        }
    }

    #[test]
    fn a_line_over_the_limit_is_refused_and_the_next_is_not() {
        let first = format!("{{\"id\":7,\"result\":\"{}\"}}\nnext\n", "x".repeat(500));
        let last = format!("{{\"result\":\"{}\",\"id\":8}}\nnext\n", "x".repeat(500));
        for chunk in [1, 7, 64, 100, 1000] {
            assert_eq!(all(first.as_bytes(), chunk, 100), ["Some(7)", "next"]);
            assert_eq!(all(last.as_bytes(), chunk, 100), ["Some(8)", "next"]);
        }
        assert_eq!(all(b"12345\n123456\n1\n", 3, 5), ["12345", "None", "1"]);
    }
}
