//! `Redactor`: replaces what looks like a secret by `[redacted]`, in JSON and in plain text.
//!
//! JSON is read token by token (no tree, any depth, cut-off input is fine): the whole value of a member with a telling name goes,
//! and every other string is read as text. One pass, linear, bounded look-ahead. It refuses to promise completeness: it is
//! the second line behind not storing payloads at all.

use std::borrow::Cow;

mod text;

pub(super) const MARK: &str = "[redacted]";
/// Shorter configured values would blank out ordinary words.
const MIN_KNOWN: usize = 6;
const MAX_KNOWN: usize = 256;

/// Finds and replaces secrets. The default knows shapes and names; add the values you know.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Vec<String>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor")
            .field("known", &self.known.len())
            .finish()
    }
}

impl Redactor {
    /// A redactor that also knows these values: API keys, tokens of configured headers. At most 256, six bytes or longer.
    pub fn new(known: impl IntoIterator<Item = String>) -> Self {
        let mut known: Vec<String> = known
            .into_iter()
            .filter(|k| k.len() >= MIN_KNOWN)
            .take(MAX_KNOWN)
            .collect();
        // Longest first, so that one value inside another does not leave a remainder.
        known.sort_by_key(|k| std::cmp::Reverse(k.len()));
        Self { known }
    }

    /// `text` without what looks like a secret.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let is_json = text.trim_start().starts_with(['{', '[', '"']);
        if is_json {
            Json::new(self, text).run()
        } else {
            self.plain(text)
        }
    }

    fn plain<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = text::redact(text);
        for known in &self.known {
            if out.contains(known.as_str()) {
                out = Cow::Owned(out.replace(known.as_str(), MARK));
            }
        }
        out
    }
}

/// A token-level pass over JSON text.
struct Json<'r, 'a> {
    redactor: &'r Redactor,
    text: &'a str,
    out: String,
    /// Everything before this has been copied to `out`.
    copied: usize,
}

impl<'r, 'a> Json<'r, 'a> {
    fn new(redactor: &'r Redactor, text: &'a str) -> Self {
        Self {
            redactor,
            text,
            out: String::new(),
            copied: 0,
        }
    }

    fn run(mut self) -> Cow<'a, str> {
        let mut at = 0;
        while let Some(open) = self.find_quote(at) {
            let end = string_end(self.text.as_bytes(), open);
            let content = decode(slice(self.text, open, end));
            let value = value_start(self.text.as_bytes(), end);
            at = match value {
                Some(start) if is_secret_name(&content) => {
                    let stop = value_end(self.text.as_bytes(), start);
                    self.replace(start, stop, "\"[redacted]\"");
                    stop
                }
                _ => {
                    self.clean_string(open, end, &content);
                    end
                }
            };
        }
        if self.copied == 0 {
            return Cow::Borrowed(self.text);
        }
        self.out
            .push_str(slice(self.text, self.copied, self.text.len()));
        Cow::Owned(self.out)
    }

    fn find_quote(&self, from: usize) -> Option<usize> {
        let rest = self.text.as_bytes().get(from..)?;
        rest.iter().position(|b| *b == b'"').map(|i| from + i)
    }

    fn clean_string(&mut self, open: usize, end: usize, content: &str) {
        if let Cow::Owned(clean) = self.redactor.plain(content) {
            let quoted = serde_json::to_string(&clean).unwrap_or_else(|_| format!("\"{MARK}\""));
            self.replace(open, end, &quoted);
        }
    }

    fn replace(&mut self, start: usize, end: usize, with: &str) {
        self.out.push_str(slice(self.text, self.copied, start));
        self.out.push_str(with);
        self.copied = end;
    }
}

/// Both ends are always on ASCII bytes found in `text`, or its end.
fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// One past the closing quote of the string that opens at `open`, or the end of the input.
fn string_end(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn decode(quoted: &str) -> Cow<'_, str> {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    if !inner.contains('\\') {
        return Cow::Borrowed(inner.strip_suffix('"').unwrap_or(inner));
    }
    serde_json::from_str::<String>(quoted).map_or(Cow::Borrowed(inner), Cow::Owned)
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// Where the member's value starts, if the string that ended at `end` is a key.
fn value_start(bytes: &[u8], end: usize) -> Option<usize> {
    let colon = skip_space(bytes, end);
    (bytes.get(colon) == Some(&b':')).then(|| skip_space(bytes, colon + 1))
}

/// One past the value that starts at `start`: a string, a balanced container, or a bare word.
fn value_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at),
            b'{' | b'[' => (depth, at) = (depth + 1, at + 1),
            b'}' | b']' | b',' if depth == 0 => return at,
            b'}' | b']' => (depth, at) = (depth - 1, at + 1),
            _ => at += 1,
        }
        let ended = matches!(byte, b'"' | b'}' | b']');
        if ended && depth == 0 {
            return at;
        }
    }
    bytes.len()
}

/// Does a member, header or variable of this name hold a secret?
pub(super) fn is_secret_name(name: &str) -> bool {
    const ANYWHERE: [&str; 11] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "apikey",
        "accesskey",
        "privatekey",
        "authorization",
        "credential",
        "cookie",
        "signingkey",
    ];
    const WHOLE: [&str; 5] = ["pwd", "auth", "jwt", "pat", "bearer"];
    let tail_from = name.len().saturating_sub(64);
    let tail = name
        .get(name.ceil_char_boundary(tail_from)..)
        .unwrap_or(name);
    let plain: String = tail
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    ANYWHERE.iter().any(|word| plain.contains(word))
        || WHOLE.contains(&plain.as_str())
        || plain.ends_with("token")
}

#[cfg(test)]
mod tests;
