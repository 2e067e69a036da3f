//! What holds for single settings wherever they come from: a file, a flag, or the environment.

use std::collections::BTreeMap;

use countersign_audit::check_postgres_url;

use super::problem::Problem;
use super::secret::Secret;

/// Headers that belong to the connection or to the protocol.
const RESERVED: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What can be sent in a header and is not nothing.
pub(crate) fn api_key(key: &str) -> Result<(), Problem> {
    if key.is_empty() {
        return Err(Problem::new(
            "the key is empty",
            "remove it to have one generated, or set \"require_mcp_auth\": false on a loopback address",
        ));
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Problem::new(
            "the key has characters that cannot be sent in a header",
            "use letters, digits and punctuation without spaces",
        ));
    }
    Ok(())
}

pub(crate) fn storage_url(url: &str) -> Result<(), Problem> {
    let hint =
        "write \"sqlite:\", \"sqlite:PATH\" or \"postgres://user:password@host:5432/database\"";
    if url.starts_with("sqlite:") {
        Ok(())
    } else if is_postgres(url) {
        check_postgres_url(url).map_err(|why| Problem::new(why, hint))
    } else {
        Err(Problem::new("not a storage URL", hint))
    }
}

fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

pub(crate) fn check_url(url: &str) -> Result<(), Problem> {
    let hint = "write \"https://host/path\"";
    let rest = url.strip_prefix("https://").or(url.strip_prefix("http://"));
    let Some(rest) = rest else {
        return Err(Problem::new("not an http:// or https:// address", hint));
    };
    let authority = rest.split(['/', '?']).next().unwrap_or("");
    if authority.contains('@') {
        return Err(Problem::new(
            "user and password cannot be part of the address",
            "put them into \"headers\", with ${env:NAME}",
        ));
    }
    let graphic = url.bytes().all(|byte| byte.is_ascii_graphic());
    if authority.is_empty() || authority.starts_with(':') || !graphic || url.contains('#') {
        return Err(Problem::new("not a complete address", hint));
    }
    Ok(())
}

pub(crate) fn check_header(
    name: &str,
    value: &Secret,
    others: &BTreeMap<String, Secret>,
) -> Result<(), Problem> {
    let lower = name.to_ascii_lowercase();
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(Problem::new(
            "not the name of a header",
            "a name is letters, digits and -, without spaces or colon",
        ));
    }
    if RESERVED.contains(&lower.as_str()) || lower.starts_with("mcp-") {
        return Err(Problem::new(
            "the gateway sets this header itself",
            "remove it",
        ));
    }
    if others.keys().any(|other| other.eq_ignore_ascii_case(name)) {
        return Err(Problem::new("the header is given twice", "keep one"));
    }
    let fits = |byte: u8| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    if !value.expose().bytes().all(fits) {
        return Err(Problem::new(
            "the value has characters a header cannot hold",
            "a line break at the end of a variable is a common reason",
        ));
    }
    Ok(())
}
