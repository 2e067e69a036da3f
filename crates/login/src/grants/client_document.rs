//! The document by which authorization servers know this gateway: its address is the client's identifier.

use countersign_config::{Config, is_server_name};
use countersign_oauth::ClientMetadata;

use super::login::CLIENT_NAME;

/// Where the document is, below `public_url`.
pub const CLIENT_DOCUMENT: &str = "/oauth/client.json";

/// Where a browser comes back to. The port of a loopback address may differ (RFC 8252, section 7.3).
const REDIRECT_URIS: [&str; 2] = ["http://127.0.0.1/callback", "http://localhost/callback"];

/// The address of the document, if authorization servers can read it.
pub fn client_document_url(config: &Config) -> Option<String> {
    let public_url = config.public_url.as_deref()?.trim_end_matches('/');
    let is_secure = public_url.starts_with("https://");
    is_secure.then(|| format!("{public_url}{CLIENT_DOCUMENT}"))
}

/// The document itself.
pub fn client_document(config: &Config) -> Option<String> {
    let url = client_document_url(config)?;
    let redirect_uris = REDIRECT_URIS.map(str::to_owned);
    let client = ClientMetadata::new(CLIENT_NAME, &redirect_uris, None);
    Some(client.to_document(&url))
}

/// Where the documents for logins of callers are, below `public_url`: one for each server, so that a code for the one
/// server's client is of no use to another server.
const SERVER_DOCUMENTS: &str = "/oauth/client/";

/// The address that a caller's browser comes back to after a login to a server; nothing without a `public_url`.
pub fn connect_callback(config: &Config, server: &str) -> Option<String> {
    let public_url = config.public_url.as_deref()?.trim_end_matches('/');
    Some(format!("{public_url}/connect/{server}/callback"))
}

/// The address of the document for the logins of callers to a server, if authorization servers can read it.
pub fn server_document_url(config: &Config, server: &str) -> Option<String> {
    let public_url = config.public_url.as_deref()?.trim_end_matches('/');
    let is_secure = public_url.starts_with("https://");
    is_secure.then(|| format!("{public_url}{SERVER_DOCUMENTS}{server}.json"))
}

/// The server whose document is at this path. Whether there is such a server makes no difference.
pub fn server_document_name(path: &str) -> Option<&str> {
    let name = path.strip_prefix(SERVER_DOCUMENTS)?.strip_suffix(".json")?;
    is_server_name(name).then_some(name)
}

/// The document for the logins of callers to a server.
pub fn server_document(config: &Config, server: &str) -> Option<String> {
    let url = server_document_url(config, server)?;
    let redirect_uri = connect_callback(config, server)?;
    let client = ClientMetadata::new(CLIENT_NAME, &[redirect_uri], None);
    Some(client.to_document(&url))
}
