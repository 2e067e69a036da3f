//! Addresses of the console's pages, with everything in them encoded.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What needs no encoding in a part of a path or in a parameter.
const PART: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// A page under `/console`, by the parts of its path.
pub fn href(parts: &[&str]) -> String {
    let mut path = "/console".to_owned();
    for part in parts {
        path.push('/');
        path.extend(utf8_percent_encode(part, PART));
    }
    path
}

/// The same with parameters; those without a value are left out.
pub fn query(parts: &[&str], parameters: &[(&str, &str)]) -> String {
    let mut address = href(parts);
    let mut before = '?';
    for (key, value) in parameters.iter().filter(|(_, value)| !value.is_empty()) {
        address.push(before);
        address.extend(utf8_percent_encode(key, PART));
        address.push('=');
        address.extend(utf8_percent_encode(value, PART));
        before = '&';
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_an_address_is_markup_or_another_part() {
        assert_eq!(href(&[]), "/console");
        assert_eq!(href(&["tools", "a/b:\"<"]), "/console/tools/a%2Fb%3A%22%3C");
        let filtered = query(
            &["activity"],
            &[("server", "a&b"), ("tool", ""), ("since", "1h")],
        );
        assert_eq!(filtered, "/console/activity?server=a%26b&since=1h");
    }
}
