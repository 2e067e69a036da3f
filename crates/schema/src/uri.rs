//! URI references as `$id` and `$ref` need them: split, resolve, decode (RFC 3986, section 5).
//! Text in, text out; nothing here fetches, and nothing checks the grammar, so any text has an
//! answer. The `uri` formats check the grammar on the same split.

use std::borrow::Cow;

#[cfg(test)]
mod tests;

/// A reference cut at its delimiters. An absent part is `None`, which differs from an empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    pub(crate) scheme: Option<&'a str>,
    pub(crate) authority: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) query: Option<&'a str>,
    pub(crate) fragment: Option<&'a str>,
}

impl<'a> Parts<'a> {
    /// Cuts `reference`. Text before a colon is a scheme only if it is spelt like one, so `1:b`
    /// is a path.
    pub(crate) fn split(reference: &'a str) -> Self {
        let (rest, fragment) = split_fragment(reference);
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (scheme, rest) = match rest.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, rest),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                (Some(authority), path)
            }
            None => (None, rest),
        };
        Parts {
            scheme,
            authority,
            path,
            query,
            fragment,
        }
    }
}

/// Resolves `reference` against `base` (section 5.2.2, strict). The base may be a URN or empty;
/// its fragment plays no part.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    let target = Parts::split(reference);
    if target.scheme.is_some() {
        return compose(target, &remove_dot_segments(target.path));
    }
    let base = Parts::split(base);
    let target = Parts {
        scheme: base.scheme,
        ..target
    };
    if target.authority.is_some() {
        return compose(target, &remove_dot_segments(target.path));
    }
    let target = Parts {
        authority: base.authority,
        ..target
    };
    if target.path.is_empty() {
        let query = target.query.or(base.query);
        return compose(Parts { query, ..target }, base.path);
    }
    if target.path.starts_with('/') {
        return compose(target, &remove_dot_segments(target.path));
    }
    compose(target, &remove_dot_segments(&merge(&base, target.path)))
}

/// Cuts at the first `#`: what is before it, and the fragment when there is a `#`.
pub(crate) fn split_fragment(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (reference, None),
    }
}

/// The same reference without an empty fragment: `x#` and `x` name one document.
pub(crate) fn normalise(reference: &str) -> &str {
    match split_fragment(reference) {
        (rest, Some("")) => rest,
        _ => reference,
    }
}

/// Undoes percent-encoding. `None` when a `%` lacks its two hexadecimal digits or the bytes are
/// not UTF-8.
pub(crate) fn percent_decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => hex(bytes.next()?)? << 4 | hex(bytes.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

fn hex(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

fn is_scheme(text: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(rest)
}

/// Section 5.2.3: the relative path takes the place of what follows the base's last slash.
fn merge(base: &Parts<'_>, path: &str) -> String {
    if base.authority.is_some() && base.path.is_empty() {
        return format!("/{path}");
    }
    let kept = base.path.rfind('/').map_or(0, |slash| slash + 1);
    [&base.path[..kept], path].concat()
}

/// Section 5.2.4. Linear: each step back removes what an earlier step appended.
fn remove_dot_segments(path: &str) -> Cow<'_, str> {
    if !path.contains('.') {
        return Cow::Borrowed(path);
    }
    let mut output = String::with_capacity(path.len());
    let mut rest = path;
    loop {
        if let Some(tail) = rest.strip_prefix("../").or_else(|| rest.strip_prefix("./")) {
            rest = tail;
        } else if rest.starts_with("/./") {
            rest = &rest[2..];
        } else if rest.starts_with("/../") {
            rest = &rest[3..];
            output.truncate(output.rfind('/').unwrap_or(0));
        } else {
            break_off(&mut output, &mut rest);
            if rest.is_empty() {
                return Cow::Owned(output);
            }
        }
    }
}

/// Moves one segment, or what the last dot segment stands for, from `rest` to `output`.
fn break_off(output: &mut String, rest: &mut &str) {
    let segment = match *rest {
        "/." => "/",
        "/.." => {
            output.truncate(output.rfind('/').unwrap_or(0));
            "/"
        }
        "." | ".." => "",
        path => {
            let from = usize::from(path.starts_with('/'));
            let end = path[from..].find('/').map_or(path.len(), |at| at + from);
            output.push_str(&path[..end]);
            *rest = &path[end..];
            return;
        }
    };
    output.push_str(segment);
    *rest = "";
}

/// Section 5.3, with `path` in place of the parts' own. A path that would read as an authority
/// or a scheme gets a dot segment in front, so that the text splits into the same parts again.
fn compose(parts: Parts<'_>, path: &str) -> String {
    let mut text = String::new();
    if let Some(scheme) = parts.scheme {
        text.extend([scheme, ":"]);
    }
    match parts.authority {
        Some(authority) => text.extend(["//", authority]),
        None if path.starts_with("//") => text.push_str("/."),
        None if parts.scheme.is_none() && Parts::split(path).scheme.is_some() => {
            text.push_str("./");
        }
        None => {}
    }
    text.push_str(path);
    if let Some(query) = parts.query {
        text.extend(["?", query]);
    }
    if let Some(fragment) = parts.fragment {
        text.extend(["#", fragment]);
    }
    text
}
