//! Reading JSON text from left to right: the pieces that are not objects or arrays, and whole values to pass over.

use super::Malformed;

/// A place in JSON text.
pub(super) struct Reader<'a> {
    json: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(json: &'a [u8]) -> Self {
        Self { json, at: 0 }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.json.get(self.at).copied()
    }

    pub(super) fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.peek() != Some(byte) {
            return Err(Malformed(self.at));
        }
        self.at += 1;
        Ok(())
    }

    /// A number or a word.
    pub(super) fn scalar(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        while matches!(
            self.peek(),
            Some(b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.')
        ) {
            self.at += 1;
        }
        let word = &self.json[start..self.at];
        let known = matches!(word, b"true" | b"false" | b"null");
        if known || serde_json::from_slice::<serde_json::Number>(word).is_ok() || is_huge(word) {
            return Ok(());
        }
        Err(Malformed(start))
    }

    /// A whole value as it is written.
    pub(super) fn value(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string().ok()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                _ => self.scalar().ok()?,
            }
            if depth == 0 {
                return self.json.get(start..self.at);
            }
        }
    }

    pub(super) fn string(&mut self) -> Result<String, Malformed> {
        let start = self.at;
        self.expect(b'"')?;
        let from = self.at;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(0..=0x1F) | None => return Err(Malformed(self.at)),
                Some(_) => self.at += 1,
            }
        }
        let raw = self.json.get(from..self.at).ok_or(Malformed(start))?;
        self.at += 1;
        decode(raw).ok_or(Malformed(start))
    }
}

/// Whether it is a number that is too large to be an `f64`, which `serde_json` does not take.
fn is_huge(word: &[u8]) -> bool {
    let Some(at) = word.iter().position(|byte| matches!(byte, b'e' | b'E')) else {
        return false;
    };
    let zero = [&word[..at], b"e0"].concat();
    let digits = word[at + 1..].trim_ascii_start();
    let digits = digits
        .strip_prefix(b"+")
        .or_else(|| digits.strip_prefix(b"-"))
        .unwrap_or(digits);
    !digits.is_empty()
        && digits.iter().all(u8::is_ascii_digit)
        && serde_json::from_slice::<serde_json::Number>(&zero).is_ok()
}

/// The text of a string; half a surrogate pair becomes U+FFFD, as lenient readers have it.
fn decode(raw: &[u8]) -> Option<String> {
    let raw = std::str::from_utf8(raw).ok()?;
    if !raw.contains('\\') {
        return Some(raw.to_owned());
    }
    let mut units: Vec<u16> = Vec::new();
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
            continue;
        }
        units.push(match chars.next()? {
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'u' => {
                let digits = chars.as_str().get(..4)?;
                chars = chars.as_str().get(4..)?.chars();
                u16::from_str_radix(digits, 16).ok()?
            }
            c @ ('"' | '\\' | '/') => c as u16,
            _ => return None,
        });
    }
    Some(String::from_utf16_lossy(&units))
}
