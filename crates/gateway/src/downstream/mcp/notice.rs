//! What a client sends without waiting for an answer: notifications, and its answers to what servers asked.

use bytes::Bytes;
use countersign_inspect::{ClientEra, MAX_NOTE_BYTES};

use crate::downstream::client_transport::ClientTransport;
use crate::downstream::message::Message;
use crate::path::client::Client;
use crate::path::reply::{self, Problem, Reply};
use crate::services::{Session, Sessions};
use crate::state::Endpoint;

/// Gives a client's answer to the server that asked, under the server's own id.
pub(in crate::downstream) fn answer_server(session: &Session, message: &Message) {
    let asked = message
        .id()
        .and_then(|id| session.server_requests.take(&id));
    if let Some((server, id)) = asked
        && let Some(answer) = message.with_id(&id)
    {
        server.tell(&answer);
    }
}

/// Takes a notification.
pub(super) fn notice(
    sessions: &Sessions,
    endpoint: &Endpoint,
    message: &Message,
    method: &str,
    transport: ClientTransport<'_>,
) -> Reply {
    match Client::from_request(message, method, transport, sessions) {
        Ok(Client {
            session: Some(session),
            ..
        }) if method == "notifications/cancelled" => {
            if let Some(id) = give_reason(&session, message) {
                session.cancel(&id);
            }
            reply::accepted()
        }
        Ok(Client {
            session: Some(session),
            ..
        }) => {
            pass_on(&session, endpoint, message, method);
            reply::accepted()
        }
        Err(problem @ Problem::Session) => reply::problem(None, &problem, ClientEra::Legacy),
        // A notification has no answer: what is wrong with it is not said.
        _ => reply::accepted(),
    }
}

/// The id of the request that a client cancels. Its server is told the reason, if the client gives one.
pub(in crate::downstream) fn give_reason(session: &Session, message: &Message) -> Option<Bytes> {
    let id = message.param("requestId")?;
    if let Some(reason) = message.param("reason") {
        session.give_reason(&id, &reason);
    }
    Some(id)
}

/// Passes on what a client says of its own accord, to the servers that know this client. A progress token is one server's
/// own, so it is not shown to others.
fn pass_on(session: &Session, endpoint: &Endpoint, message: &Message, method: &str) {
    let peers = match (method, endpoint) {
        ("notifications/roots/list_changed" | "notifications/progress", Endpoint::Server(name)) => {
            session.peers(Some(name))
        }
        ("notifications/roots/list_changed", _) => session.peers(None),
        _ => return,
    };
    if message.bytes().len() > MAX_NOTE_BYTES {
        return;
    }
    for peer in peers {
        peer.tell(message.bytes());
    }
}
