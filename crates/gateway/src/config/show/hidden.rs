//! What may be seen of values that may be secret: names, and what does not look like one.

use std::collections::BTreeMap;

use countersign_audit::Redactor;

use crate::config::secret::Secret;

pub(super) fn shown_values(values: &BTreeMap<String, Secret>) -> BTreeMap<&str, String> {
    let values = values.iter();
    values
        .map(|(name, value)| (name.as_str(), value.shown()))
        .collect()
}

/// What follows `--token` and its like goes whole, and so does what looks like a secret.
pub(super) fn shown_args(args: &[String], redactor: &Redactor) -> Vec<String> {
    let mut previous = "";
    let mut shown = Vec::with_capacity(args.len());
    for arg in args {
        let follows = is_telling(previous) && !arg.starts_with('-');
        shown.push(match arg.split_once('=') {
            _ if follows => "[redacted]".to_owned(),
            Some((flag, _)) if is_telling(flag) => format!("{flag}=[redacted]"),
            _ => redactor.redact(arg).into_owned(),
        });
        previous = arg;
    }
    shown
}

fn is_telling(flag: &str) -> bool {
    let flag = flag.to_ascii_lowercase();
    let words = [
        "token",
        "secret",
        "password",
        "passwd",
        "key",
        "auth",
        "credential",
        "bearer",
    ];
    flag.starts_with('-') && words.iter().any(|word| flag.contains(word))
}

/// Without user, password and query, which is where secrets are.
pub(in crate::config) fn shown_url(url: &str) -> String {
    let (url, query) = match url.split_once('?') {
        Some((url, _)) => (url, "?[redacted]"),
        None => (url, ""),
    };
    let Some((scheme, rest)) = url.split_once("://") else {
        return format!("{url}{query}");
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://[redacted]@{host}{path}{query}"),
        None => format!("{scheme}://{authority}{path}{query}"),
    }
}
