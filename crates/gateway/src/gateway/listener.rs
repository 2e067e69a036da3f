//! The HTTP listener: one service, a match on the path. A client that misbehaves loses its own connection and no other;
//! what clients send is read with a limit on size and time.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use countersign_audit::OnStoreError;
use countersign_dial::WakeFilter;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::door;
use super::socket::{Accepted, Socket};
use super::tls::{HandshakeError, Tls};
use crate::admin;
use crate::downstream;
use crate::events;
use crate::http::{
    ClientConnection, Connections, Peer, challenge, json, not_allowed, plain, resource_metadata,
};
use crate::path::reply::Body;
use crate::services::{
    CLIENT_DOCUMENT, Phase, Runtime, Services, WorkGuard, client_document, server_document,
    server_document_name,
};
use crate::state::{Admission, METADATA, Right, Snapshot};

/// The methods of paths that can only be read.
const READ_METHODS: &str = "GET, HEAD";
/// The methods that some path has.
const ALL_METHODS: &str = "GET, HEAD, POST, PATCH, DELETE";

/// How long a client may take to send a request's head.
const HEAD: Duration = Duration::from_secs(10);

/// How long a client may take for the handshake of TLS.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How often a timer runs out that nothing waits for. The runtime has to wake the thread that waits for the next timer if
/// a new one runs out before it. The time-outs of heads and calls are all longer than this, so none of them does: without
/// this timer, most requests woke a thread.
const TICK: Duration = Duration::from_secs(1);
/// With a clock further from that of the database than this, a gateway is not ready.
const MAX_CLOCK_SKEW: Duration = Duration::from_mins(1);
/// How long a gateway that stops waits for connections that clients have begun before: longer than a packet takes there and
/// back within a data centre.
const LAST_CONNECTION: Duration = Duration::from_millis(50);
/// How long a connection that has sent nothing yet is kept once the gateway drains: its request may be on the way.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// Accepts the connections of one socket until the gateway drains. All sockets share the table of connections.
pub(super) async fn serve(runtime: Runtime, socket: Socket, connections: Arc<Connections>) {
    let services = &runtime.services;
    // The gateway does not end before the connections are accepted that the kernel has already answered for it.
    let _work = services.drain.work();
    let mut ticks = tokio::time::interval(TICK);
    loop {
        let accepted = tokio::select! {
            biased;
            () = services.drain.wait_for_phase(Phase::Draining) => {
                return accept_waiting(&runtime, &socket, &connections).await;
            }
            accepted = socket.accept() => accepted,
            _ = ticks.tick() => continue,
        };
        match accepted {
            Ok(accepted) => admit(&runtime, &connections, accepted),
            // Out of file descriptors, most likely: another must end first.
            Err(_) if connections.evict() => {
                events::Evicted {}.emit(&services.events);
                sleep(Duration::from_millis(1)).await;
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn admit(runtime: &Runtime, connections: &Arc<Connections>, accepted: Accepted) {
    let (client, evicts) = connections.admit();
    if evicts {
        events::Evicted {}.emit(&runtime.services.events);
    }
    // Taken here and not by the task: the gateway must not end before a task has begun that was only just made.
    let work = runtime.services.drain.work();
    let runtime = runtime.clone();
    match accepted {
        Accepted::Plain(stream) => {
            let connection = connection(runtime, stream, client, Peer::Network);
            tokio::spawn(finish(connection, work));
        }
        Accepted::Encrypted(stream, tls) => {
            let connection = encrypted_connection(runtime, stream, tls, client);
            tokio::spawn(finish(connection, work));
        }
        Accepted::Unix(stream) => match stream.peer_cred() {
            Ok(process) => {
                let peer = Peer::Local(process.uid());
                let connection = connection(runtime, stream, client, peer);
                tokio::spawn(finish(connection, work));
            }
            Err(error) => tracing::warn!(%error, "cannot tell whose process has connected"),
        },
    }
}

/// Runs a connection to its end and only then ends its work.
async fn finish(connection: impl Future<Output = ()>, work: WorkGuard) {
    connection.await;
    drop(work);
}

/// Accepts the connections that wait in the kernel's queue. Their clients may have sent a request already, and a proxy
/// cannot repeat it elsewhere.
async fn accept_waiting(runtime: &Runtime, socket: &Socket, connections: &Arc<Connections>) {
    socket.stop_connecting();
    while let Ok(Ok(accepted)) = timeout(LAST_CONNECTION, socket.accept()).await {
        admit(runtime, connections, accepted);
    }
}

/// A connection over TLS. Until the handshake is done it may be closed for another, like every one that has shown no key.
async fn encrypted_connection(
    runtime: Runtime,
    stream: TcpStream,
    tls: Arc<Tls>,
    client: ClientConnection,
) {
    let drain = &runtime.services.drain;
    let drained = async {
        drain.wait_for_phase(Phase::Draining).await;
        sleep(FIRST_REQUEST).await;
    };
    let shaken = tokio::select! {
        shaken = timeout(HANDSHAKE, tls.accept(stream)) => shaken,
        () = client.closed() => return,
        () = drained => return,
    };
    let refused = match shaken {
        Ok(Ok((stream, peer))) => {
            return Box::pin(connection(runtime.clone(), stream, client, peer)).await;
        }
        Ok(Err(refused)) => refused,
        Err(_) => HandshakeError("the client took too long"),
    };
    let HandshakeError(reason) = refused;
    events::HandshakeFailed { reason }.emit(&runtime.services.events);
}

async fn connection<S>(runtime: Runtime, stream: S, client: ClientConnection, peer: Peer)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let services = &runtime.services;
    let has_request = AtomicBool::new(false);
    let wakes = WakeFilter::default();
    let service = service_fn(|request: Request<Incoming>| {
        has_request.store(true, Ordering::Relaxed);
        let runtime = runtime.clone();
        let (wakes, client, peer) = (&wakes, &client, &peer);
        async move {
            let response = pin!(respond(&runtime, (client, peer), request));
            // While the connection is polled for other reasons, the request is left alone.
            let mut response = wakes.await_inner(response).await;
            if is_last(&runtime, &response) {
                let headers = response.headers_mut();
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let draining = services.drain.wait_for_phase(Phase::Draining);
    tokio::pin!(draining);
    tokio::select! {
        ended = run(&wakes, connection.as_mut()) => return drop(ended),
        () = client.closed() => return,
        () = draining => {}
    }
    if !has_request.load(Ordering::Relaxed) {
        tokio::select! {
            ended = run(&wakes, connection.as_mut()) => return drop(ended),
            () = client.closed() => return,
            () = sleep(FIRST_REQUEST) => {}
        }
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        ended = run(&wakes, connection) => drop(ended),
        () = client.closed() => {}
    }
}

/// Runs a connection to its end. What it and the request it carries tell each other does not wake its task.
async fn run<C: Future>(wakes: &WakeFilter, mut connection: Pin<&mut C>) -> C::Output {
    poll_fn(|context| wakes.poll(context, |context| connection.as_mut().poll(context))).await
}

/// Whether a connection closes after this response, and says so: the client, or a proxy, then sends its next request by a
/// new connection.
///
/// Once the gateway stops, every response is the last one. Where a proxy is told before the gateway stops, so is every
/// stream: streams that are open at the end of `drain_delay` are ended by the gateway, which then closes their connections.
/// A proxy that has not been told would keep such a connection and might send its next request at that very moment.
fn is_last(runtime: &Runtime, response: &Response<Body>) -> bool {
    let is_stream = || !matches!(response.body(), Body::Whole { .. });
    let has_proxy = || !runtime.state.load().settings.config.stop_delay().is_zero();
    runtime.services.drain.phase() != Phase::Serving || (is_stream() && has_proxy())
}

fn crowded() -> Response<Body> {
    plain(StatusCode::SERVICE_UNAVAILABLE, "too many connections\n")
}

/// The entrance of every request: the snapshot that is loaded here decides all of it. Everything but MCP is boxed: calls come
/// more often than anything else, and every call would carry the room for it.
async fn respond(
    runtime: &Runtime,
    (client, peer): (&ClientConnection, &Peer),
    mut request: Request<Incoming>,
) -> Response<Body> {
    let (snapshot, services) = (runtime.state.load(), &*runtime.services);
    // Refuse requests until the first plan has installed the guard.
    let Some(guard) = &snapshot.settings.guard else {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "starting\n");
    };
    // No path has these two. CONNECT names the host of another server, which the guard would take for a foreign client's.
    if matches!(*request.method(), Method::CONNECT | Method::TRACE) {
        return not_allowed(ALL_METHODS);
    }
    // A page in a browser cannot reach a Unix socket, and the clients of one have no name for it.
    if !peer.is_local()
        && let Err(refused) = guard.check_hosts(request.headers())
    {
        return door::refuse(runtime, refused);
    }
    if admin::console::is_path(request.uri().path()) {
        // It has a form to sign in with, and checks on its own who has.
        request.extensions_mut().insert(client.clone());
        return Box::pin(admin::console::respond(runtime, &snapshot, request)).await;
    }
    if admin::connect::is_path(request.uri().path()) {
        // Its pages sign users in at their issuer.
        return Box::pin(admin::connect::respond(runtime, &snapshot, request)).await;
    }
    if admin::login_callback::is_path(request.uri().path()) {
        return Box::pin(admin::login_callback::respond(runtime, &snapshot, request)).await;
    }
    if let Some(response) = respond_to_all(&snapshot, services, &request) {
        return response;
    }
    let Some(need) = needed_right(&request) else {
        return plain(StatusCode::NOT_FOUND, "not found\n");
    };
    let path = request.uri().path();
    let rules = snapshot.settings.tokens.as_ref();
    let caller = match door::identify(runtime, (guard, rules), need, (peer, &request)).await {
        Ok(caller) => caller,
        Err(refused) => {
            let mut response = door::refuse(runtime, refused);
            if let Some(rules) = rules {
                challenge(&mut response, rules, path, refused);
            }
            return response;
        }
    };
    // The connection of a request that had the key, or needs none, has a lasting place from now on.
    if client.keep().is_err() {
        crowded()
    } else if path == "/metrics" && !is_read(&request) {
        not_allowed(READ_METHODS)
    } else if need == Right::Call {
        downstream::http::respond(runtime, snapshot, caller, request).await
    } else {
        let admission = Admission::new(&runtime.state, &caller);
        request.extensions_mut().insert(client.clone());
        Box::pin(admin::respond(
            &runtime.services,
            snapshot,
            admission,
            request,
        ))
        .await
    }
}

fn is_read(request: &Request<Incoming>) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD)
}

/// What a path answers to every client, with or without a credential. Nothing for a path that needs a caller.
fn respond_to_all(
    snapshot: &Snapshot,
    services: &Services,
    request: &Request<Incoming>,
) -> Option<Response<Body>> {
    let path = request.uri().path();
    let rules = snapshot.settings.tokens.as_ref();
    let is_read = is_read(request);
    Some(match path {
        "/healthz" | "/readyz" if !is_read => not_allowed(READ_METHODS),
        "/healthz" => plain(StatusCode::OK, "ok\n"),
        "/readyz" => ready(snapshot, services),
        CLIENT_DOCUMENT if is_read => document(client_document(&snapshot.settings.config)),
        _ if is_read && let Some(server) = server_document_name(path) => {
            document(server_document(&snapshot.settings.config, server))
        }
        _ if path.starts_with(METADATA) && rules.is_some() && !is_read => not_allowed(READ_METHODS),
        _ if path.starts_with(METADATA) => resource_metadata(rules, path),
        _ => return None,
    })
}

fn document(text: Option<String>) -> Response<Body> {
    match text {
        Some(text) => json(StatusCode::OK, Bytes::from(text)),
        None => plain(StatusCode::NOT_FOUND, "not found\n"),
    }
}

/// The right that a request needs. Nothing for a path that there is not.
fn needed_right(request: &Request<Incoming>) -> Option<Right> {
    let path = request.uri().path();
    let is_api = path.starts_with("/api/v1/");
    match path {
        // An inspection changes nothing.
        "/metrics" | "/events" | "/api/v1/inspect" => Some(Right::Read),
        // Every method but `GET` may change something.
        _ if is_api && request.method() == Method::GET => Some(Right::Read),
        _ if is_api => Some(Right::Manage),
        _ if path == "/mcp" || path.starts_with("/mcp/") => Some(Right::Call),
        _ => None,
    }
}

/// Whether calls may come: not while the gateway stops, nor while they would be refused for want of a record or recorded at
/// a time that is far from that of the other gateways.
fn ready(snapshot: &Snapshot, services: &Services) -> Response<Body> {
    let refuses = snapshot.settings.config.activity.on_store_error != OnStoreError::Continue;
    let stats = services.store.stats();
    let not_ready = |why: &'static str| plain(StatusCode::SERVICE_UNAVAILABLE, why);
    if services.drain.phase() != Phase::Serving {
        not_ready("stopping\n")
    } else if refuses && !stats.healthy {
        not_ready("the activity store is down\n")
    } else if stats.clock_skew > MAX_CLOCK_SKEW {
        not_ready("the clock differs from that of the database\n")
    } else {
        plain(StatusCode::OK, "ready\n")
    }
}
