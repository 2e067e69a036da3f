//! What may be seen of values that may be secret: names, and what does not look like one.

use std::collections::BTreeMap;

use countersign_audit::Redactor;

use super::secret::Secret;

pub(crate) fn shown_values(values: &BTreeMap<String, Secret>) -> BTreeMap<&str, String> {
    let values = values.iter();
    values
        .map(|(name, value)| (name.as_str(), value.shown()))
        .collect()
}

/// What follows `--token` and its like goes whole, and so does what looks like a secret.
pub(crate) fn shown_args(args: &[String], redactor: &Redactor) -> Vec<String> {
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

/// A step of a path that is at least this long and has letters and digits is taken for a secret.
const SECRET_STEP: usize = 24;

/// Without user, password and query, which is where secrets are, and without steps of the path that look like one.
pub(crate) fn shown_url(url: &str) -> String {
    let (url, query) = match url.split_once('?') {
        Some((url, _)) => (url, "?[redacted]"),
        None => (url, ""),
    };
    let Some((scheme, rest)) = url.split_once("://") else {
        return format!("{url}{query}");
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://[redacted]@{host}{}{query}", shown_path(path)),
        None => format!("{scheme}://{authority}{}{query}", shown_path(path)),
    }
}

/// Some services put the key into the path.
fn shown_path(path: &str) -> String {
    let shown = |step| {
        if is_secret_step(step) {
            "[redacted]"
        } else {
            step
        }
    };
    path.split('/').map(shown).collect::<Vec<_>>().join("/")
}

fn is_secret_step(step: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| step.as_bytes().iter().any(kind);
    step.len() >= SECRET_STEP && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::shown_url;

    #[test]
    fn an_address_is_shown_without_what_may_be_secret() {
        for (url, shown) in [
            ("https://x.example/mcp", "https://x.example/mcp"),
            (
                "https://x.example/api/s/MzZkNGYwZjEtNTk1My00YTk5/mcp?k=v",
                "https://x.example/api/s/[redacted]/mcp?[redacted]",
            ),
            (
                "https://u:p@x.example/a-rather-long-name-of-a-service",
                "https://[redacted]@x.example/a-rather-long-name-of-a-service",
            ),
        ] {
            assert_eq!(shown_url(url), shown);
        }
    }
}
