//! `uri`, `uri-reference` (RFC 3986) and `iri`, `iri-reference` (RFC 3987): the generic grammar,
//! nothing scheme-specific. Zone identifiers in IPv6 literals are refused. Serves the four
//! formats; resolving references is `crate::uri`'s business.

use std::str::Chars;

use super::is_ipv6;
use crate::uri::Parts;

/// Which characters may stand unencoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repertoire {
    Ascii,
    Unicode,
}

/// `URI` or `IRI`: with a scheme.
pub(super) fn is_uri(text: &str, repertoire: Repertoire) -> bool {
    let parts = Parts::split(text);
    parts.scheme.is_some() && is_well_formed(&parts, repertoire)
}

/// `URI-reference` or `IRI-reference`.
pub(super) fn is_reference(text: &str, repertoire: Repertoire) -> bool {
    is_well_formed(&Parts::split(text), repertoire)
}

/// The characters of each part; the split has seen to the order of the parts.
fn is_well_formed(parts: &Parts<'_>, repertoire: Repertoire) -> bool {
    let wide = match repertoire {
        Repertoire::Ascii => |_: char| false,
        Repertoire::Unicode => is_ucschar,
    };
    let wide_query = match repertoire {
        Repertoire::Ascii => |_: char| false,
        Repertoire::Unicode => |c: char| is_ucschar(c) || is_private(c),
    };
    // Without a scheme or an authority, a colon in the first segment would be a scheme's.
    let first = parts.path.split('/').next().unwrap_or_default();
    let ambiguous = parts.scheme.is_none() && parts.authority.is_none() && first.contains(':');
    !ambiguous
        && parts.authority.is_none_or(|text| is_authority(text, wide))
        && consists_of(parts.path, NAME | COLON | AT | SLASH, wide)
        && parts
            .query
            .is_none_or(|text| consists_of(text, ANY, wide_query))
        && parts
            .fragment
            .is_none_or(|text| consists_of(text, ANY, wide))
}

fn is_authority(text: &str, wide: fn(char) -> bool) -> bool {
    let (user, rest) = match text.split_once('@') {
        Some((user, rest)) => (user, rest),
        None => ("", text),
    };
    if !consists_of(user, NAME | COLON, wide) {
        return false;
    }
    match rest.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(None) => false,
        Some(Some((literal, port))) => {
            (is_ipv6(literal) || is_future_address(literal)) && is_port(port)
        }
        None => {
            let (name, port) = rest.split_at(rest.find(':').unwrap_or(rest.len()));
            consists_of(name, NAME, wide) && is_port(port)
        }
    }
}

/// Nothing, or a colon and digits, which may be none.
fn is_port(text: &str) -> bool {
    let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    text.is_empty() || text.strip_prefix(':').is_some_and(digits)
}

/// `IPvFuture`.
fn is_future_address(text: &str) -> bool {
    let Some((version, address)) = text
        .strip_prefix(['v', 'V'])
        .and_then(|rest| rest.split_once('.'))
    else {
        return false;
    };
    !version.is_empty()
        && version.bytes().all(|byte| byte.is_ascii_hexdigit())
        && !address.is_empty()
        && !address.contains('%')
        && consists_of(address, NAME | COLON, |_| false)
}

/// `unreserved` and `sub-delims`.
const NAME: u8 = 1;
const COLON: u8 = 2;
const AT: u8 = 4;
const SLASH: u8 = 8;
const QUESTION: u8 = 16;
const ANY: u8 = NAME | COLON | AT | SLASH | QUESTION;

/// The class of each ASCII character, 0 for those that must be encoded.
const CLASS: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            b':' => COLON,
            b'@' => AT,
            b'/' => SLASH,
            b'?' => QUESTION,
            b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+'
            | b',' | b';' | b'=' => NAME,
            byte if byte.is_ascii_alphanumeric() => NAME,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// Whether every character is of an allowed class, a percent-encoded triplet, or `wide`.
fn consists_of(text: &str, allowed: u8, wide: fn(char) -> bool) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let fine = match CLASS.get(c as usize) {
            Some(class) => class & allowed != 0 || c == '%' && skip_triplet(&mut chars),
            None => wide(c),
        };
        if !fine {
            return false;
        }
    }
    true
}

/// Takes the two characters after a `%`; whether both are hexadecimal digits.
pub(super) fn skip_triplet(chars: &mut Chars<'_>) -> bool {
    let mut hex = || chars.next().is_some_and(|c| c.is_ascii_hexdigit());
    hex() && hex()
}

/// `ucschar` of RFC 3987.
pub(super) fn is_ucschar(c: char) -> bool {
    match u32::from(c) {
        0xa0..=0xd7ff | 0xf900..=0xfdcf | 0xfdf0..=0xffef => true,
        code @ (0x1_0000..=0xd_fffd | 0xe_1000..=0xe_fffd) => code & 0xffff < 0xfffe,
        _ => false,
    }
}

/// `iprivate` of RFC 3987.
pub(super) fn is_private(c: char) -> bool {
    matches!(u32::from(c), 0xe000..=0xf8ff | 0xf_0000..=0xf_fffd | 0x10_0000..=0x10_fffd)
}
