//! The first words with a server over HTTP: which era it speaks, and what it says about itself. A
//! modern request goes first; an answer that no modern server gives means a legacy one, which is
//! greeted its own way. What it spoke the last time is tried first.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_inspect::Era;
use countersign_tape::{Hard, Kind, scan};
use hyper::StatusCode;
use hyper::header::HeaderMap;
use tokio::time::timeout;

use super::failure::Failure;
use super::headers::Subject;
use super::link::{Answer, Link};
use super::session::Session;
use crate::json::member;
use crate::upstream::NoteSink;
use crate::upstream::hello::{HandshakeError, Hello, initialize_params};
use crate::upstream::request::{self, MODERN};

/// A legacy server may keep silent about a method it does not know.
const PROBE: Duration = Duration::from_secs(5);
/// How a modern server says that a request is not to its liking.
const MODERN_ERRORS: [&[u8]; 2] = [b"-32020", b"-32021"];

/// Greets the server and leaves the link with a session. `known` is what it spoke the last time.
pub(super) async fn greet(link: &Arc<Link>, known: Option<Era>) -> Result<Hello, HandshakeError> {
    if known == Some(Era::Legacy) {
        return match initialize(link).await {
            // It may have learnt something since.
            Err(HandshakeError::Refused | HandshakeError::Status(_)) => {
                discover(link).await?.ok_or(HandshakeError::Refused)
            }
            greeted => greeted,
        };
    }
    match discover(link).await? {
        Some(hello) => Ok(hello),
        None => initialize(link).await,
    }
}

/// The modern way; nothing if the server does not know it.
async fn discover(link: &Arc<Link>) -> Result<Option<Hello>, HandshakeError> {
    let session = Session::new(&link.site, Era::Modern, MODERN, None);
    let params = request::own_params(Era::Modern, "");
    let asked = timeout(PROBE, ask(link, &session, "server/discover", &params)).await;
    match asked {
        Ok(Ok(answer)) => {
            let hello = Hello::discovered(&answer.message);
            if hello.is_some() {
                link.session.store(Arc::new(session));
            }
            Ok(hello)
        }
        Ok(Err(Failure::Status(status, body))) if status.is_client_error() => {
            if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                return Err(HandshakeError::Status(status.as_u16()));
            }
            if code(&body).is_some_and(|code| MODERN_ERRORS.contains(&&code[..])) {
                return Err(HandshakeError::Status(status.as_u16()));
            }
            Ok(None)
        }
        // Somebody who answers nothing may still answer what it knows.
        Err(_) | Ok(Err(Failure::Malformed | Failure::Lost)) => Ok(None),
        Ok(Err(failure)) => Err(error(&failure)),
    }
}

/// The legacy way: a handshake, and a session if the server wants one.
pub(super) async fn initialize(link: &Arc<Link>) -> Result<Hello, HandshakeError> {
    let none = Session::none(&link.site);
    let answer = ask(link, &none, "initialize", &initialize_params(b"{}"))
        .await
        .map_err(|failure| error(&failure))?;
    let hello = Hello::initialized(&answer.message)?;
    let session = Session::new(&link.site, Era::Legacy, &hello.version, answer.session);
    let headers = session.headers.clone();
    link.session.store(Arc::new(session));
    let mut initialized = request::notification("notifications/initialized");
    initialized.pop();
    link.tell(headers, initialized).await;
    Ok(hello)
}

async fn ask(
    link: &Arc<Link>,
    session: &Session,
    method: &str,
    params: &str,
) -> Result<Answer, Failure> {
    let mut subject = HeaderMap::new();
    if session.era == Era::Modern {
        Subject::method(method).write(&mut subject);
    }
    let id = link.id();
    let message = request::message(id, method, params.as_bytes());
    let notes = NoteSink::closed();
    link.exchange(session, subject, id, message.into(), &notes)
        .await
}

/// The code of the JSON-RPC error in a body, as it is written.
pub(super) fn code(body: &Bytes) -> Option<Bytes> {
    let envelope = scan(body, &Hard::default()).ok()?;
    let code = member(body, envelope.error()?, "code")?;
    (code.kind(body) == Some(Kind::Number)).then(|| body.slice_ref(code.bytes(body)))
}

fn error(failure: &Failure) -> HandshakeError {
    match failure {
        Failure::NotSent | Failure::Lost => HandshakeError::Lost,
        Failure::Status(status, _) => HandshakeError::Status(status.as_u16()),
        Failure::Malformed | Failure::TooLarge | Failure::Busy => HandshakeError::Refused,
    }
}
