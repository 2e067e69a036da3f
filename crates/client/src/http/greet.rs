//! The first words with a server over HTTP: which era it speaks, and what it says about itself. A
//! modern request goes first; an answer that no modern server gives means a legacy one, which is
//! greeted its own way. What it spoke the last time is tried first.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_inspect::Era;
use countersign_wire::Subject;
use countersign_wire::message;
use countersign_wire::version::{LEGACY, MODERN};
use hyper::StatusCode;
use tokio::time::timeout;

use super::link::{HttpAnswer, Link};
use super::session::Session;
use crate::era_preference::EraPreference;
use crate::error::Error;
use crate::hello::{Discovery, Hello, initialize_params};
use crate::notes::NoteSink;
use crate::server_error::ServerError;
use crate::timings::Timings;

/// A legacy server may keep silent about a method it does not know.
const PROBE: Duration = Duration::from_secs(5);

/// Greets the server and leaves the link with a session.
pub(crate) async fn greet(
    link: &Arc<Link>,
    preference: EraPreference,
) -> Result<Hello, ServerError> {
    link.await_token().await?;
    match preference {
        EraPreference::First(Era::Legacy) => match initialize(link, LEGACY[0]).await {
            // It may have learnt something since.
            Err(ServerError::NotMcp | ServerError::Status(_)) => match discover(link).await? {
                Discovery::Modern(hello) => Ok(hello),
                Discovery::Legacy(_) => Err(ServerError::NotMcp),
            },
            settled => settled,
        },
        EraPreference::First(Era::Modern) => match discover(link).await? {
            Discovery::Modern(hello) => Ok(hello),
            Discovery::Legacy(version) => initialize(link, version).await,
        },
        EraPreference::Only(Era::Modern) => match discover(link).await? {
            Discovery::Modern(hello) => Ok(hello),
            Discovery::Legacy(_) => Err(ServerError::OtherEra(Era::Modern)),
        },
        EraPreference::Only(Era::Legacy) => match initialize(link, LEGACY[0]).await {
            Err(ServerError::NotMcp) => Err(ServerError::OtherEra(Era::Legacy)),
            settled => settled,
        },
    }
}

/// The modern way.
async fn discover(link: &Arc<Link>) -> Result<Discovery, ServerError> {
    let session = Session::new(&link.site, Era::Modern, MODERN, None);
    let params = message::own_params(Era::Modern, b"");
    let asked = timeout(PROBE, ask(link, &session, "server/discover", &params)).await;
    match asked {
        Ok(Ok(answer)) => {
            let discovery = Discovery::read(&answer.message);
            if matches!(discovery, Ok(Discovery::Modern(_))) {
                link.session.store(Arc::new(session));
            }
            discovery
        }
        Ok(Err(Error::Status(status, body))) if status.is_client_error() => {
            if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                return Err(ServerError::Status(status.as_u16()));
            }
            // A server that has not read the id of the request answers with none.
            Discovery::read_error(&body)
        }
        // A server that does not answer a method it does not know may still answer `initialize`.
        Err(_) | Ok(Err(Error::Malformed | Error::Lost)) => Ok(Discovery::Legacy(LEGACY[0])),
        Ok(Err(failure)) => Err(failure.into()),
    }
}

/// The legacy way, asking for this version: a handshake, and a session if the server wants one.
pub(crate) async fn initialize(link: &Arc<Link>, version: &str) -> Result<Hello, ServerError> {
    let none = Session::without_id(&link.site);
    let params = initialize_params(version, &declared(link).await);
    let answer = ask(link, &none, "initialize", &params).await?;
    let hello = Hello::initialized(&answer.message)?;
    let session = Session::new(&link.site, Era::Legacy, &hello.version, answer.session);
    link.begin(session).await;
    Ok(hello)
}

/// What the server may ask of the client: nothing, if many clients share the session.
pub(crate) async fn declared(link: &Link) -> Bytes {
    match &link.peer {
        Some(peer) => peer.introduced().await.capabilities,
        None => Bytes::from_static(b"{}"),
    }
}

async fn ask(
    link: &Arc<Link>,
    session: &Session,
    method: &str,
    params: &[u8],
) -> Result<HttpAnswer, Error> {
    let id = link.id();
    let message = message::request(id, method, params);
    let headers = session.request_headers(&Subject::method(method), message.len());
    let notes = NoteSink::closed();
    let mut timings = Timings::default();
    link.exchange(session, headers, id, message.into(), &notes, &mut timings)
        .await
}
