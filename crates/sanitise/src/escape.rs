//! Text encodings that a client or host may undo later: character references, backslash escapes, percent encoding. Decodes
//! one layer at a time and remembers which bytes came out of an escape. Knows nothing about tokens.

/// A text with one or more layers of escapes undone.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    /// For each byte of the text, whether it came out of an escape.
    derived: Vec<bool>,
}

impl Decoded {
    pub(crate) fn raw(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            derived: vec![false; text.len()],
        }
    }

    /// Whether any byte of the range came out of an escape.
    pub(crate) fn is_derived(&self, start: usize, end: usize) -> bool {
        self.derived
            .get(start..end)
            .is_some_and(|range| range.contains(&true))
    }

    /// The text with one more layer undone; nothing if there is none.
    pub(crate) fn layer(&self) -> Option<Self> {
        let bytes = self.text.as_bytes();
        let mut next = Self::default();
        let mut done = 0;
        let mut at = 0;
        while let Some(found) = bytes
            .get(at..)
            .and_then(|rest| memchr::memchr3(b'&', b'\\', b'%', rest))
        {
            let start = at + found;
            let Some((length, c)) = escape_at(bytes.get(start..).unwrap_or_default()) else {
                at = start + 1;
                continue;
            };
            self.copy(done, start, &mut next);
            next.text.push(c);
            next.derived.resize(next.text.len(), true);
            at = start + length;
            done = at;
        }
        if done == 0 {
            return None;
        }
        self.copy(done, bytes.len(), &mut next);
        Some(next)
    }

    fn copy(&self, from: usize, to: usize, next: &mut Self) {
        next.text
            .push_str(self.text.get(from..to).unwrap_or_default());
        next.derived
            .extend_from_slice(self.derived.get(from..to).unwrap_or_default());
    }
}

/// Length and character of the escape at the start of `bytes`.
pub(crate) fn escape_at(bytes: &[u8]) -> Option<(usize, char)> {
    match bytes {
        [b'&', b'#', b'x' | b'X', rest @ ..] => numeric(rest, 16, 3),
        [b'&', b'#', rest @ ..] => numeric(rest, 10, 2),
        [b'&', rest @ ..] => named(rest),
        [b'%', ..] => percent(bytes),
        // An escaped backslash counts only before what could be an escape in the next layer.
        [b'\\', b'\\', b'\\' | b'u' | b'U' | b'x' | b'0'..=b'7', ..] => Some((2, '\\')),
        [b'\\', b'u', b'{', rest @ ..] => {
            let (digits, value) = number(rest, 16, 8)?;
            (rest.get(digits) == Some(&b'}')).then_some(())?;
            Some((4 + digits, char::from_u32(value)?))
        }
        [b'\\', b'u', rest @ ..] => unit(rest),
        [b'\\', b'U', rest @ ..] => fixed(rest, 8, 2),
        [b'\\', b'x', rest @ ..] => fixed(rest, 2, 2),
        [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
            let value = (a & 7) << 6 | (b & 7) << 3 | (c & 7);
            Some((4, char::from(value)))
        }
        _ => None,
    }
}

/// Digits at the start of `bytes`: how many, and their value.
fn number(bytes: &[u8], radix: u32, most: usize) -> Option<(usize, u32)> {
    let mut value = 0_u32;
    let mut digits = 0;
    for byte in bytes.iter().take(most) {
        let Some(digit) = char::from(*byte).to_digit(radix) else {
            break;
        };
        value = value.saturating_mul(radix).saturating_add(digit);
        digits += 1;
    }
    (digits > 0).then_some((digits, value))
}

fn numeric(bytes: &[u8], radix: u32, before: usize) -> Option<(usize, char)> {
    let (digits, value) = number(bytes, radix, 10)?;
    let semicolon = usize::from(bytes.get(digits) == Some(&b';'));
    Some((before + digits + semicolon, char::from_u32(value)?))
}

fn fixed(bytes: &[u8], width: usize, before: usize) -> Option<(usize, char)> {
    let (digits, value) = number(bytes, 16, width)?;
    (digits == width).then_some(())?;
    Some((before + width, char::from_u32(value)?))
}

/// Four hexadecimal digits; a surrogate needs its partner.
fn unit(bytes: &[u8]) -> Option<(usize, char)> {
    let (digits, high) = number(bytes, 16, 4)?;
    (digits == 4).then_some(())?;
    if !(0xD800..0xDC00).contains(&high) {
        return Some((6, char::from_u32(high)?));
    }
    let (digits, low) = number(bytes.get(4..)?.strip_prefix(b"\\u")?, 16, 4)?;
    (digits == 4 && (0xDC00..0xE000).contains(&low)).then_some(())?;
    Some((
        12,
        char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))?,
    ))
}

/// One character, in one to four percent-encoded bytes.
fn percent(bytes: &[u8]) -> Option<(usize, char)> {
    let mut encoded = [0; 4];
    for index in 0..encoded.len() {
        let (digits, value) = number(bytes.get(index * 3..)?.strip_prefix(b"%")?, 16, 2)?;
        (digits == 2).then_some(())?;
        *encoded.get_mut(index)? = u8::try_from(value).ok()?;
        let so_far = encoded.get(..=index)?;
        if let Some(c) = std::str::from_utf8(so_far)
            .ok()
            .and_then(|text| text.chars().next())
        {
            return Some(((index + 1) * 3, c));
        }
    }
    None
}

/// Names of the characters tokens are made of. Browsers take the oldest names without their semicolon.
fn named(bytes: &[u8]) -> Option<(usize, char)> {
    let letters = bytes
        .iter()
        .take(13)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let name = bytes
        .get(..letters)
        .filter(|_| bytes.get(letters) == Some(&b';'));
    let c = match (name, bytes) {
        (Some(b"quot"), _) => '"',
        (Some(b"vert" | b"verbar" | b"VerticalLine"), _) => '|',
        (Some(b"lsqb" | b"lbrack"), _) => '[',
        (Some(b"rsqb" | b"rbrack"), _) => ']',
        (Some(b"sol"), _) => '/',
        (Some(b"lowbar" | b"UnderBar"), _) => '_',
        (Some(b"colon"), _) => ':',
        (Some(b"excl"), _) => '!',
        (Some(b"num"), _) => '#',
        (Some(b"commat"), _) => '@',
        (Some(b"equals"), _) => '=',
        (_, [b'l', b't', ..] | [b'L', b'T', ..]) => return Some((3 + closed(bytes, 2), '<')),
        (_, [b'g', b't', ..] | [b'G', b'T', ..]) => return Some((3 + closed(bytes, 2), '>')),
        (_, [b'a', b'm', b'p', ..] | [b'A', b'M', b'P', ..]) => {
            return Some((4 + closed(bytes, 3), '&'));
        }
        _ => return None,
    };
    Some((letters + 2, c))
}

/// 1 if the name of `length` letters has its semicolon.
fn closed(bytes: &[u8], length: usize) -> usize {
    usize::from(bytes.get(length) == Some(&b';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_notation_decodes() {
        for (escape, c) in [
            ("&lt;", '<'),
            ("&lt", '<'),
            ("&#60;", '<'),
            ("&#x3C;", '<'),
            ("&#0000060", '<'),
            ("&verbar;", '|'),
            ("\\u003c", '<'),
            ("\\u{3c}", '<'),
            ("\\U0000003C", '<'),
            ("\\x3c", '<'),
            ("\\074", '<'),
            ("%3C", '<'),
            ("%EF%BD%9C", '｜'),
            ("\\udb40\\udc41", '\u{E0041}'),
        ] {
            assert_eq!(
                escape_at(escape.as_bytes()),
                Some((escape.len(), c)),
                "{escape}"
            );
        }
    }

    #[test]
    fn near_misses_do_not() {
        for text in [
            "&", "&copy;", "%", "%zz", "%F", "\\n", "\\u12", "\\ud800", "\\", "%FF%FF",
        ] {
            assert_eq!(escape_at(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn layers_come_off_one_by_one() {
        let raw = Decoded::raw("a &amp;lt;b %253C");
        let one = raw.layer().unwrap();
        assert_eq!(one.text, "a &lt;b %3C");
        let two = one.layer().unwrap();
        assert_eq!(two.text, "a <b <");
        assert!(two.is_derived(2, 3) && !two.is_derived(3, 5));
        assert!(two.layer().is_none());
    }
}
