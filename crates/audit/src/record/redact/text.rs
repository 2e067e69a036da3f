//! Secrets in plain text: assignments with telling names, authorisation schemes, well-known token prefixes, JWTs, private keys,
//! passwords in URLs.
//!
//! Walks the text once, word by word; every look-ahead is bounded or skips what it looked at.

use std::borrow::Cow;

use super::{MARK, is_secret_name};

/// Tokens that vendors gave a recognisable head.
const PREFIXES: [&str; 26] = [
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "pk_live_",
    "whsec_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "npm_",
    "hf_",
    "dop_v1_",
    "shpat_",
    "pypi-",
];
const MIN_TOKEN: usize = 16;
const MIN_AFTER_SCHEME: usize = 8;
const URL_LOOK_AHEAD: usize = 512;
/// Quotes, backslashes and blanks allowed around `=` or `:`.
const MAX_PADDING: usize = 8;

pub(super) fn redact(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        let (hit, next) = step(bytes, at);
        if let Some((start, end)) = hit {
            out.push_str(text.get(copied..start).unwrap_or_default());
            out.push_str(MARK);
            copied = end;
        }
        at = next.max(at + 1);
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

type Span = (usize, usize);

/// What stands at `at`: a span to replace, if any, and where to go on.
fn step(bytes: &[u8], at: usize) -> (Option<Span>, usize) {
    let byte = bytes.get(at).copied().unwrap_or(b' ');
    if is_word(byte) && byte != b'-' {
        let end = run(bytes, at, is_word);
        let hit = secret_at(bytes, at, end);
        return (hit, hit.map_or(end, |(_, stop)| stop));
    }
    if byte == b'-'
        && let Some(end) = private_key(bytes, at)
    {
        return (Some((at, end)), end);
    }
    if byte == b':'
        && let Some(span) = userinfo(bytes, at)
    {
        return (Some(span), span.1);
    }
    (None, at + 1)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Characters of an authorisation token (RFC 9110, token68).
fn is_token(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'~' | b'+' | b'/' | b'=')
}

fn run(bytes: &[u8], from: usize, accept: fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|b| accept(**b)).count()
}

/// The span to replace because of the word `start..end`: the word itself or what it announces.
fn secret_at(bytes: &[u8], start: usize, end: usize) -> Option<Span> {
    let word = std::str::from_utf8(bytes.get(start..end)?).ok()?;
    let vendor = word.len() >= MIN_TOKEN && PREFIXES.iter().any(|p| word.starts_with(p));
    let jwt = word.len() >= 30
        && word.starts_with("eyJ")
        && word.bytes().filter(|b| *b == b'.').count() == 2;
    if vendor || jwt {
        return Some((start, run(bytes, end, is_token)));
    }
    if ["bearer", "basic", "token", "apikey"]
        .iter()
        .any(|s| word.eq_ignore_ascii_case(s))
    {
        let from = run(bytes, end, |b| b == b' ');
        let to = run(bytes, from, is_token);
        if from > end && to - from >= MIN_AFTER_SCHEME {
            return Some((from, to));
        }
    }
    if is_secret_name(word) {
        assigned(bytes, end, word)
    } else {
        None
    }
}

/// The value in `name = value`, `name: "value"`, `\"name\":\"value\"`.
fn assigned(bytes: &[u8], after_name: usize, name: &str) -> Option<Span> {
    let padding = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        let count = rest
            .iter()
            .take(MAX_PADDING)
            .take_while(|b| matches!(b, b' ' | b'\t' | b'"' | b'\'' | b'\\'))
            .count();
        (
            from + count,
            rest.iter().take(count).any(|b| matches!(b, b'"' | b'\'')),
        )
    };
    let (sign, _) = padding(after_name);
    if !matches!(bytes.get(sign)?, b'=' | b':') {
        return None;
    }
    let arrow = usize::from(bytes.get(sign + 1) == Some(&b'>'));
    let (start, quoted) = padding(sign + 1 + arrow);
    // A header's value is the rest of its line: `Authorization: Basic abc`, `Cookie: a=b; c=d`.
    let lower = name.to_ascii_lowercase();
    let whole_line = lower.contains("authorization") || lower.contains("cookie");
    let end = if quoted || whole_line {
        run(bytes, start, |b| {
            !matches!(b, b'"' | b'\'' | b'\\' | b'\n' | b'\r')
        })
    } else {
        run(bytes, start, |b| {
            !b.is_ascii_whitespace() && !b"\"'\\,;&)}]<>".contains(&b)
        })
    };
    (end > start).then_some((start, end))
}

/// `-----BEGIN … PRIVATE KEY-----` up to the end of its footer, or of the text.
fn private_key(bytes: &[u8], at: usize) -> Option<usize> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const END: &[u8] = b"-----END ";
    let rest = bytes.get(at..)?;
    let header = rest.strip_prefix(BEGIN)?;
    let title = header.get(..header.len().min(64))?;
    if !contains(title, b"PRIVATE KEY") {
        return None;
    }
    let footer = rest.windows(END.len()).position(|w| w == END);
    let Some(footer) = footer.map(|f| at + f + END.len()) else {
        return Some(bytes.len());
    };
    let dashes = run(bytes, footer, |b| b != b'-' && b != b'\n');
    Some(run(bytes, dashes, |b| b == b'-'))
}

/// The `user:password` of `scheme://user:password@host`, from its colon-slash-slash at `at`.
fn userinfo(bytes: &[u8], at: usize) -> Option<Span> {
    let start = at + 3;
    if bytes.get(at..start)? != b"://" {
        return None;
    }
    let rest = bytes.get(start..)?;
    let authority = rest
        .iter()
        .take(URL_LOOK_AHEAD)
        .take_while(|b| !b.is_ascii_whitespace() && !b"/?#\"'\\<>".contains(b));
    let authority: Vec<u8> = authority.copied().collect();
    let at_sign = authority.iter().rposition(|b| *b == b'@')?;
    authority
        .get(..at_sign)?
        .contains(&b':')
        .then_some((start, start + at_sign))
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|w| w == needle)
}
