//! The match view: the text as a matcher must see it, with hidden characters dropped and compatibility forms
//! folded, and a map back to the source. Text that needs no folding is its own view and costs nothing.

use std::borrow::Cow;

/// A folded text that knows where each byte came from.
#[derive(Debug)]
pub(crate) struct View<'t> {
    source: &'t str,
    text: Cow<'t, str>,
    pieces: Vec<Piece>,
}

/// A stretch of the view: source bytes copied, or one source character folded.
#[derive(Clone, Copy, Debug)]
struct Piece {
    view: usize,
    /// Source offset, doubled; the lowest bit says that the piece is one folded character. Half the memory of a
    /// separate flag, and a text of fullwidth letters has a piece for each of them.
    packed: usize,
}

impl Piece {
    fn source(self) -> usize {
        self.packed >> 1
    }

    fn is_folded(self) -> bool {
        self.packed & 1 == 1
    }
}

impl<'t> View<'t> {
    /// A text that is its own view.
    pub(crate) fn identity(source: &'t str) -> Self {
        Self {
            source,
            text: Cow::Borrowed(source),
            pieces: Vec::new(),
        }
    }

    /// The text to match on.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether any character was folded or dropped.
    pub(crate) fn is_folded(&self) -> bool {
        !self.pieces.is_empty()
    }

    /// Source offset where the view byte `at` begins.
    pub(crate) fn start(&self, at: usize) -> usize {
        match self.piece(at) {
            None => at,
            Some(piece) if piece.is_folded() => piece.source(),
            Some(piece) => piece.source() + (at - piece.view),
        }
    }

    /// Source offset behind the character that the view byte before `end` came from.
    pub(crate) fn end(&self, end: usize) -> usize {
        let Some(last) = end.checked_sub(1) else {
            return 0;
        };
        match self.piece(last) {
            None => end,
            Some(piece) if piece.is_folded() => {
                let start = piece.source();
                let width = self
                    .source
                    .get(start..)
                    .and_then(|rest| rest.chars().next())
                    .map_or(0, char::len_utf8);
                start + width
            }
            Some(piece) => piece.source() + (end - piece.view),
        }
    }

    fn piece(&self, at: usize) -> Option<Piece> {
        let behind = self.pieces.partition_point(|piece| piece.view <= at);
        self.pieces.get(behind.checked_sub(1)?).copied()
    }
}

/// Builds a view from left to right.
#[derive(Debug)]
pub(crate) struct Builder<'t> {
    source: &'t str,
    text: String,
    pieces: Vec<Piece>,
    /// Start of the source bytes not copied yet.
    pending: usize,
}

impl<'t> Builder<'t> {
    pub(crate) fn new(source: &'t str) -> Self {
        Self {
            source,
            text: String::new(),
            pieces: Vec::new(),
            pending: 0,
        }
    }

    /// Leaves the source bytes `start..end` out of the view.
    pub(crate) fn drop(&mut self, start: usize, end: usize) {
        self.flush(start);
        self.pending = end;
    }

    /// Puts `folded` in the place of the source character `start..end`.
    pub(crate) fn fold(&mut self, start: usize, end: usize, folded: &str) {
        self.flush(start);
        self.piece(start, true);
        self.text.push_str(folded);
        self.pending = end;
    }

    /// Whether the view up to the source offset `at` ends in an ASCII character.
    pub(crate) fn ends_in_ascii(&self, at: usize) -> bool {
        let last = if at > self.pending {
            self.source.as_bytes().get(at - 1)
        } else {
            self.text.as_bytes().last()
        };
        last.is_some_and(u8::is_ascii)
    }

    /// The finished view.
    pub(crate) fn finish(mut self) -> View<'t> {
        if self.pending == 0 && self.pieces.is_empty() {
            return View::identity(self.source);
        }
        self.flush(self.source.len());
        View {
            source: self.source,
            text: Cow::Owned(self.text),
            pieces: self.pieces,
        }
    }

    fn flush(&mut self, until: usize) {
        if until > self.pending {
            self.piece(self.pending, false);
            let run = self.source.get(self.pending..until).unwrap_or_default();
            self.text.push_str(run);
        }
    }

    fn piece(&mut self, source: usize, folded: bool) {
        self.pieces.push(Piece {
            view: self.text.len(),
            packed: source << 1 | usize::from(folded),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lead_back_to_the_source() {
        let source = "ab\u{200B}cｄe";
        let mut builder = Builder::new(source);
        builder.drop(2, 5);
        builder.fold(6, 9, "d");
        let view = builder.finish();
        assert_eq!(view.text(), "abcde");
        let starts: Vec<_> = (0..5).map(|at| view.start(at)).collect();
        assert_eq!(starts, [0, 1, 5, 6, 9]);
        let ends: Vec<_> = (1..=5).map(|at| view.end(at)).collect();
        assert_eq!(ends, [1, 2, 6, 9, 10]);
    }

    #[test]
    fn a_fold_to_several_letters_maps_to_its_one_character() {
        let source = "x㏒y";
        let mut builder = Builder::new(source);
        builder.fold(1, 4, "log");
        let view = builder.finish();
        assert_eq!((view.start(2), view.end(3)), (1, 4));
    }

    #[test]
    fn untouched_text_is_its_own_view() {
        let view = Builder::new("plain").finish();
        assert!(matches!(view.text, Cow::Borrowed(_)));
        assert_eq!(view.end(5), 5);
    }
}
