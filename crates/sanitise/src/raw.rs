//! JSON judged as it stands, before anything is decoded: whether its strings can have anything for the sanitiser. Most
//! results are done here, in one pass. It may send a clean text on to
//! the full check; it never passes a text that is not clean.

#![expect(
    clippy::inline_always,
    reason = "instructions of a processor are used only in what is inlined into the function that was chosen for it"
)]

use countersign_tape::{BLOCK_LENGTH, Block, Escapes, each_place};
use fearless_simd::{Level, Simd, dispatch};

use crate::matcher::Matcher;
use crate::sanitiser::Sanitiser;
use crate::settings::Mode;

impl Sanitiser {
    /// Whether the inside of a JSON string, escapes undecoded, has nothing to find, alone or joined to a neighbour.
    ///
    /// ```
    /// use countersign_sanitise::{Sanitiser, Settings};
    ///
    /// let sanitiser = Sanitiser::new(Settings::default())?;
    /// assert!(sanitiser.passes_string(r#"{\"id\": 7, \"tags\": [\"a\"]}\n"#));
    /// assert!(!sanitiser.passes_string(r"\u003c|im_start|>"));
    /// # Ok::<(), countersign_sanitise::Error>(())
    /// ```
    pub fn passes_string(&self, raw: &str) -> bool {
        self.passes(raw.as_bytes(), Extent::String)
    }

    /// Whether no string or key of a checked JSON text has anything to find.
    ///
    /// ```
    /// use countersign_sanitise::{Sanitiser, Settings};
    ///
    /// let sanitiser = Sanitiser::new(Settings::default())?;
    /// assert!(sanitiser.passes_json(r#"{"id": 7, "tags": ["a"], "text": "two\nlines"}"#));
    /// assert!(!sanitiser.passes_json(r#"{"[INST]": 1}"#));
    /// # Ok::<(), countersign_sanitise::Error>(())
    /// ```
    pub fn passes_json(&self, json: &str) -> bool {
        self.passes(json.as_bytes(), Extent::Json)
    }

    /// The same for texts that a host may join, so that a token may begin in one of them and end in the next.
    pub fn passes_blocks(&self, json: &str) -> bool {
        self.passes(json.as_bytes(), Extent::Blocks)
    }

    fn passes(&self, bytes: &[u8], extent: Extent) -> bool {
        self.passes_with(Level::new(), bytes, extent)
    }

    /// The same with the vectors of a processor.
    fn passes_with(&self, level: Level, bytes: &[u8], extent: Extent) -> bool {
        if self.settings().mode == Mode::Off {
            return true;
        }
        let marked = extent == Extent::String && self.matcher.marks(bytes);
        if marked || self.matcher.has_plain_literals() {
            return false;
        }
        let scan = RawScan::new(bytes, self, extent);
        dispatch!(level, vectors => scan.passes(vectors))
    }
}

/// What is judged, and so where a text may begin and end that another one may follow: a token may begin with the last
/// bracket of one and end in the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// The inside of one string.
    String,
    /// JSON whose strings stay apart.
    Json,
    /// JSON whose strings may be joined.
    Blocks,
}

/// One pass over a text. Keeps from the block before what the next one needs.
struct RawScan<'t> {
    bytes: &'t [u8],
    matcher: &'t Matcher,
    extent: Extent,
    escapes: Escapes,
    /// Escaped line feeds of the block before.
    lines: u64,
    /// The block before ended within a letter: its first byte, as the lowest bit.
    open_letter: u64,
}

/// The first byte of the letters of Latin-1. None of them is folded, hidden or a mark, so alone or beside ASCII they stay
/// as they are in every normal form.
const LATIN: u8 = 0xC3;

impl<'t> RawScan<'t> {
    fn new(bytes: &'t [u8], sanitiser: &'t Sanitiser, extent: Extent) -> Self {
        Self {
            bytes,
            matcher: &sanitiser.matcher,
            extent,
            escapes: Escapes::default(),
            lines: 0,
            open_letter: 0,
        }
    }

    #[inline(always)]
    fn passes<S: Simd>(mut self, vectors: S) -> bool {
        let mut start = 0;
        while let Some(rest) = self.bytes.get(start..).filter(|rest| !rest.is_empty()) {
            let block = Block::padded(vectors, rest, b' ');
            if !self.block_passes(block, start) {
                return false;
            }
            start += BLOCK_LENGTH;
        }
        !self.escapes.is_open()
    }

    #[inline(always)]
    fn block_passes<S: Simd>(&mut self, block: Block<S>, start: usize) -> bool {
        // Controls cannot stand in JSON text.
        if block.has_or_exceeds_ascii([b'<', b'&', b'%']) {
            if block.has([b'<', b'&', b'%', 0x7F]) || !self.letters_pass(block) {
                return false;
            }
        } else {
            self.open_letter = 0;
        }
        let (quotes, backslashes) = (block.positions([b'"']), block.positions([b'\\']));
        if backslashes == 0 && !self.escapes.is_open() {
            self.lines = 0;
        } else if !self.escapes_pass(block, start, quotes, backslashes) {
            return false;
        }
        self.brackets_pass(block, start, quotes, backslashes)
            && (self.extent == Extent::String || self.starts_pass(block, start, quotes))
    }

    /// Whether all characters of a block beyond ASCII are letters of Latin-1, which no token and no role marker has.
    #[inline(always)]
    fn letters_pass<S: Simd>(&mut self, block: Block<S>) -> bool {
        let firsts = block.positions([LATIN]);
        let letters = firsts | firsts << 1 | self.open_letter;
        self.open_letter = firsts >> 63;
        self.matcher.is_without_latin() && block.beyond_ascii() == letters
    }

    /// Whether no escape of a block hides anything. Harmless are those of quotes, slashes, tabs, line feeds, letters
    /// of Latin-1, and of backslashes before which nothing could be an escape of its own.
    #[inline(always)]
    fn escapes_pass<S: Simd>(
        &mut self,
        block: Block<S>,
        start: usize,
        quotes: u64,
        backslashes: u64,
    ) -> bool {
        let escaped = self.escapes.next(backslashes);
        let letters = block.positions([b'n']);
        let lines = escaped & letters;
        let others = escaped & !(quotes | lines | backslashes);
        if others != 0 {
            let others = others & !block.positions([b't', b'/']);
            if !each_place(others).all(|at| self.is_letter(start + at)) {
                return false;
            }
        }
        // JSON in JSON text has these two behind escaped backslashes.
        let harmless = letters | backslashes & quotes >> 1;
        let doubled = escaped & backslashes & !(harmless >> 1);
        let is_escape = |at| is_escape_behind_backslash(self.bytes_behind(start + at));
        if each_place(doubled).any(is_escape) {
            return false;
        }
        let blank = lines & (lines << 2 | self.lines >> 62);
        self.lines = lines;
        !each_place(blank).any(|at| self.matcher.marks(self.bytes_behind(start + at)))
    }

    /// Whether no token begins with a bracket of a block. Nearly all brackets of JSON are followed by what no token has.
    #[inline(always)]
    fn brackets_pass<S: Simd>(
        &self,
        block: Block<S>,
        start: usize,
        quotes: u64,
        backslashes: u64,
    ) -> bool {
        let mut brackets = block.positions([b'[', b']']);
        if brackets != 0 && !self.matcher.opens_like_json() {
            let ends = if self.extent == Extent::Blocks {
                0
            } else {
                quotes
            };
            let escaped_quotes = backslashes & quotes >> 1;
            let harmless = block.positions([b',', b'{', b'}']) | brackets | ends | escaped_quotes;
            brackets &= !(harmless >> 1);
        }
        !each_place(brackets).any(|at| self.opens(start + at))
    }

    /// Whether no string of a block begins with a role marker. That some quotes end a string does no harm.
    #[inline(always)]
    fn starts_pass<S: Simd>(&self, block: Block<S>, start: usize, mut quotes: u64) -> bool {
        if self.matcher.markers_begin_with_capitals() {
            let firsts = block.positions_between(b'@', b'Z') | block.positions([b'#']);
            quotes &= firsts >> 1 | 1 << 63;
        }
        !each_place(quotes).any(|at| self.matcher.marks(self.bytes_behind(start + at)))
    }

    /// Whether a token may begin with the bracket at a place. A bracket inside a string is followed by what a token has
    /// there, one outside hardly ever.
    fn opens(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        match rest {
            [_] => self.extent == Extent::String,
            [_, b'"', ..] if self.extent == Extent::Blocks => true,
            // A quote or a slash; a line feed or a tab is in no token.
            [bracket, b'\\', escaped, ..] if self.matcher.opens(&[*bracket, *escaped]) => true,
            _ => self.matcher.opens(rest),
        }
    }

    /// Whether the escape at a place is one of a letter of Latin-1.
    fn is_letter(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let is_latin = matches!(rest, [b'u', b'0', b'0', b'c'..=b'f' | b'C'..=b'F', last, ..] if last.is_ascii_hexdigit());
        is_latin && self.matcher.is_without_latin()
    }

    /// What stands behind the byte at a place.
    fn bytes_behind(&self, at: usize) -> &'t [u8] {
        self.bytes.get(at + 1..).unwrap_or_default()
    }
}

/// Whether something may take a backslash of the text, and what follows it, for an escape.
fn is_escape_behind_backslash(behind: &[u8]) -> bool {
    matches!(
        behind,
        [b'u' | b'U' | b'x' | b'0'..=b'7', ..] | [b'\\', b'\\' | b'u', ..]
    )
}

#[cfg(test)]
mod tests;
