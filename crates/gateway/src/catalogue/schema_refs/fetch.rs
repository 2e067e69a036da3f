//! One document that a schema refers to, fetched from a host that the operator allows. The address is written by a server,
//! so everything about the exchange is bounded: where it goes, by name and by resolved address, how long it takes, and how
//! much is read. Redirects are not followed, and no credentials are sent.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use countersign_config::SchemaRefs;
use countersign_dial::{Budget, Origin, Pool, Reach, ReadError, SendError, gather};
use http_body_util::Full;
use hyper::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap};
use hyper::{Request, StatusCode, Uri};
use thiserror::Error;

/// Longer addresses are not fetched.
const MAX_ADDRESS: usize = 2048;

/// Why a document is not there.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum DocumentError {
    #[error("its address is not one of http or https that can be fetched")]
    Address,
    #[error("plain http needs schema_refs.allow_private")]
    Plain,
    #[error("its host is not in schema_refs.hosts")]
    Host,
    #[error("its host has no address that may be connected to")]
    Forbidden,
    #[error("its host cannot be reached")]
    Unreachable,
    #[error("it did not come within schema_refs.timeout")]
    TimedOut,
    #[error("it redirects, which is not followed")]
    Redirected,
    #[error("it was answered with the HTTP status {0}")]
    Status(u16),
    #[error("it is not said to be JSON")]
    NotJson,
    #[error("it is encoded")]
    Encoded,
    #[error("it is larger than schema_refs.max_bytes")]
    TooLarge,
    #[error("the tool list leads to more documents than schema_refs.max_documents")]
    TooMany,
    #[error("it is further away than schema_refs.max_depth")]
    TooDeep,
}

/// An address that may be fetched.
#[derive(Debug)]
struct Address {
    uri: Uri,
    origin: Origin,
}

/// Fetches the document at an address.
pub(super) async fn fetch(refs: &SchemaRefs, address: &str) -> Result<Bytes, DocumentError> {
    let address = check(refs, address)?;
    let exchange = tokio::time::timeout(refs.timeout, exchange(refs, address)).await;
    exchange.unwrap_or(Err(DocumentError::TimedOut))
}

fn check(refs: &SchemaRefs, address: &str) -> Result<Address, DocumentError> {
    let is_plain = |c: char| c.is_ascii_graphic() && c != '#';
    if address.len() > MAX_ADDRESS || !address.chars().all(is_plain) {
        return Err(DocumentError::Address);
    }
    let uri: Uri = address.parse().map_err(|_| DocumentError::Address)?;
    let origin = Origin::from_uri(&uri).ok_or(DocumentError::Address)?;
    let names_user = |uri: &Uri| {
        uri.authority()
            .is_some_and(|one| one.as_str().contains('@'))
    };
    if names_user(&uri) {
        return Err(DocumentError::Address);
    }
    if !refs.allows_host(&origin.host, origin.port, origin.tls) {
        return Err(DocumentError::Host);
    }
    if !reach(refs).allows_scheme(origin.tls) {
        return Err(DocumentError::Plain);
    }
    Ok(Address { uri, origin })
}

fn reach(refs: &SchemaRefs) -> Reach {
    if refs.allow_private {
        Reach::PRIVATE
    } else {
        Reach::PUBLIC
    }
}

async fn exchange(refs: &SchemaRefs, address: Address) -> Result<Bytes, DocumentError> {
    let Address { uri, origin } = address;
    let filter = reach(refs).filter(origin.tls);
    let pool = Pool::new(origin, 0)
        .with_filter(filter)
        .with_connect_timeout(refs.timeout);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let request = Request::builder()
        .uri(path)
        .header(HOST, host)
        .header(ACCEPT, "application/schema+json, application/json")
        .body(Full::default())
        .map_err(|_| DocumentError::Address)?;
    let response = Arc::new(pool).send(request).await.map_err(send_error)?;
    check_head(response.status(), response.headers())?;
    // A budget of its own: what a server refers to must not take the memory that calls need.
    let budget = Budget::new(refs.max_bytes.saturating_mul(2).max(1 << 20));
    let body = gather(response.into_body(), refs.max_bytes, &budget).await;
    body.map_err(|error| match error {
        ReadError::TooLarge => DocumentError::TooLarge,
        _ => DocumentError::Unreachable,
    })
}

fn check_head(status: StatusCode, headers: &HeaderMap) -> Result<(), DocumentError> {
    if status.is_redirection() {
        return Err(DocumentError::Redirected);
    }
    if status != StatusCode::OK {
        return Err(DocumentError::Status(status.as_u16()));
    }
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(DocumentError::Encoded);
    }
    let said = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let kind = said
        .and_then(|said| said.split(';').next())
        .unwrap_or_default();
    let kind = kind.trim().to_ascii_lowercase();
    let is_json =
        kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"));
    if is_json {
        Ok(())
    } else {
        Err(DocumentError::NotJson)
    }
}

fn send_error(error: SendError) -> DocumentError {
    match error {
        SendError::Connect(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            DocumentError::Forbidden
        }
        SendError::Connect(error) if error.kind() == io::ErrorKind::TimedOut => {
            DocumentError::TimedOut
        }
        _ => DocumentError::Unreachable,
    }
}
