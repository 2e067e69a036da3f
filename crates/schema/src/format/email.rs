//! `email`: the `Mailbox` of RFC 5321, section 4.1.2, with its length limits. Comments, display
//! names and non-ASCII addresses are refused; so are address literals whose tag is not
//! registered, which leaves IPv4 and `IPv6:`.

use super::{hostname, is_ipv4, is_ipv6};

/// Octets of a local part and of a domain (section 4.5.3.1).
const MAX_LOCAL: usize = 64;
const MAX_DOMAIN: usize = 255;

/// Whether `text` is one address.
pub(super) fn is_email(text: &str) -> bool {
    // A quoted local part may hold an `@`, a domain never does.
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    local.len() <= MAX_LOCAL
        && domain.len() <= MAX_DOMAIN
        && (is_dot_string(local) || is_quoted_string(local))
        && is_domain(domain)
}

fn is_domain(domain: &str) -> bool {
    match domain
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(literal) => match literal.split_at_checked(5) {
            Some((tag, address)) if tag.eq_ignore_ascii_case("IPv6:") => is_ipv6(address),
            _ => is_ipv4(literal),
        },
        None => hostname::is_dotted_name(domain),
    }
}

fn is_dot_string(local: &str) -> bool {
    local
        .split('.')
        .all(|atom| !atom.is_empty() && atom.bytes().all(is_atom_byte))
}

fn is_atom_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

fn is_quoted_string(local: &str) -> bool {
    let Some(inner) = local
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    else {
        return false;
    };
    let mut bytes = inner.bytes();
    while let Some(byte) = bytes.next() {
        let printable = |byte: u8| matches!(byte, b' '..=b'~');
        let fine = match byte {
            b'\\' => bytes.next().is_some_and(printable),
            b'"' => false,
            byte => printable(byte),
        };
        if !fine {
            return false;
        }
    }
    true
}
