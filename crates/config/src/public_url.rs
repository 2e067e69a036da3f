//! `public_url`: the address that users type, as far as the host. What clients are told about the gateway is made from it,
//! and never from a header of a request.

use super::issuer::host;
use super::model::Config;
use super::problem::Problem;
use super::reader::Reader;
use super::rules::check_url;
use super::setting::read_into;

const HINT: &str = "write \"https://tools.example.com\", without a path";

/// The address, without a slash at its end.
pub(crate) fn read_public_url(
    reader: &mut Reader<'_, '_>,
    node: u32,
    public_url: &mut Option<String>,
) {
    read_into(reader, node, public_url);
    let Some(url) = public_url else { return };
    let checked = check_url(url);
    reader.usable(node, checked);
    if url.ends_with('/') {
        url.pop();
    }
    let (_, rest) = url.split_once("://").unwrap_or_default();
    if rest.contains(['/', '?']) {
        reader.refuse(node, "a public address has no path and no query", HINT);
    }
}

impl Config {
    /// The host that users type, with its port if it has one.
    pub fn public_host(&self) -> Option<&str> {
        let (_, host) = self.public_url.as_deref()?.split_once("://")?;
        Some(host)
    }
}

/// Tokens are for an address, so there must be one.
pub(crate) fn has_public_url(config: &Config) -> Result<(), Problem> {
    if config.auth.issuers.is_empty() || config.public_url.is_some() {
        return Ok(());
    }
    let message = "tokens are issued for the address of the gateway, and it is not known";
    let hint = "set \"public_url\" to what users type, such as \"https://tools.example.com\"";
    Err(Problem::new(message, hint))
}

/// Tokens must not cross a network without encryption.
pub(crate) fn encrypted_tokens(config: &Config) -> Result<(), Problem> {
    let Some(url) = config.public_url.as_deref() else {
        return Ok(());
    };
    let is_local = is_loopback(url) && config.listen.exposed().is_none();
    if config.auth.issuers.is_empty() || url.starts_with("https://") || is_local {
        return Ok(());
    }
    let message = "tokens would cross the network without encryption";
    let hint = "set \"tls\" or put a proxy with TLS in front, and write https:// in public_url, or listen on 127.0.0.1";
    Err(Problem::new(message, hint))
}

/// Whether the host is this machine.
fn is_loopback(url: &str) -> bool {
    let host = host(url);
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<std::net::IpAddr>();
    address.map_or(host.eq_ignore_ascii_case("localhost"), |it| {
        it.is_loopback()
    })
}
