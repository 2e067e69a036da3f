//! The sink that builds nothing: it checks a value's grammar and depth with one bit per nesting level.
//! Sixty-four levels fit in a register; a 100,000-deep array costs 12.5 KB.

use crate::error::{ParseError, Reason};
use crate::fingerprint::ShortName;
use crate::kind::LONE_SURROGATE;
use crate::walk::{Container, Sink, walk};

/// Checks values one after the other, keeping its buffer.
#[derive(Debug)]
pub(crate) struct Skipper {
    /// Full words of outer levels.
    words: Vec<u64>,
    /// The innermost levels, the last in bit 0; set means object.
    word: u64,
    level: u32,
    deepest: u32,
    limit: u32,
    max_depth: u32,
    /// Start of the first string with a lone surrogate.
    pub(crate) surrogate: Option<usize>,
}

/// Where a value ended and how deep it is.
pub(crate) struct SkippedValue {
    pub(crate) end: usize,
    pub(crate) depth: u32,
}

impl Skipper {
    pub(crate) fn new(max_depth: u32) -> Self {
        Self {
            words: Vec::new(),
            word: 0,
            level: 0,
            deepest: 0,
            limit: 0,
            max_depth,
            surrogate: None,
        }
    }

    /// Check the value at `at`, which stands inside `outer` containers.
    #[inline(never)]
    pub(crate) fn skip(
        &mut self,
        bytes: &[u8],
        at: usize,
        outer: u32,
    ) -> Result<SkippedValue, ParseError> {
        if outer >= self.max_depth {
            return Err(ParseError::new(at, Reason::TooDeep));
        }
        self.limit = self.max_depth - outer;
        self.deepest = 0;
        let end = walk(bytes, at, self)?;
        Ok(SkippedValue {
            end,
            depth: self.deepest + 1,
        })
    }

    pub(crate) fn max_depth(&self) -> u32 {
        self.max_depth
    }

    /// Note a string or key, for its flags.
    #[inline]
    pub(crate) fn note(&mut self, start: usize, flags: u32) {
        if flags & LONE_SURROGATE != 0 && self.surrogate.is_none() {
            self.surrogate = Some(start);
        }
    }
}

impl Sink for Skipper {
    #[inline]
    fn leaf(&mut self, _start: usize, _end: usize, _meta: u32) {}

    #[inline]
    fn string(&mut self, start: usize, _end: usize, flags: u32) {
        self.note(start, flags);
    }

    #[inline]
    fn key(&mut self, start: usize, _name: &[u8], flags: u32) {
        self.note(start, flags);
    }

    #[inline]
    fn short_key(&mut self, _start: usize, _name: ShortName) {}

    #[inline]
    fn open(&mut self, start: usize, container: Container) -> Result<Option<usize>, ParseError> {
        if self.level.is_multiple_of(64) && self.level > 0 {
            self.words.push(self.word);
        }
        self.word = self.word << 1 | u64::from(container == Container::Object);
        self.level += 1;
        self.deepest = self.deepest.max(self.level);
        if self.level >= self.limit {
            return Err(ParseError::new(start, Reason::TooDeep));
        }
        Ok(None)
    }

    #[inline]
    fn comma(&mut self) -> Result<(), ParseError> {
        Ok(())
    }

    #[inline]
    fn close(&mut self, _end: usize) -> Option<Container> {
        self.level -= 1;
        if self.level == 0 {
            return None;
        }
        self.word >>= 1;
        if self.level.is_multiple_of(64) {
            self.word = self.words.pop().unwrap_or(0);
        }
        Some(if self.word & 1 == 1 {
            Container::Object
        } else {
            Container::Array
        })
    }
}
