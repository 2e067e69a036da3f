//! MCP over HTTP: `POST` for messages, `GET` for a session's stream of changes, `DELETE` for the end of a session.

use std::sync::Arc;

use countersign_config::RoutingMode;
use countersign_wire::header::LAST_EVENT_ID;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use super::listener::{Audience, Listener};
use super::mcp;
use crate::http::{
    challenge_scopes, hears_events, intake, not_allowed, plain, respond_with, unread,
};
use crate::path::client::Client;
use crate::path::isolation::private_server;
use crate::path::reply::{Body, Framing, Reply};
use crate::services::{Runtime, Services};
use crate::state::{Caller, Endpoint, Snapshot};

/// The methods of the protocol's paths.
const MCP_METHODS: &str = "GET, POST, DELETE";

/// Which tools a path offers; nothing if it is not one of the protocol's, or is that of a server of which the caller may see
/// nothing.
fn endpoint(snapshot: &Snapshot, caller: &Caller, path: &str) -> Option<Endpoint> {
    let rest = path.strip_prefix("/mcp")?;
    match rest {
        "" | "/" => Some(match snapshot.settings.config.routing_mode {
            RoutingMode::RetrieveTools => Endpoint::Router,
            RoutingMode::Direct => Endpoint::Direct,
        }),
        "/call" => Some(Endpoint::Router),
        "/all" => Some(Endpoint::Direct),
        _ => {
            let name = rest.strip_prefix("/s/")?;
            let server = snapshot.server(name)?;
            if !snapshot.settings.may_reach(caller, name) {
                return None;
            }
            Some(Endpoint::Server(Arc::clone(server.upstream.name())))
        }
    }
}

/// Answers a request under `/mcp`.
pub(crate) async fn respond(
    runtime: &Runtime,
    snapshot: Arc<Snapshot>,
    caller: Arc<Caller>,
    request: Request<Incoming>,
) -> Response<Body> {
    let Some(endpoint) = endpoint(&snapshot, &caller, request.uri().path()) else {
        return plain(StatusCode::NOT_FOUND, "not found\n");
    };
    match *request.method() {
        Method::POST => post(runtime, snapshot, (endpoint, &caller), request).await,
        Method::DELETE => delete(&runtime.services, &caller, &request),
        Method::GET => {
            let listener = get(runtime, &snapshot, (endpoint, &caller), request.headers());
            Box::pin(listener).await
        }
        _ => not_allowed(MCP_METHODS),
    }
}

/// The stream of what a legacy client is told outside of its calls. Modern clients subscribe with a request instead.
async fn get(
    runtime: &Runtime,
    snapshot: &Snapshot,
    (endpoint, caller): (Endpoint, &Arc<Caller>),
    headers: &HeaderMap,
) -> Response<Body> {
    let token = headers.get("mcp-session-id");
    let Some(token) = token.filter(|_| hears_events(headers)) else {
        return not_allowed(MCP_METHODS);
    };
    let session = token
        .to_str()
        .ok()
        .and_then(|token| runtime.services.sessions.find(token, &caller.name));
    let Some(session) = session else {
        return plain(StatusCode::NOT_FOUND, "no such session\n");
    };
    if let Endpoint::Server(name) = &endpoint
        && let Some(server) = snapshot.server(name)
    {
        // What the server says to this client alone comes by a connection of its own. Without one the client still hears
        // what all clients hear.
        let client = Client::with_session(&session, caller);
        let _refused = private_server(
            &runtime.services,
            &snapshot.settings,
            &server.upstream,
            &client,
        )
        .await;
    }
    let last = headers
        .get(LAST_EVENT_ID)
        .and_then(|last| last.to_str().ok());
    let listener = Listener {
        endpoint,
        audience: Audience::Session {
            after: last.and_then(|last| last.parse().ok()),
            ended: session.listen(),
            session,
        },
        caller: Arc::clone(caller),
        framing: Framing::Events,
    };
    match listener.start(runtime) {
        Some(events) => respond_with(Reply::events(events)),
        None => plain(StatusCode::SERVICE_UNAVAILABLE, "too many clients listen\n"),
    }
}

async fn post(
    runtime: &Runtime,
    snapshot: Arc<Snapshot>,
    (endpoint, caller): (Endpoint, &Arc<Caller>),
    request: Request<Incoming>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let limit = snapshot.settings.config.max_message_bytes;
    let body = match intake::read_body(body, limit, &runtime.services.intake).await {
        Ok(body) => body,
        Err(refused) => return unread(refused),
    };
    let settings = Arc::clone(&snapshot.settings);
    let answer = mcp::answer(runtime, snapshot, endpoint, (&head.headers, caller), body).await;
    let mut reply = answer.reply;
    let scopes = std::mem::take(&mut reply.scopes);
    let mut response = respond_with(reply);
    challenge_scopes(
        &mut response,
        settings.tokens.as_ref(),
        head.uri.path(),
        scopes,
    );
    if let Some(session) = answer.session
        && let Ok(session) = HeaderValue::from_str(&session)
    {
        response.headers_mut().insert("mcp-session-id", session);
    }
    response
}

fn delete(services: &Services, caller: &Caller, request: &Request<Incoming>) -> Response<Body> {
    let token = request.headers().get("mcp-session-id");
    match token.and_then(|token| token.to_str().ok()) {
        None => plain(StatusCode::BAD_REQUEST, "Mcp-Session-Id is missing\n"),
        Some(token) if services.sessions.end(token, &caller.name) => plain(StatusCode::OK, ""),
        Some(_) => plain(StatusCode::NOT_FOUND, "no such session\n"),
    }
}
