//! Places where a hit may begin: pairs of an opener and the byte behind it, and anchors of role markers. Cheap tests
//! that reject nearly all of ordinary text before a trie is asked.

use memchr::memmem::Finder;

use crate::tokens::{Class, Token, Tokens};

/// Whether a literal begins with a byte that the matcher stops at anyway.
pub(crate) fn is_opened(token: &Token) -> bool {
    token.class != Class::E && token.text.starts_with(['<', '[', ']'])
}

/// Whether every role marker begins with a capital, an at sign or a number sign, or is not ASCII.
pub(crate) fn markers_begin_with_capitals(tokens: &Tokens) -> bool {
    let markers = tokens.iter().filter(|token| token.class == Class::E);
    let mut firsts = markers.filter_map(|token| token.text.bytes().next());
    firsts.all(|first| matches!(first, b'A'..=b'Z' | b'@' | b'#') || !first.is_ascii())
}

/// Whether no literal has a letter of Latin-1 beyond ASCII.
pub(crate) fn is_without_latin(tokens: &Tokens) -> bool {
    let mut texts = tokens.iter().map(|token| token.text.as_str());
    texts.all(|text| !text.contains(|c| ('\u{C0}'..='\u{FF}').contains(&c)))
}

/// The second bytes of literals: for each byte, the set of openers that it may follow.
pub(crate) struct SecondBytes {
    openers: Box<[u8; 256]>,
    like_json: bool,
}

impl SecondBytes {
    pub(crate) fn new(tokens: &Tokens) -> Self {
        let mut seconds = Self {
            openers: Box::new([0; 256]),
            like_json: false,
        };
        for token in tokens.iter().filter(|token| is_opened(token)) {
            if let [opener, second, ..] = token.text.as_bytes() {
                seconds.allow(*opener, second.to_ascii_lowercase());
                seconds.allow(*opener, second.to_ascii_uppercase());
            }
        }
        // The shapes: bar tokens, and boundary tags in sloppy forms.
        for second in *b"|/uU \t\n\r\x0C" {
            seconds.allow(b'<', second);
        }
        let is_allowed = |second: &u8| {
            let pairs = [[b'[', *second], [b']', *second]];
            pairs.iter().any(|pair| seconds.has(pair))
        };
        seconds.like_json = b"[]{},\"\\".iter().any(is_allowed);
        seconds
    }

    fn allow(&mut self, opener: u8, second: u8) {
        if let Some(openers) = self.openers.get_mut(usize::from(second)) {
            *openers |= Self::bit(opener);
        }
    }

    /// Whether a hit may begin with a bracket and one of the bytes that often follow brackets in JSON.
    #[inline]
    pub(crate) fn are_like_json(&self) -> bool {
        self.like_json
    }

    /// Whether a hit may begin with the first two bytes of `rest`.
    pub(crate) fn has(&self, rest: &[u8]) -> bool {
        let [opener, second, ..] = rest else {
            return false;
        };
        self.openers
            .get(usize::from(*second))
            .is_some_and(|openers| openers & Self::bit(*opener) != 0)
    }

    fn bit(opener: u8) -> u8 {
        match opener {
            b'<' => 1,
            b'[' => 2,
            _ => 4,
        }
    }
}

/// Block start and the places behind blank lines, if a role marker may begin there.
pub(crate) struct Anchors {
    firsts: Box<[bool; 256]>,
    blank_line: Finder<'static>,
    blank_line_crlf: Finder<'static>,
}

impl Anchors {
    pub(crate) fn new(tokens: &Tokens) -> Self {
        let mut firsts = Box::new([false; 256]);
        let markers = tokens.iter().filter(|token| token.class == Class::E);
        for byte in markers.filter_map(|token| token.text.bytes().next()) {
            if let Some(first) = firsts.get_mut(usize::from(byte)) {
                *first = true;
            }
        }
        Self {
            firsts,
            blank_line: Finder::new("\n\n"),
            blank_line_crlf: Finder::new("\n\r\n"),
        }
    }

    /// Calls `visit` for every promising anchor, once.
    pub(crate) fn for_each(&self, bytes: &[u8], mut visit: impl FnMut(usize)) {
        self.offer(bytes, 0, &mut visit);
        let mut at = 0;
        while let Some(found) = find(&self.blank_line, bytes, at) {
            at = behind_line_ends(bytes, found + 2);
            self.offer(bytes, at, &mut visit);
        }
        if memchr::memchr(b'\r', bytes).is_none() {
            return;
        }
        at = 0;
        while let Some(found) = find(&self.blank_line_crlf, bytes, at) {
            at = behind_line_ends(bytes, found + 3);
            // Mixed line ends were seen above.
            let run = bytes.get(found..at).unwrap_or_default();
            if !run.windows(2).any(|pair| pair == b"\n\n") {
                self.offer(bytes, at, &mut visit);
            }
        }
    }

    fn offer(&self, bytes: &[u8], at: usize, visit: &mut impl FnMut(usize)) {
        if self.may_begin(bytes.get(at..).unwrap_or_default()) {
            visit(at);
        }
    }

    /// Whether a text begins with the first byte of some role marker.
    pub(crate) fn may_begin(&self, bytes: &[u8]) -> bool {
        let first = bytes
            .first()
            .and_then(|byte| self.firsts.get(usize::from(*byte)));
        first == Some(&true)
    }
}

fn find(finder: &Finder<'_>, bytes: &[u8], at: usize) -> Option<usize> {
    Some(at + finder.find(bytes.get(at..)?)?)
}

fn behind_line_ends(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b'\n' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}
