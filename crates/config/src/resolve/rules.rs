//! What holds for single settings wherever they come from: a file, a flag, or the environment.

use std::net::{Ipv4Addr, SocketAddr};

use crate::model::Config;
use crate::problem::{Problem, Warning};
use crate::secret::Secret;

/// An address and port. As in Go, a port alone means every interface, which is IPv4 here, and `localhost` is a name.
pub(crate) fn listen(text: &str) -> Result<SocketAddr, Problem> {
    let port = |text: &str| text.strip_prefix(':')?.parse::<u16>().ok();
    if let Some(port) = port(text) {
        return Ok((Ipv4Addr::UNSPECIFIED, port).into());
    }
    if let Some(port) = text.strip_prefix("localhost").and_then(port) {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    text.parse().map_err(|_| {
        let port = text.rsplit(':').next().and_then(|port| port.parse().ok());
        let port: u16 = port.unwrap_or(8080);
        Problem::new(None, "not an address and port")
            .hint(format!("write \"127.0.0.1:{port}\" for this machine only, or \"0.0.0.0:{port}\" for every interface"))
    })
}

/// What can be sent in a header and is not nothing.
pub(crate) fn api_key(key: &str) -> Result<(), Problem> {
    if key.is_empty() {
        return Err(Problem::new(None, "the key is empty").hint(
            "remove it to have one generated, or set \"require_mcp_auth\": false on a loopback address",
        ));
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Problem::new(
            None,
            "the key has characters that cannot be sent in a header",
        )
        .hint("use letters, digits and punctuation without spaces"));
    }
    Ok(())
}

pub(crate) fn storage_url(url: &str) -> Result<(), Problem> {
    if url.starts_with("sqlite:") {
        return Ok(());
    }
    let message = if url.starts_with("postgres:") || url.starts_with("postgresql:") {
        "PostgreSQL is not implemented in this version"
    } else {
        "not a storage URL"
    };
    Err(Problem::new(None, message).hint("write \"sqlite:\" or \"sqlite:PATH\""))
}

/// The clients' key must not be the admin key.
pub(crate) fn distinct_keys(config: &Config) -> Result<(), Problem> {
    let [api, admin] =
        [&config.api_key, &config.admin_key].map(|key| key.as_ref().map(Secret::expose));
    if api.is_none() || api != admin {
        return Ok(());
    }
    let message = "the admin key is the same as api_key, so every client could change the gateway";
    Err(Problem::new(None, message).hint("remove admin_key to have one generated"))
}

/// Without a key, only this machine may be served.
pub(crate) fn exposure(config: &Config) -> Result<(), Problem> {
    if config.require_mcp_auth || config.listen.ip().is_loopback() {
        return Ok(());
    }
    let message = format!("{} would be open to anyone without a key", config.listen);
    Err(Problem::new(None, message).hint("set \"require_mcp_auth\": true, or listen on 127.0.0.1"))
}

/// What it means that other machines can reach the gateway, if they can: it has no TLS of its own.
pub(crate) fn exposure_warning(config: &Config) -> Option<Warning> {
    let listen = config.listen;
    if listen.ip().is_loopback() {
        return None;
    }
    let message = format!(
        "other machines can reach {listen}, and keys, arguments and results cross the network without encryption"
    );
    let hint = format!(
        "listen on 127.0.0.1:{}, with a proxy that has TLS in front if others are to be served",
        listen.port()
    );
    Some(Problem::new(None, message).hint(hint))
}
