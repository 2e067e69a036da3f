//! `hostname` (RFC 1123, section 2.1): dotted labels of letters, digits and inner hyphens, 253
//! octets in all, no trailing dot. Labels with the `xn--` prefix must also be real IDNA labels.

use super::idna;

const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// Whether `text` is a host name.
pub(super) fn is_hostname(text: &str) -> bool {
    is_dotted_name(text)
        && text.split('.').all(|label| match encoded(label) {
            Some(encoded) => idna::is_encoded_label(encoded),
            None => true,
        })
}

/// Whether `text` is a host name by its letters alone.
pub(super) fn is_dotted_name(text: &str) -> bool {
    text.len() <= MAX_NAME && text.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=MAX_LABEL).contains(&label.len())
        && label.bytes().all(inner)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// What follows the prefix of an encoded label, in any case.
fn encoded(label: &str) -> Option<&str> {
    let (prefix, rest) = label.split_at_checked(4)?;
    prefix.eq_ignore_ascii_case("xn--").then_some(rest)
}
