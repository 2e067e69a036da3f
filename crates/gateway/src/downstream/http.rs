//! HTTP, once: one listener, one service, a match on the path. Whatever a client does to a
//! connection ends that connection and no other; whatever it sends is read with a limit on size
//! and time.

mod response;
mod visits;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_audit::OnStoreError;
use countersign_config::RoutingMode;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use super::intake;
use super::listen::Listener;
use super::{api, mcp};
use crate::drain::Phase;
use crate::events;
use crate::metrics;
use crate::path::reply::{Body, Framing, Reply};
use crate::shared::Shared;
use crate::state::Endpoint;

pub(super) use response::{hears_events, json};
use response::{not_allowed, plain, respond_with, turned_away, unread};
pub(super) use visits::Visit;
use visits::Visits;

/// The methods of the protocol's paths.
const MCP_METHODS: &str = "GET, POST, DELETE";
/// The methods of paths that can only be read.
const READ_METHODS: &str = "GET, HEAD";
/// The methods that some path has.
const ALL_METHODS: &str = "GET, HEAD, POST, PATCH, DELETE";

/// How long a client may take to send a request's head.
const HEAD: Duration = Duration::from_secs(10);

/// Accepts connections until the gateway drains.
pub(crate) async fn serve(shared: Arc<Shared>, listener: TcpListener) {
    let visits = Visits::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shared.drain.reached(Phase::Draining) => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let (visit, evicts) = visits.admit();
                if evicts {
                    events::Evicted.emit(&shared.events);
                }
                tokio::spawn(connection(Arc::clone(&shared), stream, visit));
            }
            // Out of file descriptors, most likely: another must end first.
            Err(_) if visits.evict() => {
                events::Evicted.emit(&shared.events);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn connection(shared: Arc<Shared>, stream: TcpStream, visit: Visit) {
    let _work = shared.drain.work();
    drop(stream.set_nodelay(true));
    let service = service_fn(|mut request: Request<Incoming>| {
        let shared = Arc::clone(&shared);
        request.extensions_mut().insert(visit.clone());
        async move { Ok::<_, Infallible>(respond(&shared, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let draining = shared.drain.reached(Phase::Draining);
    tokio::pin!(draining);
    tokio::select! {
        ended = connection.as_mut() => return drop(ended),
        () = visit.closed() => return,
        () = draining => connection.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        ended = connection => drop(ended),
        () = visit.closed() => {}
    }
}

/// Gives the connection of a request that had the key, or needs none, a lasting place; false if there is none.
fn takes_place(request: &Request<Incoming>) -> bool {
    let visit = request.extensions().get::<Visit>();
    visit.is_none_or(|visit| visit.prove().is_ok())
}

fn crowded() -> Response<Body> {
    plain(StatusCode::SERVICE_UNAVAILABLE, "too many connections\n")
}

async fn respond(shared: &Arc<Shared>, request: Request<Incoming>) -> Response<Body> {
    let settings = shared.settings();
    // Nobody comes in before there is somebody at the door.
    let Some(guard) = &settings.guard else {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "starting\n");
    };
    // No path has these two. CONNECT names the host of another server, which the guard would take for a foreign client's.
    if matches!(*request.method(), Method::CONNECT | Method::TRACE) {
        return not_allowed(ALL_METHODS);
    }
    if let Err(refused) = guard.check_hosts(request.headers()) {
        return turned_away(shared, refused);
    }
    let path = request.uri().path();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    // The key is checked before the path is looked up: a client without one must not learn which servers there are.
    let admitted = match path {
        "/healthz" | "/readyz" if !is_read => return not_allowed(READ_METHODS),
        "/healthz" => {
            return plain(StatusCode::OK, "ok\n");
        }
        "/readyz" => return ready(shared),
        "/metrics" | "/events" => guard.check_key(request.headers()).map(drop),
        _ if path.starts_with("/api/v1/") => guard.check_api(request.method(), request.headers()),
        _ if path == "/mcp" || path.starts_with("/mcp/") => guard.check_mcp(request.headers()),
        _ => {
            return plain(StatusCode::NOT_FOUND, "not found\n");
        }
    };
    match admitted {
        Ok(()) if !takes_place(&request) => crowded(),
        Ok(()) if path == "/metrics" && !is_read => not_allowed(READ_METHODS),
        Ok(()) if path.starts_with("/mcp") => mcp(shared, request).await,
        Ok(()) => watched(shared, request).await,
        Err(refused) => turned_away(shared, refused),
    }
}

/// What operators and their programs ask.
async fn watched(shared: &Arc<Shared>, request: Request<Incoming>) -> Response<Body> {
    match request.uri().path() {
        "/metrics" => {
            let mut response = plain(StatusCode::OK, "");
            *response.body_mut() = Body::from(Bytes::from(metrics::render(shared)));
            let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, kind);
            response
        }
        "/events" => api::events::respond(shared, &request).await,
        _ => api::respond(shared, request).await,
    }
}

/// Whether calls may come: not while the gateway stops, nor while they would be refused for want of a record.
fn ready(shared: &Shared) -> Response<Body> {
    let refuses = shared.config().activity.on_store_error != OnStoreError::Continue;
    if shared.drain.phase() != Phase::Serving {
        plain(StatusCode::SERVICE_UNAVAILABLE, "stopping\n")
    } else if refuses && !shared.store.stats().healthy {
        plain(
            StatusCode::SERVICE_UNAVAILABLE,
            "the activity store is down\n",
        )
    } else {
        plain(StatusCode::OK, "ready\n")
    }
}

/// Which tools a path offers; nothing if it is not one of the protocol's.
fn endpoint(shared: &Shared, path: &str) -> Option<Endpoint> {
    let rest = path.strip_prefix("/mcp")?;
    match rest {
        "" | "/" => Some(match shared.config().routing_mode {
            RoutingMode::RetrieveTools => Endpoint::Router,
            RoutingMode::Direct => Endpoint::Direct,
        }),
        "/call" => Some(Endpoint::Router),
        "/all" => Some(Endpoint::Direct),
        _ => {
            let name = rest.strip_prefix("/s/")?;
            let snapshot = shared.snapshot();
            let server = snapshot.server(name)?;
            Some(Endpoint::Server(Arc::clone(server.upstream.name())))
        }
    }
}

async fn mcp(shared: &Arc<Shared>, request: Request<Incoming>) -> Response<Body> {
    let Some(endpoint) = endpoint(shared, request.uri().path()) else {
        return plain(StatusCode::NOT_FOUND, "not found\n");
    };
    match *request.method() {
        Method::POST => post(shared, endpoint, request).await,
        Method::DELETE => delete(shared, &request),
        Method::GET => get(shared, endpoint, request.headers()),
        _ => not_allowed(MCP_METHODS),
    }
}

/// The stream of news of a legacy session; nobody else has one.
fn get(shared: &Arc<Shared>, endpoint: Endpoint, headers: &HeaderMap) -> Response<Body> {
    let token = headers.get("mcp-session-id");
    let Some(token) = token.filter(|_| hears_events(headers)) else {
        return not_allowed(MCP_METHODS);
    };
    let session = token
        .to_str()
        .ok()
        .and_then(|token| shared.sessions.find(token));
    let Some(session) = session else {
        return plain(StatusCode::NOT_FOUND, "no such session\n");
    };
    let listener = Listener {
        shown: session.shown(&endpoint),
        endpoint,
        subscription: None,
        list_changed: true,
        ended: Some(session.listen()),
        framing: Framing::Events,
    };
    match listener.start(shared) {
        Some(events) => respond_with(Reply::events(events)),
        None => plain(StatusCode::SERVICE_UNAVAILABLE, "too many clients listen\n"),
    }
}

async fn post(
    shared: &Arc<Shared>,
    endpoint: Endpoint,
    request: Request<Incoming>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let limit = shared.config().max_message_bytes;
    let body = match intake::body(body, limit, &shared.intake).await {
        Ok(body) => body,
        Err(refused) => return unread(refused),
    };
    let answer = mcp::answer(shared, endpoint, &head.headers, body).await;
    let mut response = respond_with(answer.reply);
    if let Some(session) = answer.session
        && let Ok(session) = HeaderValue::from_str(&session)
    {
        response.headers_mut().insert("mcp-session-id", session);
    }
    response
}

fn delete(shared: &Shared, request: &Request<Incoming>) -> Response<Body> {
    let token = request.headers().get("mcp-session-id");
    match token.and_then(|token| token.to_str().ok()) {
        None => plain(StatusCode::BAD_REQUEST, "Mcp-Session-Id is missing\n"),
        Some(token) if shared.sessions.end(token) => plain(StatusCode::OK, ""),
        Some(_) => plain(StatusCode::NOT_FOUND, "no such session\n"),
    }
}
