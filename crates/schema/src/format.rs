//! The formats that can be asserted, each a linear check of one string without regular
//! expressions. `idn-email` and `idn-hostname` are not here: like unknown names, they stay
//! annotations. Serves the validator's `format` keyword when the caller asks for assertions.

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

/// A format with an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    DateTime,
    Date,
    Time,
    Duration,
    Email,
    Hostname,
    Ipv4,
    Ipv6,
    Uri,
    UriReference,
    Iri,
    IriReference,
    UriTemplate,
    Uuid,
    JsonPointer,
    RelativeJsonPointer,
    /// Judged by the pattern compiler, not by [`Format::matches`].
    Regex,
}

impl Format {
    /// The format of that name; `None` for a name that is only an annotation.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "date-time" => Self::DateTime,
            "date" => Self::Date,
            "time" => Self::Time,
            "duration" => Self::Duration,
            "email" => Self::Email,
            "hostname" => Self::Hostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "uri" => Self::Uri,
            "uri-reference" => Self::UriReference,
            "iri" => Self::Iri,
            "iri-reference" => Self::IriReference,
            "uri-template" => Self::UriTemplate,
            "uuid" => Self::Uuid,
            "json-pointer" => Self::JsonPointer,
            "relative-json-pointer" => Self::RelativeJsonPointer,
            "regex" => Self::Regex,
            _ => return None,
        })
    }

    /// Whether `text` has this format. Always true for [`Format::Regex`]: only the pattern
    /// compiler can tell, and the caller has it.
    pub(crate) fn matches(self, text: &str) -> bool {
        match self {
            Self::DateTime => datetime::is_date_time(text),
            Self::Date => datetime::is_date(text),
            Self::Time => datetime::is_time(text),
            Self::Duration => duration::is_duration(text),
            Self::Email => email::is_email(text),
            Self::Hostname => hostname::is_hostname(text),
            Self::Ipv4 => is_ipv4(text),
            Self::Ipv6 => is_ipv6(text),
            Self::Uri => uri::is_uri(text, uri::Repertoire::Ascii),
            Self::UriReference => uri::is_reference(text, uri::Repertoire::Ascii),
            Self::Iri => uri::is_uri(text, uri::Repertoire::Unicode),
            Self::IriReference => uri::is_reference(text, uri::Repertoire::Unicode),
            Self::UriTemplate => template::is_template(text),
            Self::Uuid => is_uuid(text),
            Self::JsonPointer => pointer::is_pointer(text),
            Self::RelativeJsonPointer => pointer::is_relative_pointer(text),
            Self::Regex => true,
        }
    }
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
