//! The formats that can be asserted, each a check of one string in linear time. `idn-email` and `idn-hostname` are not
//! here: like unknown names, they stay annotations. Serves the validator's `format` keyword when the caller asks for assertions.

use std::net::{Ipv4Addr, Ipv6Addr};

mod datetime;
mod duration;
mod email;
mod hostname;
mod idna;
mod pointer;
mod template;
#[cfg(test)]
mod tests;
mod uri;

use crate::pattern::Pattern;
use uri::Repertoire;

/// A check of one string: whether it has the format.
pub(crate) type Check = fn(&str) -> bool;

/// The check of the format with this name; `None` for a name that is only an annotation.
pub(crate) fn find_check(name: &str) -> Option<Check> {
    let check: Check = match name {
        "date-time" => datetime::is_date_time,
        "date" => datetime::is_date,
        "time" => datetime::is_time,
        "duration" => duration::is_duration,
        "email" => email::is_email,
        "hostname" => hostname::is_hostname,
        "ipv4" => is_ipv4,
        "ipv6" => is_ipv6,
        "uri" => |text| uri::is_uri(text, Repertoire::Ascii),
        "uri-reference" => |text| uri::is_reference(text, Repertoire::Ascii),
        "iri" => |text| uri::is_uri(text, Repertoire::Unicode),
        "iri-reference" => |text| uri::is_reference(text, Repertoire::Unicode),
        "uri-template" => template::is_template,
        "uuid" => is_uuid,
        "json-pointer" => pointer::is_pointer,
        "relative-json-pointer" => pointer::is_relative_pointer,
        "regex" => Pattern::is_well_formed,
        _ => return None,
    };
    Some(check)
}

/// Dotted quad without leading zeros, which the standard parser insists on too.
fn is_ipv4(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok()
}

/// RFC 4291 text form; the standard parser knows no zone identifiers.
fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

/// RFC 4122 layout; version and variant are free.
fn is_uuid(text: &str) -> bool {
    let dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| {
            if dash(at) {
                byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        })
}
