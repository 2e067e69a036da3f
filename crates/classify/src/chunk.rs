//! Text cut into pieces a classifier takes. Cuts are made between sentences where there are any, and neighbours overlap
//! by 10 to 15 per cent, so that an injection cannot hide at a seam. Several texts are one stream: an injection may be
//! spread over them. What is beyond the limit is counted and never looked at silently.

use crate::verdict::Chunk;

/// The chunks of a result.
#[derive(Debug)]
pub(crate) struct Split {
    pub(crate) chunks: Vec<Chunk>,
    /// Where each chunk begins: the number of the text.
    pub(crate) texts: Vec<usize>,
    /// How many characters the chunks cover.
    pub(crate) covered: usize,
    /// How many there are.
    pub(crate) total: usize,
}

/// Cuts texts into at most `most` chunks of `size` characters.
pub(crate) fn split<'a>(texts: impl Iterator<Item = &'a str>, size: usize, most: usize) -> Split {
    let (stream, starts, total) = joined(texts, size.saturating_mul(most));
    let mut split = Split {
        chunks: Vec::new(),
        texts: Vec::new(),
        covered: 0,
        total,
    };
    let (mut start, mut covered_to) = (0, 0);
    while start < stream.len() && split.chunks.len() < most {
        let end = end_of(&stream, start, size);
        let id = split.chunks.len();
        let text = stream.get(start..end).unwrap_or_default().to_owned();
        split.covered += units(stream.get(covered_to..end).unwrap_or_default());
        covered_to = end;
        split.chunks.push(Chunk { id, text });
        let text = starts.partition_point(|(at, _)| *at <= start);
        let text = text.checked_sub(1).and_then(|text| starts.get(text));
        split.texts.push(text.map_or(0, |(_, text)| *text));
        if end == stream.len() {
            break;
        }
        start = next_start(&stream, start, end, size);
    }
    split
}

/// How many UTF-16 code units a text has.
pub(crate) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The texts as one, as far as it is screened; where each begins; and how long all of them are.
fn joined<'a>(
    texts: impl Iterator<Item = &'a str>,
    limit: usize,
) -> (String, Vec<(usize, usize)>, usize) {
    let (mut stream, mut starts, mut total) = (String::new(), Vec::new(), 0);
    let mut length = 0;
    for (index, text) in texts.enumerate() {
        if text.trim().is_empty() {
            continue;
        }
        let own = units(text);
        let separator = usize::from(total > 0);
        total += own + separator;
        // One character too many makes the first cut in the right place.
        if length > limit {
            continue;
        }
        if separator > 0 {
            stream.push('\n');
        }
        starts.push((stream.len(), index));
        stream.push_str(text);
        length += own + separator;
    }
    (stream, starts, total)
}

/// Where the chunk that begins at `start` ends: after the last sentence of its last quarter, or else after the last
/// word of it, or else where it is full.
fn end_of(stream: &str, start: usize, size: usize) -> usize {
    let (mut length, mut word, mut sentence) = (0, None, None);
    let mut cuts = Cuts::default();
    for (offset, c) in stream.get(start..).unwrap_or_default().char_indices() {
        let at = start + offset;
        let cut = cuts.before(c);
        if at > start && length * 4 >= size * 3 {
            match cut {
                Cut::Sentence => sentence = Some(at),
                Cut::Word => word = Some(at),
                Cut::Nowhere => {}
            }
        }
        if length + c.len_utf16() > size && at > start {
            return sentence.or(word).unwrap_or(at);
        }
        length += c.len_utf16();
    }
    stream.len()
}

/// Where the chunk after the one that ends at `end` begins: 10 to 15 per cent before it, between sentences or words if
/// there are any.
fn next_start(stream: &str, start: usize, end: usize, size: usize) -> usize {
    let (least, most) = ((size / 10).max(1), (size * 3 / 20).max(1));
    let mut back = 0;
    let mut from = end;
    let chunk = stream.get(start..end).unwrap_or_default();
    for (offset, c) in chunk.char_indices().rev() {
        back += c.len_utf16();
        if back > most || offset == 0 {
            break;
        }
        from = start + offset;
    }
    let (mut word, mut sentence, mut middle) = (None, None, from);
    let mut cuts = Cuts::default();
    let mut left = units(stream.get(from..end).unwrap_or_default());
    let before = stream.get(start..from).unwrap_or_default();
    for c in before
        .chars()
        .rev()
        .take(2)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
    {
        cuts.before(c);
    }
    for (offset, c) in stream.get(from..end).unwrap_or_default().char_indices() {
        if left < least {
            break;
        }
        let at = from + offset;
        match cuts.before(c) {
            Cut::Sentence => sentence = sentence.or(Some(at)),
            Cut::Word => word = word.or(Some(at)),
            Cut::Nowhere => {}
        }
        if left * 2 >= least + most {
            middle = at;
        }
        left -= c.len_utf16();
    }
    sentence.or(word).unwrap_or(middle).max(start + 1)
}

/// Whether a text may be cut before a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Nowhere,
    Word,
    Sentence,
}

/// Reads characters in order and says where a word or a sentence has ended.
#[derive(Debug, Default)]
struct Cuts {
    last: LastCharacter,
    /// White space since.
    space: bool,
}

/// What the last character that is not white space was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LastCharacter {
    #[default]
    Word,
    /// Ends a sentence if white space follows.
    Stop,
    /// Ends a sentence or a line, whatever follows.
    End,
}

impl Cuts {
    fn before(&mut self, c: char) -> Cut {
        if c.is_whitespace() {
            self.space = true;
            if c == '\n' {
                self.last = LastCharacter::End;
            }
            return Cut::Nowhere;
        }
        let cut = match (self.last, self.space) {
            (LastCharacter::End, _) | (LastCharacter::Stop, true) => Cut::Sentence,
            (LastCharacter::Word, true) => Cut::Word,
            (_, false) => Cut::Nowhere,
        };
        self.last = match c {
            '.' | '!' | '?' | '…' | ':' | ';' => LastCharacter::Stop,
            '"' | '\'' | ')' | '”' if self.last == LastCharacter::Stop && !self.space => {
                LastCharacter::Stop
            }
            '。' | '！' | '？' => LastCharacter::End,
            _ => LastCharacter::Word,
        };
        self.space = false;
        cut
    }
}

#[cfg(test)]
mod tests;
